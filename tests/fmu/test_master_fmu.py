"""One FMU as a participant: description, values, steps, states and failures; it is always freed."""

import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import cosim
from cosim import kit
from cosim_fmu import FmuParticipant, StopRequested

MakeFmu = Callable[..., Path]


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where FMUs are unpacked; every test has to leave it empty."""
    folder = tmp_path / "unpacked"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def written_lines(marker: Path) -> list[str]:
    """What an FMU has written when it was terminated and freed."""
    return marker.read_text().split("\n")[:-1]


def test_description(make_fmu: MakeFmu) -> None:
    description = FmuParticipant(make_fmu("mass")).describe()
    assert description.kind == "FMI 2.0 Co-Simulation"
    assert description.can_restore and description.can_serialize
    assert description.variables["f"] == kit.ParticipantVariable("f", "input", "real", "N", 0.0)
    assert description.variables["marker"].type == "string"
    assert description.feedthrough == {
        "x": frozenset(),
        "v": frozenset(),
        "force": frozenset({"x_other", "v_other"}),
    }
    assert {"x", "m", "f"} <= description.settable
    assert "force" not in description.settable


def test_undeclared_dependencies_are_unknown(make_fmu: MakeFmu) -> None:
    description = FmuParticipant(make_fmu("mass", dependencies=False)).describe()
    assert description.feedthrough is None
    assert description.assumed_feedthrough == {"x", "v", "force"}


def test_describing_unpacks_nothing(make_fmu: MakeFmu, own_temporary_folder: Path) -> None:
    FmuParticipant(make_fmu("mass")).describe()
    assert list(own_temporary_folder.iterdir()) == []


def test_unpacked_folder_is_private_and_removed(make_fmu: MakeFmu, own_temporary_folder: Path) -> None:
    participant = FmuParticipant(make_fmu("gain"))
    participant.initialize(0.0, 1.0, {})
    (folder,) = own_temporary_folder.iterdir()
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    participant.close()
    assert not folder.exists()
    participant.close()


def test_all_four_types(make_fmu: MakeFmu) -> None:
    participant = FmuParticipant(make_fmu("types"))
    participant.initialize(0.0, 1.0, {"string_in": "grün", "boolean_in": True})
    outputs = ["string_out", "real_out", "boolean_out", "integer_out"]
    try:
        assert participant.get(outputs) == ["start", 0.0, False, 0]
        participant.step(0.0, 0.1)
        assert participant.get(outputs) == ["grün", 0.0, False, 1]
        participant.set(["integer_in", "boolean_in", "real_in", "string_in"], [41, False, 2.5, ""])
        participant.step(0.1, 0.1)
        assert participant.get(outputs) == ["", 2.5, True, 42]
        reals = participant.get(["real_out", "real_in"])
        assert isinstance(reals, np.ndarray) and reals.tolist() == [2.5, 2.5]
    finally:
        participant.close()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("integer_in", 2**31),
        ("integer_in", 1.5),
        ("integer_in", True),
        ("boolean_in", "yes"),
        ("string_in", 3),
        ("string_in", "a\0b"),
        ("real_in", "3 m"),
        ("real_in", None),
    ],
)
def test_value_of_the_wrong_type(make_fmu: MakeFmu, name: str, value: object) -> None:
    participant = FmuParticipant(make_fmu("types"))
    participant.initialize(0.0, 1.0, {})
    try:
        with pytest.raises(cosim.FmuError, match=f"{name} is .*, needs a value of type"):
            participant.set([name], [value])
    finally:
        participant.close()


def test_start_values_and_feedthrough_at_the_start(make_fmu: MakeFmu) -> None:
    participant = FmuParticipant(make_fmu("gain"))
    participant.initialize(2.0, 3.0, {"gain": 3.0, "u": 2.0})
    try:
        assert participant.get(["y"]).tolist() == [6.0]
        participant.set(["u"], [4.0])
        assert participant.get(["y"]).tolist() == [12.0]
        assert participant.step(2.0, 0.25) == 2.25
    finally:
        participant.close()


def test_unknown_start_value_names_the_nearest(make_fmu: MakeFmu) -> None:
    with pytest.raises(cosim.LookUpError, match="Nearest: gain"):
        FmuParticipant(make_fmu("gain")).initialize(0.0, 1.0, {"gian": 3.0})
    with pytest.raises(cosim.FmuError, match="value: its causality"):
        FmuParticipant(make_fmu("gain")).initialize(0.0, 1.0, {"y": 3.0})


def test_states_are_saved_restored_serialized_and_freed(make_fmu: MakeFmu, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    participant = FmuParticipant(make_fmu("mass"))
    participant.initialize(0.0, 1.0, {"marker": str(marker)})
    try:
        participant.step(0.0, 0.1)
        token = participant.save()
        data = participant.serialize(token)
        before = participant.get(["x", "v"]).tolist()
        participant.step(0.1, 0.1)
        after = participant.get(["x", "v"]).tolist()
        assert after != before

        # restored, the same step leads to the same values
        participant.restore(token)
        assert participant.get(["x", "v"]).tolist() == before
        participant.step(0.1, 0.1)
        assert participant.get(["x", "v"]).tolist() == after

        # a deserialized state replaces the saved one, which is freed
        participant.restore(participant.deserialize(data))
        assert participant.get(["x", "v"]).tolist() == before
        assert written_lines(marker) == ["state freed"]
        second_participant = FmuParticipant(participant.path)
        with pytest.raises(cosim.FmuError, match="was not saved by this instance"):
            second_participant.restore(token)
    finally:
        participant.close()
    assert written_lines(marker) == ["state freed", "state freed", "terminated", "freed"]


def test_an_fmu_with_only_the_needed_functions(make_fmu: MakeFmu) -> None:
    path = make_fmu("gain", macros=("ONLY_NEEDED",), abilities="")
    participant = FmuParticipant(path)
    assert not participant.describe().can_restore
    participant.initialize(0.0, 1.0, {"gain": 2.0, "u": 1.0})
    try:
        participant.step(0.0, 0.1)
        assert participant.get(["y"]).tolist() == [2.0]
        with pytest.raises(cosim.FmuError, match="declare canGetAndSetFMUstate"):
            participant.save()
    finally:
        participant.close()


def test_a_promised_function_that_is_missing(make_fmu: MakeFmu) -> None:
    participant = FmuParticipant(make_fmu("gain", macros=("ONLY_NEEDED",)))
    participant.initialize(0.0, 1.0, {})
    try:
        with pytest.raises(cosim.FmuError, match="fmi2GetFMUstate.*export this function"):
            participant.save()
    finally:
        participant.close()


def test_a_failed_step_reports_the_log_of_the_fmu(make_fmu: MakeFmu, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    participant = FmuParticipant(make_fmu("failing"))
    participant.initialize(0.0, 1.0, {"fail_at": 0.15, "fail_status": 3, "marker": str(marker)})
    participant.step(0.0, 0.1)
    with pytest.raises(cosim.FmuError, match="fmi2DoStep: failed with status error.*pump.*0.100") as caught:
        participant.step(0.1, 0.1)
    assert caught.value.function == "fmi2DoStep"
    assert participant.messages == ["pump ran dry at 0.100"]
    participant.close()
    assert written_lines(marker) == ["freed"]  # after an error the standard forbids to terminate


def test_after_a_fatal_error_nothing_is_called(make_fmu: MakeFmu, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    participant = FmuParticipant(make_fmu("failing"))
    participant.initialize(0.0, 1.0, {"fail_at": 0.0, "fail_status": 4, "marker": str(marker)})
    with pytest.raises(cosim.FmuError, match="status fatal"):
        participant.step(0.0, 0.1)
    participant.close()
    assert not marker.exists()


def test_early_return_and_request_to_stop(make_fmu: MakeFmu) -> None:
    starts = {"fail_at": 0.0, "fail_status": 2, "reached": 0.04}
    path = make_fmu("failing")
    participant = FmuParticipant(path)
    participant.initialize(0.0, 1.0, starts)
    assert participant.step(0.0, 0.1) == 0.04
    participant.close()
    participant.initialize(0.0, 1.0, {**starts, "asks_to_stop": True})
    with pytest.raises(StopRequested, match="pump ran dry") as caught:
        participant.step(0.0, 0.1)
    assert caught.value.time == 0.04
    participant.close()
    participant.initialize(0.0, 1.0, {**starts, "reached": 0.0})
    with pytest.raises(cosim.FmuError, match="= 0.*0.1 s was discarded"):
        participant.step(0.0, 0.1)
    participant.close()


def test_a_refused_instantiation_leaves_nothing_behind(make_fmu: MakeFmu) -> None:
    participant = FmuParticipant(make_fmu("gain", macros=("REFUSES",)))
    with pytest.raises(cosim.FmuError, match="fmi2Instantiate: .*refused.*no licence for 7 seats"):
        participant.initialize(0.0, 1.0, {})


def test_two_instances_of_one_file_are_independent(make_fmu: MakeFmu) -> None:
    path = make_fmu("gain")
    instance_1, instance_2 = FmuParticipant(path), FmuParticipant(path)
    instance_1.initialize(0.0, 1.0, {"gain": 2.0, "u": 1.0})
    instance_2.initialize(0.0, 1.0, {"gain": 5.0, "u": 1.0})
    assert (instance_1.get(["y"])[0], instance_2.get(["y"])[0]) == (2.0, 5.0)
    instance_1.close()
    assert instance_2.get(["y"])[0] == 5.0
    instance_2.close()
    with pytest.raises(cosim.FmuError, match="has no instance: it is closed"):
        instance_2.get(["y"])


def test_an_fmu_with_a_fixed_step_size_gets_the_same_number_in_each_step(make_fmu: MakeFmu) -> None:
    participant = FmuParticipant(make_fmu("failing", abilities=""))
    participant.initialize(0.0, 1.0, {})
    sizes = []
    for i in range(10):
        participant.step(i * 0.1, (i + 1) * 0.1 - i * 0.1)
        sizes.append(participant.get(["size"])[0])
    participant.close()
    assert set(sizes) == {0.1}
