"""What an FMU declares that outputs and derivatives depend on: whatever changes them is among it."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import cosim
from cosim_export.interface.exported_interface import ExportedInterface
from cosim_export.interface.fmu_variable import FmuVariable
from cosim_export.interface.model_description import knowns, unknowns
from cosim_export.interface.select_variables import select_variables
from cosim_export.native.description import describe
from cosim_export.native.exchanged_variables import with_all_states

EXAMPLES = Path(__file__).parents[2] / "examples"


class Trio(cosim.Component):
    """Three masses that are pushed apart; each output and each rate reads some elements of vectors."""

    push = cosim.input(unit="N", shape=3, start=(0.0, 0.5, -0.5))
    mass = cosim.parameter(unit="kg", default=2.0, above=0.0)
    law = cosim.parameter(choices=("free", "damped"), default="damped")
    x = cosim.position(unit="m", shape=3, start=(0.0, 0.25, 0.25))
    v = cosim.speed(unit="m/s", shape=3, start=(1.0, 1.5, 1.5))
    sum = cosim.output(unit="m")
    forced = cosim.output(unit="N")
    swinging = cosim.output(unit="1")
    second = cosim.output(unit="m/s")

    @cosim.kernel
    def derive(x, v, push, mass, law, x_dot, v_dot):
        for i in range(3):
            x_dot[i] = v[i]
            v_dot[i] = push[i] / mass - (0.3 * v[i] if law == 2 else 0.0)

    @cosim.kernel
    def give(t, x, v, push, sum, forced, swinging, second):
        sum[0] = x[0] + x[1] + x[2]
        forced[0] = push[0] - push[2]
        swinging[0] = t * x[0]
        second[0] = v[1]


def trio() -> cosim.Model:
    model = cosim.Model("trio")
    model.add(Trio, "trio")
    model.measure("measures.delay", "late", source="trio.sum", delay=0.1)
    model.measure("measures.delay", "pushed", source="trio.forced", delay=0.05)
    model.measure("measures.maximum", "top", source="trio.sum")
    model.measure("measures.integrate", "area", source="trio.swinging")
    return model


def model_of(name: str) -> cosim.Model:
    if name == "trio":
        return trio()
    sys.path.insert(0, str(EXAMPLES / name / "plugin"))
    return cosim.Model.from_file(EXAMPLES / name / f"{name}.toml")


class Probe:
    """A system at a point that nothing special is at, and what its unknowns are after a change."""

    def __init__(self, system: cosim.System, variables: tuple[FmuVariable, ...], until: float) -> None:
        self.system = system
        outputs, derivatives, _ = unknowns(variables)
        self.targets = list({v.name: v for v in (*outputs, *derivatives)}.values())
        self.known = [v for v in variables if v.name in knowns(variables)[0]]
        self.others = [v for v in variables if v.is_settable and v not in self.known and v.angle is None]
        simulator = cosim.Simulator(system, accuracy=1e-6)
        simulator.initialize()
        simulator.advance_to(until)
        self.state = simulator.state.copy()
        random = np.random.default_rng(3)
        for variable in self.known:
            self.state[variable.path] = self.value(variable) + 0.01 * abs(random.standard_normal())
        self.base = self.after(self.state.copy())

    def value(self, variable: FmuVariable) -> float:
        if variable.causality == "input":
            slot = self.system.written_slot(variable.path)
            return float(self.arrays(self.state)[slot.array][slot.offset])
        return float(self.arrays(self.state)[variable.array][variable.offset])

    def arrays(self, state: cosim.State) -> dict[str, NDArray[np.float64]]:
        return dict(zip("ypdkhc", self.system.arrays(state), strict=True))

    def after(self, state: cosim.State) -> NDArray[np.float64]:
        state.realize(cosim.Stage.REPORT)
        arrays = self.arrays(state)
        return np.array([arrays[v.array][v.offset] for v in self.targets])

    def changed(self, state: cosim.State) -> set[str]:
        now = self.after(state)
        same = (now == self.base) | (np.isnan(now) & np.isnan(self.base))
        return {v.name for v, is_same in zip(self.targets, same, strict=True) if not is_same}

    def changed_with(self, variable: FmuVariable) -> set[str]:
        found: set[str] = set()
        for step in (1.0,) if variable.type != "Real" else (1e-3, 0.03, 0.3):
            for sign in (1.0, -1.0):
                state = self.state.copy()
                with contextlib.suppress(cosim.CosimError):  # what a parameter may not be
                    state[variable.path] = self.value(variable) + sign * step
                    found |= self.changed(state)
        return found


@pytest.mark.few(2)
@pytest.mark.parametrize("all_of_it", [False, True])
@pytest.mark.parametrize("name", ["trio", "quarter_car", "stick_balancing", "chatter", "thrown_crate"])
def test_what_changes_an_unknown_is_among_its_dependencies(name: str, all_of_it: bool) -> None:
    system = model_of(name).build()
    variables = with_all_states(system, select_variables(system, all=all_of_it))
    missing, seen = [], 0
    for until in (0.0, 0.31):
        probe = Probe(system, variables, until)
        for variable in (*probe.known, *probe.others):  # parameters and discrete states count in FMI 3.0
            changed = probe.changed_with(variable)
            seen += len(changed)
            told = {v.name for v in probe.targets if variable.name in v.dependencies}
            missing += [(until, target, variable.name) for target in changed - told]
        later = probe.state.copy()
        later.set_time(probe.state.time + 1e-4)
        timed = {v.name for v in probe.targets if v.depends_on_time}
        missing += [(until, target, "time") for target in probe.changed(later) - timed]
    assert missing == []
    assert seen > 4


def test_dependencies_on_single_elements() -> None:
    variables = {v.name: v for v in select_variables(trio().build())}
    now = knowns(variables.values())[0]
    assert now & set(variables["trio.forced"].dependencies) == {"trio.push[1]", "trio.push[3]"}
    assert now & set(variables["trio.second"].dependencies) == {"trio.v[2]"}
    assert variables["trio.swinging"].depends_on_time and not variables["trio.sum"].depends_on_time


def test_angles_of_a_frame_stand_together_among_initial_dependencies() -> None:
    """They are one rotation matrix: the first three numbers of one place hid two of them."""
    model = cosim.Model.from_file(EXAMPLES / "stick_balancing" / "stick_balancing.toml")
    by_name = {v.name: v for v in select_variables(model.build(), all=True)}
    found = set(by_name["der(stick_joint.u[1])"].initial_dependencies)
    assert {f"stick_joint.frame_on_parent.angles[{i}]" for i in (1, 2, 3)} <= found


def test_a_state_that_is_shown_twice_is_depended_on_by_the_name_that_sets_it() -> None:
    model = cosim.Model.from_file(EXAMPLES / "stick_balancing" / "stick_balancing.toml")
    by_name = {v.name: v for v in select_variables(model.build(), all=True)}
    assert by_name["stick_joint.angle"].initial == "calculated"
    assert "stick_joint.q[1]" in by_name["der(stick_joint.u[1])"].dependencies
    assert "stick_joint.angle" not in by_name["der(stick_joint.u[1])"].dependencies


def test_states_that_model_exchange_adds_are_depended_on() -> None:
    system = trio().build()
    few = select_variables(system, outputs=["trio.sum", "trio.second"], expose=[])
    shown = {v.name: v for v in with_all_states(system, few)}
    assert {"trio.x[1]", "trio.x[2]", "trio.x[3]"} <= set(shown["trio.sum"].dependencies)
    assert "trio.push[1]" in shown["der(trio.v[1])"].dependencies


@pytest.mark.parametrize("version", [2, 3])
def test_what_counts_as_known_is_what_the_version_says(version: int, tmp_path: Path) -> None:
    from fmpy import read_model_description

    system = trio().build()
    variables = select_variables(system, all=True)
    interface = ExportedInterface("trio", "trio", {}, variables, "integrators.heun", {}, 1e-6)
    (tmp_path / "modelDescription.xml").write_bytes(describe(version, ["cs"], interface, "t", "{token}", ()))
    read = read_model_description(str(tmp_path))

    def found(listed: Any, name: str) -> set[str]:
        unknown = next(u for u in listed if u.variable.name == name)
        return {v.name for v in unknown.dependencies}

    if version == 2:
        whole = {f"trio.{name}[{i}]" for name in ("push", "v") for i in (1, 2, 3)}
        assert found(read.derivatives, "der(trio.v[2])") == whole
        assert found(read.initialUnknowns, "trio.swinging") == {"trio.x[1]"}
    else:
        assert found(read.derivatives, "der(trio.v)") == {"trio.push", "trio.v", "trio.mass", "trio.law"}
        assert found(read.outputs, "trio.swinging") == {"trio.x", "time"}
        assert found(read.initialUnknowns, "trio.swinging") == {"trio.x", "time"}
        assert {"top.best", "top.seen"} <= found(read.outputs, "top")
