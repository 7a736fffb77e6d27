"""FMUs of FMI 3.0 in co-simulations: types, early return, event mode, announced events, rollback."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from box3_fmu import make_box3
from python_block import Block

import cosim
from cosim_fmu import CoSimulation, CoSimulationError
from cosim_fmu.testing.linear_participant import PythonCalls
from cosim_master.participants.create_participants import open_fmu
from cosim_master.participants.fmu_participant import FmuParticipant

Compiled = Callable[..., Path]


@pytest.fixture(params=[True, False], ids=["events", "no_events"])
def box(request: pytest.FixtureRequest, tmp_path: Path, compiled: Compiled) -> Path:
    return make_box3(tmp_path, compiled, events=request.param)


def test_the_description_has_all_types_and_elements_of_arrays(box: Path) -> None:
    description = open_fmu(box).describe()
    assert description.kind == "FMI 3.0 Co-Simulation"
    assert description.can_restore and description.can_serialize
    variables = description.variables
    assert "time" not in variables
    assert [n for n in variables if n.startswith("matrix")] == [
        f"matrix[{i},{j}]" for i in (1, 2) for j in (1, 2)
    ]
    assert {n: v.type for n, v in variables.items() if n.endswith("_in")} == {
        "small_in": "real",
        "byte_in": "integer",
        "big_in": "integer",
        "flag_in": "boolean",
        "text_in": "string",
        "blob_in": "binary",
        "mode_in": "integer",
    }
    assert variables["x"].unit == "m" and variables["x"].start == 1.0
    assert description.feedthrough is not None
    assert description.feedthrough["x"] == frozenset()
    assert len(description.feedthrough["doubled[2,1]"]) == 4


def test_values_of_all_types_are_set_and_read(box: Path) -> None:
    part = open_fmu(box)
    part.initialize(0.0, 1.0, {"matrix[1,2]": 3.0})
    try:
        assert part.get(["doubled[1,1]", "doubled[1,2]"]).tolist() == [0.0, 6.0]  # type: ignore[union-attr]
        names = ["matrix[2,1]", "small_in", "byte_in", "big_in", "flag_in", "text_in", "blob_in", "mode_in"]
        values: list[Any] = [-1.5, 0.5, -128, 2**64 - 1, True, "grüße", b"\0\xff", 1]
        part.set(names, values)
        reads = ["doubled[2,1]", "doubled[1,2]", *(name[:-2] + "out" for name in names[1:])]
        assert part.get(reads) == [-3.0, 6.0, *values[1:]]
        part.step(0.0, 0.1)
        part.set(["mode_in"], [0])  # in event mode, if the FMU has one
        assert part.get(["mode_out"]) == [0]
        for name, value, message in [
            ("byte_in", 128, "needs a value of type Int8"),
            ("big_in", -1, "UInt64"),
            ("flag_in", "no", "Boolean"),
            ("blob_in", "text", "Binary"),
            ("u", "1", "Float64"),
        ]:
            with pytest.raises(cosim.FmuError, match=message):
                part.set([name], [value])
    finally:
        part.close()


def test_an_event_inside_a_step_ends_it_early(tmp_path: Path, compiled: Compiled) -> None:
    box = make_box3(tmp_path, compiled)
    results = []
    for part in (open_fmu(box), PythonCalls(open_fmu(box))):
        loop = CoSimulation({"box": part}, [], "jacobi", 0.1, starts={"box.ring_at": 0.25, "box.u": 2.0})
        result = loop.simulate(0.5, record=["box.x"])
        assert [(event.time, event.cause.name) for event in result.events] == [(0.25, "TRIGGERED")]
        results.append(result)
    assert [list(result.statistics["in_python"]) for result in results] == [[], ["box"]]
    assert results[0]["box.x"].tobytes() == results[1]["box.x"].tobytes()
    sizes = [0.1, 0.1, 0.05, 0.05, 0.1, 0.1]  # x' = u - x by steps of Euler, from 1 with u = 2
    assert 2.0 - results[0]["box.x"][-1] == pytest.approx(np.prod([1.0 - h for h in sizes]))


def test_an_event_at_a_communication_point_has_a_row_before_and_after(
    tmp_path: Path, compiled: Compiled
) -> None:
    box = make_box3(tmp_path, compiled)
    result = CoSimulation({"box": box}, [], "jacobi", 0.1, starts={"box.ring_at": 0.2}).simulate(0.5)
    assert result.time == pytest.approx([0.0, 0.1, 0.2, 0.2, 0.3, 0.4, 0.5])
    assert result["box.rings"].tolist() == [0, 0, 0, 1, 1, 1, 1]
    event = result.events[0]
    assert event.changed == ("box.rings",)
    assert (event.before, event.after) == ({"box.rings": 0}, {"box.rings": 1})


@pytest.mark.parametrize("record", [["box.x"], None], ids=["compiled", "python"])
def test_a_failure_is_an_error_and_a_request_to_stop_ends_the_run(box: Path, record: Any) -> None:
    loop = CoSimulation({"box": box}, [], "jacobi", 0.1, starts={"box.fail_at": 0.25})
    with pytest.raises(CoSimulationError, match="fmi3DoStep.*failed.*status error.*pump"):
        loop.simulate(1.0, record=record)
    assert loop.result is not None and loop.result.time == pytest.approx([0.0, 0.1, 0.2])
    result = CoSimulation({"box": box}, [], "jacobi", 0.1, starts={"box.stop_at": 0.25}).simulate(
        1.0, record=record
    )
    assert "stop at 0.3 s" in result.message
    assert result.time[-1] == pytest.approx(0.3)


def test_a_ring_of_both_versions_of_fmi_runs_compiled(box: Path, make_fmu: Callable[..., Path]) -> None:
    parts = {"fmi3": box, "fmi2": make_fmu("gain")}
    links = [("fmi3.x", "fmi2.u"), ("fmi2.y", "fmi3.u")]
    result = CoSimulation(parts, links, "gauss_seidel", 0.01, starts={"fmi2.gain": 0.5}).simulate(
        1.0, record=["fmi3.x", "fmi2.y"]
    )
    assert result.statistics["loop"] == "compiled"
    assert result["fmi3.x"][-1] == pytest.approx(np.exp(-0.5), rel=3e-3)  # x' = x / 2 - x


def test_states_are_restored_from_memory_and_from_bytes(box: Path) -> None:
    saved, restored = open_fmu(box), open_fmu(box)
    assert isinstance(saved, FmuParticipant) and isinstance(restored, FmuParticipant)
    for part in (saved, restored):
        part.initialize(0.0, 1.0, {"ring_at": 0.15})
    try:
        saved.step(0.0, 0.1)
        token = saved.save()
        data = saved.serialize(token)
        expected = [saved.step(0.1, 0.1), *saved.get(["x", "rings"])]
        saved.restore(token)
        assert [saved.step(0.1, 0.1), *saved.get(["x", "rings"])] == expected
        restored.restore(restored.deserialize(data))
        assert [restored.step(0.1, 0.1), *restored.get(["x", "rings"])] == expected
    finally:
        saved.close()
        restored.close()


def test_an_iterating_algorithm_restores_states(box: Path) -> None:
    links = [("a.x", "b.u"), ("b.x", "a.u")]
    loop = CoSimulation({"a": box, "b": box}, links, "waveform_iteration", 0.1)
    assert loop.simulate(0.5)["a.x"] == pytest.approx(1.0)  # x' = u - x with u = x = 1


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("macro", "ring_at", "rows_before"),
    [("ANNOUNCES", 0.25, 3), ("ANNOUNCES", 0.2, 2), ("ANNOUNCES", 0.3, 3), ("LATE", 0.2, 3)],
)
def test_events_that_an_fmu_announces_or_that_return_a_step_at_its_start(
    tmp_path: Path, compiled: Compiled, macro: str, ring_at: float, rows_before: int
) -> None:
    """In both cases the compiled run and the one in Python enter event mode at the time of the event."""
    path = make_box3(tmp_path, compiled, macro)
    runs = []
    for record in (["m.x"], ["m.x", "m.rings"]):
        loop = CoSimulation({"m": path}, [], "jacobi", 0.1, starts={"m.ring_at": ring_at})
        runs.append(loop.simulate(0.5, record=record, inside="nothing"))
    assert runs[0].statistics["loop"] == "compiled"
    assert runs[0]["m.x"].tolist() == runs[1]["m.x"].tolist()
    assert runs[1]["m.rings"].tolist() == [0] * rows_before + [1] * (6 - rows_before)
    cause = "SCHEDULED" if macro == "ANNOUNCES" else "TRIGGERED"
    for run in runs:
        assert [(e.time, e.cause.name) for e in run.events] == [(pytest.approx(ring_at), cause)]


def test_an_event_at_the_start_of_a_step_announces_one_inside_it(tmp_path: Path, compiled: Compiled) -> None:
    path = make_box3(tmp_path, compiled, "LATE", "ECHO=0.05")
    for record in (["m.x"], ["m.x", "m.rings"]):
        loop = CoSimulation({"m": path}, [], "jacobi", 0.1, starts={"m.ring_at": 0.2})
        run = loop.simulate(0.5, record=record, inside="nothing")
        times = [e.time for e in run.events if e.message == ""]
        assert times == pytest.approx([0.2, 0.25])


def test_continuous_and_discrete_inputs_may_change_together(tmp_path: Path, compiled: Compiled) -> None:
    """A strict FMU refuses to be read in step mode after a value is set and before the step."""
    outputs = {"y": lambda t: t, "mode": lambda t: int(t > 0.25)}
    source = Block(outputs, types={"mode": "integer"}, feedthrough={name: frozenset() for name in outputs})
    path = make_box3(tmp_path, compiled, "STRICT=1")
    links = [("s.y", "m.u"), ("s.mode", "m.mode_in")]
    result = CoSimulation({"s": source, "m": path}, links, "jacobi", 0.1).simulate(0.5)
    assert result["m.mode_out"][-1] == 1 and result["m.u"][-1] == pytest.approx(0.4)
    assert [(e.time, e.handler) for e in result.events] == [(pytest.approx(0.3), "m.mode_in")]


def test_an_announced_event_is_rolled_back_and_serialized(tmp_path: Path, compiled: Compiled) -> None:
    path = make_box3(tmp_path, compiled, "ANNOUNCES")
    saved, restored = open_fmu(path, "saved"), open_fmu(path, "restored")
    try:
        for part, ring_at in ((saved, 0.25), (restored, 9.0)):
            part.initialize(0.0, 1.0, {"ring_at": ring_at})
            part.step(0.0, 0.1)
        token = saved.save()
        restored.restore(restored.deserialize(saved.serialize(token)))
        restored.set(["mode_in"], [1])
        assert [event.time for event in restored.events] == [0.1]
        for part in (saved, restored):
            part.step(0.1, 0.2)
            assert part.get(["rings"]) == [1]
        saved.restore(token)
        assert saved.get(["rings"]) == [0]
        saved.step(0.1, 0.2)
        assert saved.get(["rings"]) == [1]
    finally:
        saved.close()
        restored.close()
