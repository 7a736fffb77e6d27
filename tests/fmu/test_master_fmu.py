"""One FMU as a participant: what it shows, what it takes, and that it is freed whatever happens."""

import os
import stat
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import fmpy
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


def words(marker: Path) -> list[str]:
    return marker.read_text().split("\n")[:-1]


def test_description(make_fmu: MakeFmu) -> None:
    described = FmuParticipant(make_fmu("mass")).describe()
    assert described.kind == "FMI 2.0 Co-Simulation"
    assert described.can_restore and described.can_serialize
    assert described.variables["f"] == kit.ParticipantVariable("f", "input", "real", "N", 0.0)
    assert described.variables["marker"].type == "string"
    assert described.feedthrough == {
        "x": frozenset(),
        "v": frozenset(),
        "force": frozenset({"x_other", "v_other"}),
    }
    assert {"x", "m", "f"} <= described.settable
    assert "force" not in described.settable


def test_dependencies_that_are_not_told_are_unknown(make_fmu: MakeFmu) -> None:
    described = FmuParticipant(make_fmu("mass", dependencies=False)).describe()
    assert described.feedthrough is None
    assert described.assumed_feedthrough == {"x", "v", "force"}


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


def test_states_saved_restored_serialized_and_freed(make_fmu: MakeFmu, tmp_path: Path) -> None:
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
        participant.restore(token)
        assert participant.get(["x", "v"]).tolist() == before
        participant.step(0.1, 0.1)
        assert participant.get(["x", "v"]).tolist() == after
        participant.restore(participant.deserialize(data))
        assert participant.get(["x", "v"]).tolist() == before
        assert words(marker) == ["state freed"]
        other = FmuParticipant(participant.path)
        with pytest.raises(cosim.FmuError, match="was not saved by this instance"):
            other.restore(token)
    finally:
        participant.close()
    assert words(marker) == ["state freed", "state freed", "terminated", "freed"]


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


def test_failed_step_tells_what_was_logged_and_frees(make_fmu: MakeFmu, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    participant = FmuParticipant(make_fmu("failing"))
    participant.initialize(0.0, 1.0, {"fail_at": 0.15, "fail_status": 3, "marker": str(marker)})
    participant.step(0.0, 0.1)
    with pytest.raises(cosim.FmuError, match="fmi2DoStep: failed with status error.*pump.*0.100") as caught:
        participant.step(0.1, 0.1)
    assert caught.value.function == "fmi2DoStep"
    assert participant.messages == ["pump ran dry at 0.100"]
    participant.close()
    assert words(marker) == ["freed"]  # after an error the standard forbids to terminate


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


def test_refused_instance_leaves_nothing_behind(make_fmu: MakeFmu) -> None:
    participant = FmuParticipant(make_fmu("gain", macros=("REFUSES",)))
    with pytest.raises(cosim.FmuError, match="fmi2Instantiate: .*refused.*no licence for 7 seats"):
        participant.initialize(0.0, 1.0, {})


def test_library_that_cannot_be_loaded_leaves_nothing_behind(make_fmu: MakeFmu, tmp_path: Path) -> None:
    good = make_fmu("gain")
    bad = tmp_path / "bad.fmu"
    with zipfile.ZipFile(good) as source, zipfile.ZipFile(bad, "w") as target:
        for name in source.namelist():
            content = source.read(name) if name.endswith(".xml") else b"no library"
            target.writestr(name, content)
    here = os.getcwd()
    with pytest.raises(cosim.FmuError, match="the library cannot be loaded"):
        FmuParticipant(bad).initialize(0.0, 1.0, {})
    assert os.getcwd() == here


def test_the_same_file_twice_has_two_lives(make_fmu: MakeFmu) -> None:
    path = make_fmu("gain")
    first, second = FmuParticipant(path), FmuParticipant(path)
    first.initialize(0.0, 1.0, {"gain": 2.0, "u": 1.0})
    second.initialize(0.0, 1.0, {"gain": 5.0, "u": 1.0})
    assert (first.get(["y"])[0], second.get(["y"])[0]) == (2.0, 5.0)
    first.close()
    assert second.get(["y"])[0] == 5.0
    second.close()
    with pytest.raises(cosim.FmuError, match="has no instance: it is closed"):
        second.get(["y"])


def test_an_fmu_that_cannot_vary_its_step_gets_one_number(make_fmu: MakeFmu) -> None:
    participant = FmuParticipant(make_fmu("failing", abilities=""))
    participant.initialize(0.0, 1.0, {})
    sizes = []
    for i in range(10):
        participant.step(i * 0.1, (i + 1) * 0.1 - i * 0.1)
        sizes.append(participant.get(["size"])[0])
    participant.close()
    assert set(sizes) == {0.1}


def test_a_lone_library_may_have_another_name(make_fmu: MakeFmu, tmp_path: Path) -> None:
    path = make_fmu("gain", change=lambda name, attributes: attributes)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    renamed = {name.replace(f"gain{SUFFIX}", f"other-name{SUFFIX}"): data for name, data in members.items()}
    participant = FmuParticipant(write(tmp_path / "renamed.fmu", renamed))
    participant.initialize(0.0, 1.0, {"u": 2.0})
    assert participant.get(["y"]) == [2.0]
    participant.close()


def write(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


FOLDER, SUFFIX = f"binaries/{fmpy.platform}", fmpy.sharedLibraryExtension
XML = b'<fmiModelDescription fmiVersion="2.0"><CoSimulation modelIdentifier="a"/></fmiModelDescription>'


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"readme.txt": b""}, "is not an FMU: the archive has no modelDescription.xml"),
        ({"modelDescription.xml": b"<fmi"}, "is not well-formed XML"),
        ({"modelDescription.xml": b"<ssd/>"}, "its root is <ssd>, not <fmiModelDescription>"),
        ({"modelDescription.xml": b'<!DOCTYPE x [<!ENTITY a "b">]><x/>'}, "declares a document type"),
        ({"modelDescription.xml": XML.replace(b"2.0", b"4.0")}, "declares FMI 4.0, which"),
        ({"modelDescription.xml": XML.replace(b"2.0", b"0.9")}, "FMI 0.9, which is not supported: "),
        ({"modelDescription.xml": XML.replace(b"CoSimulation", b"ModelExchange")}, "has no binary for this"),
        ({"modelDescription.xml": XML, "binaries/win64/a.dll": b"", "binaries/darwin64/a.dylib": b""},
         r"no binary for this platform .*Platforms it has: darwin64, win64\."),
        ({"modelDescription.xml": XML}, r"Platforms it has: none\."),
        ({"modelDescription.xml": XML, **{f"{FOLDER}/{name}{SUFFIX}": b"" for name in "bc"}},
         r"holds b\.\w+, c\.\w+, but no a\.\w+, as its modelIdentifier 'a' asks for"),
        ({"modelDescription.xml": XML.replace(b'"a"', b'"../../a"')}, "is not a C identifier: refused"),
        ({"modelDescription.xml": XML, "../evil": b""}, "would leave the folder"),
        ({"modelDescription.xml": XML, "/evil": b""}, "would leave the folder"),
        ({"modelDescription.xml": XML, "a\\..\\..\\evil": b""}, "would leave the folder"),
    ],
)  # fmt: skip
def test_bad_archives(tmp_path: Path, members: dict[str, bytes], message: str) -> None:
    path = write(tmp_path / "bad.fmu", members)
    with pytest.raises(cosim.FmuError, match=message) as caught:
        FmuParticipant(path).describe()
    assert str(caught.value).startswith(f"{path}: ")


def test_no_archive(tmp_path: Path) -> None:
    path = tmp_path / "text.fmu"
    path.write_text("hello")
    with pytest.raises(cosim.FmuError, match="FMU.*ZIP archive"):
        FmuParticipant(path).describe()
    with pytest.raises(cosim.FmuError, match="no such file"):
        FmuParticipant(tmp_path / "missing.fmu").describe()
    with pytest.raises(cosim.FmuError, match="is a folder"):
        FmuParticipant(tmp_path).describe()


def test_symbolic_link_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "link.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", XML)
        link = zipfile.ZipInfo("resources")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc")
    with pytest.raises(cosim.FmuError, match="symbolic link: refused"):
        FmuParticipant(path).describe()


def test_too_large_an_archive_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cosim_fmi.fmu_archive.LARGEST_ARCHIVE", 1000)
    path = tmp_path / "large.fmu"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("modelDescription.xml", XML)
        archive.writestr("resources/zeros", bytes(2000))
    with pytest.raises(cosim.FmuError, match="unpacks to"):
        FmuParticipant(path).describe()


def test_damaged_member(make_fmu: MakeFmu, tmp_path: Path) -> None:
    data = bytearray(make_fmu("gain").read_bytes())
    data[len(data) // 2] ^= 0xFF
    path = tmp_path / "damaged.fmu"
    path.write_bytes(data)
    with pytest.raises(cosim.FmuError, match="unpacked: Bad CRC-32"):
        FmuParticipant(path).initialize(0.0, 1.0, {})


def test_description_that_cannot_be_understood(tmp_path: Path) -> None:
    from fmpy import platform, sharedLibraryExtension

    members = {"modelDescription.xml": XML, f"binaries/{platform}/a{sharedLibraryExtension}": b""}
    with pytest.raises(cosim.FmuError, match=r"modelDescription\.xml cannot be understood"):
        FmuParticipant(write(tmp_path / "odd.fmu", members)).describe()
