"""A co-simulation that is saved and resumed ends with the same bytes as one that is not interrupted."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from checkpoint_runs import LINKS, SPRINGS, Mass, assert_same_runs, loop_of, saved_at
from export_tools import export, oscillator
from native_tools import export_native, needs_compiler
from python_block import Block

import cosim
from cosim_fmu import CoSimulation, SystemParticipant, TimedInputs

MakeFmu = Callable[..., Path]


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("algorithm", "options"),
    [
        ("jacobi", {}),
        ("gauss_seidel", {"extrapolation": 2}),
        ("waveform_iteration", {}),
        ("interface_newton", {"hold": "end"}),
        ("adaptive", {"tolerance": 1e-3}),
    ],
)
def test_each_algorithm_resumes_to_the_same_bytes(
    make_fmu: MakeFmu, algorithm: str, options: dict[str, Any]
) -> None:
    fmu = make_fmu("mass")
    whole = loop_of(fmu, algorithm, **options).simulate(0.4)
    data, saving = saved_at(loop_of(fmu, algorithm, **options), 0.3, 0.4)
    assert_same_runs(whole, saving)  # saving does not change a run
    assert whole.events
    loop = loop_of(fmu, algorithm, **options)
    assert loop.restore(data) == pytest.approx(0.3)
    resumed = loop.simulate(0.4)
    assert_same_runs(whole, resumed)
    assert resumed.coupling.figures() == whole.coupling.figures()
    assert resumed.statistics["steps"] == whole.statistics["steps"] == 40
    assert_same_runs(whole, loop.simulate(0.4))  # the next run starts at the start time again


def test_the_compiled_loop_resumes_to_the_same_bytes(make_fmu: MakeFmu) -> None:
    fmu = make_fmu("mass")

    def loop() -> CoSimulation:
        return CoSimulation({"left": fmu, "right": fmu}, LINKS[:3], "jacobi", 1e-3, starts=SPRINGS)

    whole = loop().simulate(1.0)
    data, saving = saved_at(loop(), 0.5, 1.0)
    assert_same_runs(whole, saving)
    resumed = loop()
    resumed.restore(data)
    assert_same_runs(whole, resumed.simulate(1.0))
    assert whole.statistics["loop"] == resumed.result.statistics["loop"]  # type: ignore[union-attr]


def test_a_participant_is_resumed_in_the_middle_of_its_longer_step(make_fmu: MakeFmu) -> None:
    fmu = make_fmu("mass")

    def loop() -> CoSimulation:
        return CoSimulation(
            {"left": fmu, "right": fmu}, LINKS[:3], "gauss_seidel", 0.01, starts=SPRINGS, steps={"left": 0.07}
        )

    whole = loop().simulate(1.0)
    data, _ = saved_at(loop(), 0.52, 1.0)
    resumed = loop()
    resumed.restore(data)
    assert_same_runs(whole, resumed.simulate(1.0))


def test_a_longer_run_continues_from_the_end_of_a_shorter_one(tmp_path: Path) -> None:
    """A run writes its checkpoint once more when it ends, also when it is stopped."""
    model = cosim.Model("third")
    model.add(Mass, "m")
    model.add("measures.signal", "place", source="m.x")
    drive = {"u": [[0.0, 0.0], [0.3, 1.0]]}

    def loop() -> CoSimulation:
        parts = {"third": SystemParticipant(model), "drive": TimedInputs(drive)}
        return CoSimulation(parts, ["drive.u -> third.m.f"], "jacobi", 0.01)

    path = tmp_path / "loop.saved"
    whole = loop().simulate(1.0)

    def check_resumed(first_time: float) -> None:
        times: list[float] = []
        resumed = loop()
        resumed.restore(path.read_bytes())
        result = resumed.simulate(1.0, observe=lambda time, values: times.append(time))
        assert times[0] == pytest.approx(first_time)
        assert result["third.place"].tobytes() == whole["third.place"].tobytes()

    only_at_the_end = cosim.Checkpoint(path, every=3600.0)
    loop().simulate(0.5, checkpoint=only_at_the_end)
    check_resumed(0.51)
    loop().simulate(1.0, observe=lambda time, values: time < 0.3, checkpoint=only_at_the_end)
    check_resumed(0.31)


@pytest.mark.few(1)
@pytest.mark.parametrize("write", ["python", pytest.param("native", marks=needs_compiler)])
def test_exported_fmus_are_resumed_beyond_the_stop_time_of_the_saved_run(write: str, tmp_path: Path) -> None:
    """The stop time belongs to an instance; a state that another instance restores does not contain it."""
    export_fmu = export_native if write == "native" else export
    fmu = export_fmu(oscillator(), tmp_path / "oscillator.fmu")

    def loop() -> CoSimulation:
        return CoSimulation({"one": fmu}, [], "jacobi", 0.01)

    path = tmp_path / "loop.saved"
    whole = loop().simulate(0.2)
    loop().simulate(0.1, checkpoint=cosim.Checkpoint(path, every=3600.0))
    resumed_loop = loop()
    resumed_loop.restore(path.read_bytes())
    resumed = resumed_loop.simulate(0.2)
    assert resumed.time[-1] == 0.2
    assert resumed["one.osc.position"].tobytes() == whole["one.osc.position"].tobytes()


def test_participants_that_cannot_be_saved_are_named_before_the_run(tmp_path: Path) -> None:
    parts = {"a": Block({"y": lambda t: t}), "b": Block({"y": lambda t, u: u}, ["u"])}
    loop = CoSimulation(parts, [("a.y", "b.u")], "jacobi", 0.1)
    with pytest.raises(cosim.ModelError) as caught:
        loop.simulate(1.0, checkpoint=cosim.Checkpoint(tmp_path / "c"))
    assert [fault.where for fault in caught.value.problems] == ["participants.a", "participants.b"]
    assert not parts["a"].calls or "step" not in {call for call, _ in parts["a"].calls}
    with pytest.raises(cosim.CosimError, match="no run"):
        loop.save()


class UnreadableState(SystemParticipant):
    """A participant whose saved state cannot be read back."""

    error: Exception

    def deserialize(self, data: bytes) -> Any:
        raise self.error


@pytest.mark.parametrize("error", [cosim.CosimError("unknown pointer"), IndexError("unknown pointer")])
def test_a_participant_that_rejects_its_saved_state_is_named_before_the_run(
    tmp_path: Path, error: Exception
) -> None:
    """Some FMUs declare that they read states and fail: this is reported before a long run, not after it."""
    model = cosim.Model("third")
    model.add(Mass, "m")
    third = UnreadableState(model)
    third.error = error
    loop = CoSimulation({"third": third, "other": SystemParticipant(model)}, [], "jacobi", 0.01)
    with pytest.raises(
        cosim.ModelError, match=r"participants\.third.*rejects its own saved state.*unknown pointer"
    ) as raised:
        loop.simulate(0.1, checkpoint=tmp_path / "loop.saved")
    assert "other" not in str(raised.value)
    assert not (tmp_path / "loop.saved").exists()


def test_an_algorithm_with_an_attribute_that_cannot_be_saved_is_named(make_fmu: MakeFmu) -> None:
    class Hiding(cosim.MasterAlgorithm):
        """As `jacobi`, with an attribute that no file can hold."""

        def __init__(self) -> None:
            self.secret = iter([1, 2])

        def step(self, exchange: Any, time: float, size: float) -> None:
            for name in exchange.order:
                exchange.set_inputs(name)
            exchange.advance_all(time, size)
            for name in exchange.order:
                exchange.read_outputs(name)

    fmu = make_fmu("mass")
    loop = CoSimulation({"left": fmu, "right": fmu}, LINKS[:3], Hiding(), 0.1)
    with pytest.raises(cosim.CosimError, match="Hiding.*secret"):
        saved_at(loop, 0.2, 0.5)


def test_a_checkpoint_of_another_co_simulation_is_refused(make_fmu: MakeFmu) -> None:
    fmu = make_fmu("mass")
    parts = {"left": fmu, "right": fmu}
    data, _ = saved_at(CoSimulation(parts, LINKS[:3], "jacobi", 0.1, starts=SPRINGS), 0.5, 1.0)
    loops = [
        (CoSimulation(parts, LINKS[:3], "jacobi", 0.2, starts=SPRINGS), "communication steps"),
        (CoSimulation(parts, LINKS[:3], "gauss_seidel", 0.1, starts=SPRINGS), "algorithms"),
        (CoSimulation(parts, LINKS[:2], "jacobi", 0.1, starts=SPRINGS), "connections"),
        (CoSimulation(parts, LINKS[:3], "jacobi", 0.1), "start values"),
    ]
    for loop, difference in loops:
        loop.restore(data)
        with pytest.raises(cosim.ModelError, match=difference):
            loop.simulate(1.0)
    short = CoSimulation(parts, LINKS[:3], "jacobi", 0.1, starts=SPRINGS)
    short.restore(data)
    with pytest.raises(cosim.ModelError, match="no communication point"):
        short.simulate(0.3)
