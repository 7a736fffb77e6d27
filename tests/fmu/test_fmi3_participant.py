"""FMUs for FMI 3.0 in a co-simulation."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from box3_fmu import make_box3
from test_master_coupling import Block

import cosim
from cosim_fmu import CoSimulation, CoSimulationError
from cosim_fmu.testing.linear_participant import PythonCalls
from cosim_master.participants.create_participants import open_fmu
from cosim_master.participants.fmu_participant import FmuParticipant

Compiled = Callable[..., Path]


@pytest.fixture(params=[True, False], ids=["events", "no_events"])
def box(request: pytest.FixtureRequest, tmp_path: Path, compiled: Compiled) -> Path:
    return make_box3(tmp_path, compiled, events=request.param)


def test_description(box: Path) -> None:
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


def test_all_types_and_elements_of_arrays(box: Path) -> None:
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
        part.set(["mode_in"], [0])  # in event mode, where there is one
        assert part.get(["mode_out"]) == [0]
        for name, value, said in [
            ("byte_in", 128, "needs a value of type Int8"),
            ("big_in", -1, "UInt64"),
            ("flag_in", "no", "Boolean"),
            ("blob_in", "text", "Binary"),
            ("u", "1", "Float64"),
        ]:
            with pytest.raises(cosim.FmuError, match=said):
                part.set([name], [value])
    finally:
        part.close()


def test_early_return_and_event_mode(tmp_path: Path, compiled: Compiled) -> None:
    box = make_box3(tmp_path, compiled)
    results = []
    for part in (open_fmu(box), PythonCalls(open_fmu(box))):
        loop = CoSimulation({"box": part}, [], "jacobi", 0.1, starts={"box.ring_at": 0.25, "box.u": 2.0})
        result = loop.simulate(0.5, record=["box.x"])
        assert [(event.time, event.cause.name) for event in result.events] == [(0.25, "TRIGGERED")]
        results.append(result)
    assert [list(result.statistics["in_python"]) for result in results] == [[], ["box"]]
    assert results[0]["box.x"].tobytes() == results[1]["box.x"].tobytes()
    sizes = [0.1, 0.1, 0.05, 0.05, 0.1, 0.1]
    assert 2.0 - results[0]["box.x"][-1] == pytest.approx(np.prod([1.0 - h for h in sizes]))
    counted = CoSimulation({"box": box}, [], "jacobi", 0.1, starts={"box.ring_at": 0.2}).simulate(0.5)
    assert counted.time == pytest.approx([0.0, 0.1, 0.2, 0.2, 0.3, 0.4, 0.5])
    assert counted["box.rings"].tolist() == [0, 0, 0, 1, 1, 1, 1]
    event = counted.events[0]
    assert (event.changed, event.before, event.after) == (
        ("box.rings",),
        {"box.rings": 0},
        {"box.rings": 1},
    )


@pytest.mark.parametrize("record", [["box.x"], None], ids=["compiled", "python"])
def test_failure_and_wish_to_stop(box: Path, record: Any) -> None:
    loop = CoSimulation({"box": box}, [], "jacobi", 0.1, starts={"box.fail_at": 0.25})
    with pytest.raises(CoSimulationError, match="fmi3DoStep.*failed.*status error.*pump"):
        loop.simulate(1.0, record=record)
    assert loop.result is not None and loop.result.time == pytest.approx([0.0, 0.1, 0.2])
    result = CoSimulation({"box": box}, [], "jacobi", 0.1, starts={"box.stop_at": 0.25}).simulate(
        1.0, record=record
    )
    assert "stop at 0.3 s" in result.message
    assert result.time[-1] == pytest.approx(0.3)


def test_ring_of_both_versions_runs_compiled(box: Path, make_fmu: Callable[..., Path]) -> None:
    parts = {"third": box, "second": make_fmu("gain")}
    links = [("third.x", "second.u"), ("second.y", "third.u")]
    result = CoSimulation(parts, links, "gauss_seidel", 0.01, starts={"second.gain": 0.5}).simulate(
        1.0, record=["third.x", "second.y"]
    )
    assert result.statistics["loop"] == "compiled"
    assert result["third.x"][-1] == pytest.approx(np.exp(-0.5), rel=3e-3)


def test_rollback_in_memory_and_as_bytes(box: Path) -> None:
    one, other = open_fmu(box), open_fmu(box)
    assert isinstance(one, FmuParticipant) and isinstance(other, FmuParticipant)
    for part in (one, other):
        part.initialize(0.0, 1.0, {"ring_at": 0.15})
    try:
        one.step(0.0, 0.1)
        token = one.save()
        data = one.serialize(token)
        first = [one.step(0.1, 0.1), *one.get(["x", "rings"])]
        one.restore(token)
        assert [one.step(0.1, 0.1), *one.get(["x", "rings"])] == first
        other.restore(other.deserialize(data))
        assert [other.step(0.1, 0.1), *other.get(["x", "rings"])] == first
        implicit = CoSimulation(
            {"a": box, "b": box}, [("a.x", "b.u"), ("b.x", "a.u")], "waveform_iteration", 0.1
        )
        assert implicit.simulate(0.5)["a.x"] == pytest.approx(1.0)
    finally:
        one.close()
        other.close()


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("macro", "at", "seen"),
    [("ANNOUNCES", 0.25, 3), ("ANNOUNCES", 0.2, 2), ("ANNOUNCES", 0.3, 3), ("LATE", 0.2, 3)],
)
def test_events_that_are_announced_or_seen_where_a_step_begins(
    tmp_path: Path, compiled: Compiled, macro: str, at: float, seen: int
) -> None:
    """Compiled or not: event mode at the time that it has told, and where a step returns at once."""
    path = make_box3(tmp_path, compiled, macro)
    runs = []
    for record in (["m.x"], ["m.x", "m.rings"]):
        loop = CoSimulation({"m": path}, [], "jacobi", 0.1, starts={"m.ring_at": at})
        runs.append(loop.simulate(0.5, record=record, inside="nothing"))
    assert runs[0].statistics["loop"] == "compiled"
    assert runs[0]["m.x"].tolist() == runs[1]["m.x"].tolist()
    assert runs[1]["m.rings"].tolist() == [0] * seen + [1] * (6 - seen)
    cause = "SCHEDULED" if macro == "ANNOUNCES" else "TRIGGERED"
    for run in runs:
        assert [(e.time, e.cause.name) for e in run.events] == [(pytest.approx(at), cause)]


def test_an_event_where_a_step_begins_announces_one_inside(tmp_path: Path, compiled: Compiled) -> None:
    path = make_box3(tmp_path, compiled, "LATE", "ECHO=0.05")
    for record in (["m.x"], ["m.x", "m.rings"]):
        loop = CoSimulation({"m": path}, [], "jacobi", 0.1, starts={"m.ring_at": 0.2})
        run = loop.simulate(0.5, record=record, inside="nothing")
        passages = [e.time for e in run.events if e.message == ""]
        assert passages == pytest.approx([0.2, 0.25])


def test_continuous_and_discrete_inputs_that_change_together(tmp_path: Path, compiled: Compiled) -> None:
    """In step mode a strict FMU is not read between a set value and a step."""
    outputs = {"y": lambda t: t, "mode": lambda t: int(t > 0.25)}
    source = Block(outputs, types={"mode": "integer"}, feedthrough={name: frozenset() for name in outputs})
    path = make_box3(tmp_path, compiled, "STRICT=1")
    links = [("s.y", "m.u"), ("s.mode", "m.mode_in")]
    result = CoSimulation({"s": source, "m": path}, links, "jacobi", 0.1).simulate(0.5)
    assert result["m.mode_out"][-1] == 1 and result["m.u"][-1] == pytest.approx(0.4)
    assert [(e.time, e.handler) for e in result.events] == [(pytest.approx(0.3), "m.mode_in")]


def test_an_announced_event_is_rolled_back_and_serialized(tmp_path: Path, compiled: Compiled) -> None:
    path = make_box3(tmp_path, compiled, "ANNOUNCES")
    one, other = open_fmu(path, "one"), open_fmu(path, "other")
    try:
        for part, at in ((one, 0.25), (other, 9.0)):
            part.initialize(0.0, 1.0, {"ring_at": at})
            part.step(0.0, 0.1)
        token = one.save()
        other.restore(other.deserialize(one.serialize(token)))
        other.set(["mode_in"], [1])
        assert [event.time for event in other.events] == [0.1]
        for part in (one, other):
            part.step(0.1, 0.2)
            assert part.get(["rings"]) == [1]
        one.restore(token)
        assert one.get(["rings"]) == [0]
        one.step(0.1, 0.2)
        assert one.get(["rings"]) == [1]
    finally:
        one.close()
        other.close()
