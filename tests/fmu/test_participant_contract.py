"""The kit for participants: ours pass it, and each check finds its own deliberately wrong toy."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))
from failing_checks import checks, failing_checks  # noqa: E402

import cosim  # noqa: E402
from cosim import kit  # noqa: E402
from cosim_fmu import TimedInputs  # noqa: E402
from cosim_fmu.abilities import InnerPoint
from cosim_fmu.testing import LinearParticipant, ParticipantContract  # noqa: E402

MATRICES = ([[-1.0]], [[1.0]], [[1.0], [0.5]], [[0.0], [2.0]])


class Right(LinearParticipant):
    """x' = u - x; y = x, z = x / 2 + 2 u; with all that the contract knows of."""

    def __init__(self) -> None:
        super().__init__(MATRICES, ["u"], ["y", "z"], [0.5], follows=True)
        self.time = 0.0

    def describe(self) -> kit.ParticipantDescription:
        return replace(super().describe(), can_serialize=True, has_derivatives=True)

    def initialize(self, start: float, stop: Any, values: Any, tolerance: Any = None) -> None:
        self.told: list[InnerPoint] = []
        super().initialize(start, stop, values, tolerance)

    def step(self, time: float, size: float) -> float:
        self.told.append(InnerPoint(time + 0.5 * size, ["y"], [float(self.x[0])]))
        return super().step(time, size)

    def inside(self) -> Sequence[InnerPoint]:
        found, self.told = self.told, []
        return found

    def serialize(self, token: Any) -> bytes:
        return b"".join(each.tobytes() for each in token)

    def deserialize(self, data: bytes) -> Any:
        import numpy as np

        return tuple(np.frombuffer(data[8 * i : 8 * i + 8]).copy() for i in range(3))

    def directional_derivative(self, outputs: Sequence[str], inputs: Sequence[str], seed: Any) -> list[float]:
        return [{"y": 0.0, "z": 2.0}.get(name, 0.0) * seed[0] for name in outputs]


class Undescribed(Right):
    def describe(self) -> Any:
        found = super().describe()
        return replace(found, discrete=frozenset(["w"]))


class Half(Right):
    def watch_(self) -> None: ...

    ticks_by_time = False


class Typed(Right):
    def describe(self) -> Any:
        found = super().describe()
        return replace(
            found, variables={**found.variables, "n": kit.ParticipantVariable("n", "output", "integer")}
        )

    def get(self, names: Sequence[str]) -> list[Any]:
        known = iter(super().get([name for name in names if name != "n"]))
        return [1.5 if name == "n" else next(known) for name in names]


class Short(Right):
    def step(self, time: float, size: float) -> float:
        super().step(time, size)
        return time + 1.5 * size


class Remembers(Right):
    def initialize(self, start: float, stop: Any, values: Any, tolerance: Any = None) -> None:
        runs = getattr(self, "runs", 0)
        super().initialize(start, stop, values, tolerance)
        self.x += runs
        self.runs = runs + 1


class Shares(Right):
    common: list[float] = []

    def set(self, names: Sequence[str], values: Any) -> None:
        super().set(names, values)
        Shares.common[:] = [1.0] if names and values[0] else []

    def initialize(self, start: float, stop: Any, values: Any, tolerance: Any = None) -> None:
        Shares.common.clear()
        super().initialize(start, stop, values, tolerance)

    def step(self, time: float, size: float) -> float:
        if Shares.common and not self.u[0]:
            self.x += 1.0
        return super().step(time, size)


class Wears(Right):
    def get(self, names: Sequence[str]) -> list[Any]:
        if list(names) == ["y"]:
            self.x += 1e-6
        return super().get(names)


class Closed(Right):
    told: Any = ()

    def close(self) -> None:
        if getattr(self, "told", None) is None:
            raise ValueError("it is closed")
        self.told = None  # type: ignore[assignment]


class Polite(Right):
    def get(self, names: Sequence[str]) -> list[Any]:
        return [0.0 if n not in ("y", "z", "x0") else super(Polite, self).get([n])[0] for n in names]


class Forgets(Right):
    def restore(self, token: Any) -> None:
        self.x = token[0].copy()


class LosesBytes(Right):
    def deserialize(self, data: bytes) -> Any:
        found = super().deserialize(data)
        found[0][:] += 1e-9
        return found


class Denies(Right):
    def describe(self) -> Any:
        found = super().describe()
        return replace(found, feedthrough={**(found.feedthrough or {}), "z": frozenset()})


class Steep(Right):
    def directional_derivative(self, outputs: Sequence[str], inputs: Sequence[str], seed: Any) -> list[float]:
        return [3.0 * seed[0] for _ in outputs]


class Deaf(Right):
    def set_slopes(self, names: Sequence[str], slopes: Any) -> None:
        pass


class Late(Right):
    def inside(self) -> Sequence[InnerPoint]:
        return [point._replace(time=point.time + 1.0) for point in super().inside()]


class Once(Right):
    """Alone it runs, in a co-simulation nothing can be read before the first step."""

    def initialize(self, start: float, stop: Any, values: Any, tolerance: Any = None) -> None:
        if stop is not None and stop < 0.105:
            raise ValueError("too short")
        super().initialize(start, stop, values, tolerance)


WRONG: dict[str, type] = {
    "test_describes_itself": Undescribed,
    "test_abilities_are_whole": Half,
    "test_values_have_their_types": Typed,
    "test_steps_to_the_time_that_it_is_told": Short,
    "test_a_second_run_gives_the_same": Remembers,
    "test_two_do_not_disturb_each_other": Shares,
    "test_reading_changes_nothing": Wears,
    "test_can_be_closed_at_any_time": Closed,
    "test_refuses_names_that_it_does_not_have": Polite,
    "test_goes_back": Forgets,
    "test_goes_back_from_bytes": LosesBytes,
    "test_feedthrough_is_what_it_says": Denies,
    "test_derivatives_are_those_of_the_outputs": Steep,
    "test_slopes_are_followed": Deaf,
    "test_tells_what_happens_inside_its_steps": Late,
    "test_runs_in_a_co_simulation": Once,
}
ALSO = {
    "test_two_do_not_disturb_each_other": {"test_goes_back"},  # what is wrong there shows elsewhere, too
    "test_describes_itself": {"test_runs_in_a_co_simulation"},
    "test_values_have_their_types": {"test_runs_in_a_co_simulation"},
    "test_steps_to_the_time_that_it_is_told": {"test_runs_in_a_co_simulation"},
    "test_tells_what_happens_inside_its_steps": {"test_runs_in_a_co_simulation"},
}


class DeniesAbove(Denies):
    """z depends on the input where that is above 1."""

    def get(self, names: Sequence[str]) -> list[Any]:
        values = dict(zip(["y", "z", "x0"], super().get(["y", "z", "x0"]), strict=True))
        return [values[n] - (2.0 * min(self.u[0], 1.0) if n == "z" else 0.0) for n in names]


class DeniesLater(Denies):
    """z depends on the input where the state is below 0.49."""

    def get(self, names: Sequence[str]) -> list[Any]:
        values = dict(zip(["y", "z", "x0"], super().get(["y", "z", "x0"]), strict=True))
        return [values[n] - (2.0 * self.u[0] if n == "z" and self.x[0] > 0.49 else 0.0) for n in names]


class SteepBelow(Right):
    """Its derivative is wrong where the input is below 0."""

    def directional_derivative(self, outputs: Sequence[str], inputs: Sequence[str], seed: Any) -> list[float]:
        factor = 1.0 if self.u[0] >= 0.0 else 1.1
        return [factor * each for each in super().directional_derivative(outputs, inputs, seed)]


class SteepLater(Right):
    """Its derivative is wrong where the state is below 0.49."""

    def directional_derivative(self, outputs: Sequence[str], inputs: Sequence[str], seed: Any) -> list[float]:
        factor = 1.0 if self.x[0] >= 0.49 else 1.1
        return [factor * each for each in super().directional_derivative(outputs, inputs, seed)]


class KeepsInputs(Right):
    """A new run begins with the inputs of the last one."""

    def initialize(self, start: float, stop: Any, values: Any, tolerance: Any = None) -> None:
        kept = self.u.copy()
        super().initialize(start, stop, values, tolerance)
        self.u = kept


class ForgetsMode(Right):
    """An input above 1 switches a mode, which is not restored."""

    mode = 0.0

    def initialize(self, start: float, stop: Any, values: Any, tolerance: Any = None) -> None:
        self.mode = 0.0
        super().initialize(start, stop, values, tolerance)

    def set(self, names: Sequence[str], values: Any) -> None:
        super().set(names, values)
        self.mode = 1.0 if self.u[0] > 1.0 else self.mode

    def step(self, time: float, size: float) -> float:
        reached = super().step(time, size)
        self.x = self.x + self.mode * size
        return reached


class SharesAbove(Right):
    """An input above 1 moves the others of its class."""

    common: list[float] = []

    def set(self, names: Sequence[str], values: Any) -> None:
        super().set(names, values)
        if self.u[0] > 1.0:
            SharesAbove.common[:] = [1.0]

    def initialize(self, start: float, stop: Any, values: Any, tolerance: Any = None) -> None:
        SharesAbove.common.clear()
        super().initialize(start, stop, values, tolerance)

    def step(self, time: float, size: float) -> float:
        if SharesAbove.common and not self.u[0]:
            self.x += 1.0
        return super().step(time, size)


class Kinked(Right):
    """Right: z has a kink where the input is 0, as at its start."""

    side = 0.0

    def get(self, names: Sequence[str]) -> list[Any]:
        values = dict(zip(["y", "z", "x0"], super().get(["y", "z", "x0"]), strict=True))
        return [values[n] + (abs(self.u[0]) if n == "z" else 0.0) for n in names]

    def directional_derivative(self, outputs: Sequence[str], inputs: Sequence[str], seed: Any) -> list[float]:
        slope = 3.0 if self.u[0] > self.side or self.u[0] == 0.0 == self.side else 1.0
        return [{"z": slope}.get(name, 0.0) * seed[0] for name in outputs]


class SteepAtAKink(Kinked):
    """Its derivative is neither that on the left nor that on the right, nor between them."""

    def directional_derivative(self, outputs: Sequence[str], inputs: Sequence[str], seed: Any) -> list[float]:
        found = super().directional_derivative(outputs, inputs, seed)
        return [
            each + 0.5 * seed[0] if name == "z" else each for name, each in zip(outputs, found, strict=True)
        ]


IN_VALUES = [
    ("test_feedthrough_is_what_it_says", DeniesAbove),
    ("test_feedthrough_is_what_it_says", DeniesLater),
    ("test_derivatives_are_those_of_the_outputs", SteepBelow),
    ("test_derivatives_are_those_of_the_outputs", SteepLater),
    ("test_derivatives_are_those_of_the_outputs", SteepAtAKink),
    ("test_a_second_run_gives_the_same", KeepsInputs),
    ("test_goes_back", ForgetsMode),
    ("test_two_do_not_disturb_each_other", SharesAbove),
]


def case(kind: Any) -> type:
    return type("Case", (ParticipantContract,), {"make": staticmethod(kind)})


def test_each_check_has_a_toy() -> None:
    natively = {
        "test_native_steps_are_those_of_python"
    }  # C code that is not the Python beside it: tested with FMUs
    assert {*WRONG} | natively == {*checks(case(Right))}


@pytest.mark.parametrize("check", WRONG)
def test_a_wrong_toy_fails_its_check(check: str) -> None:
    failing = {*failing_checks(case(WRONG[check]))}
    assert check in failing and failing - {check} <= ALSO.get(check, set())


@pytest.mark.parametrize(("check", "kind"), IN_VALUES)
def test_a_fault_for_some_values_alone_is_found(check: str, kind: type) -> None:
    assert check in failing_checks(case(kind))


@pytest.mark.parametrize("kind", [Right, Kinked])
def test_the_right_one_passes(kind: type) -> None:
    assert failing_checks(case(kind)) == []


class TestTimedInputs(ParticipantContract):
    make = staticmethod(lambda: TimedInputs({"u": [[0.0, 0.0], [1.0, 2.0]]}, "linear"))


@pytest.mark.parametrize("kind", ["gain", "mass", "types"])
def test_fmus_pass(make_fmu: Any, kind: str) -> None:
    from cosim_fmu import FmuParticipant

    path = make_fmu(kind)
    assert failing_checks(case(lambda: FmuParticipant(path))) == []


@pytest.mark.thorough
def test_an_fmu_in_a_process_passes(make_fmu: Any) -> None:
    """Each check starts processes; a short run compares isolated FMUs with others in `test_processes`."""
    from cosim_fmu import ProcessParticipant

    path = make_fmu("mass")
    assert failing_checks(case(lambda: ProcessParticipant(path))) == []


def test_what_a_wrong_description_says() -> None:
    from cosim_fmu import CoSimulation
    from cosim_master.participants.create_participants import description_faults

    good = Right().describe()
    y = good.variables["y"]
    cases: list[tuple[Any, str]] = [
        ({"y": "output"}, "describe returned {'y': 'output'}, needs a cosim.kit.ParticipantDescription"),
        (replace(good, variables=[y]), "variables is [ParticipantVariable("),
        (
            replace(good, variables={"y": "output"}),
            "variables: 'y' is 'output', needs a cosim.kit.Participant",
        ),
        (replace(good, variables={"z": y}), "variables: 'z' has the name 'y'"),
        (replace(good, variables={"y": replace(y, causality="out")}), "y: no causality 'out'"),
        (replace(good, variables={"y": replace(y, type="float")}), "y: no type 'float'"),
        (replace(good, variables={"y": replace(y, unit=None)}), "y: unit is None"),
        (
            replace(good, variables={"y": replace(y, start="1")}),
            "y: start is '1', needs a value of type real",
        ),
        (
            replace(good, variables={"y": replace(y, start=True)}),
            "y: start is True, needs a value of type real",
        ),
        (replace(good, feedthrough=["y"]), "feedthrough is ['y'], needs a dict"),
        (replace(good, feedthrough={"y": "u"}), "feedthrough of y is 'u', needs a set of inputs"),
        (replace(good, feedthrough={"w": frozenset()}), "feedthrough: no variable 'w'"),
        (replace(good, feedthrough={"y": {"y"}}), "feedthrough of y: no input 'y'"),
        (replace(good, can_restore="yes"), "can_restore is 'yes', needs True or False"),
        (replace(good, tunable="u"), "tunable is 'u', needs a set of names"),
        (replace(good, default_experiment=(0, 1)), "default_experiment is (0, 1), needs a DefaultExperiment"),
    ]
    assert description_faults(good) == []
    for told, text in cases:
        part = Right()
        part.describe = lambda told=told: told  # type: ignore[method-assign]
        with pytest.raises(cosim.ModelError) as caught:
            CoSimulation({"a": part}, step=0.1)
        assert f"participants.a: {text}" in str(caught.value)


def test_what_is_no_participant() -> None:
    from cosim_fmu import CoSimulation

    class Nearly:
        def describe(self) -> None: ...
        def step(self) -> None: ...

    with pytest.raises(cosim.ModelError, match="close, get, initialize"):
        CoSimulation({"a": Nearly()}, step=0.1)


def test_a_value_of_another_type_is_named() -> None:
    from cosim_fmu import CoSimulation

    with pytest.raises(cosim.SimulationError, match="1.5.*declared as integer"):
        CoSimulation({"a": Typed()}, step=0.1).simulate(0.1)
