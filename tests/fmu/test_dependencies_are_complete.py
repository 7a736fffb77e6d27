"""The dependencies that an FMU declares contain each variable that changes an output or a derivative."""

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
    """Three masses with forces; each output and each rate reads other elements of vectors."""

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
    def outputs(t, x, v, push, sum, forced, swinging, second):
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
    """The trio, or the model of an example."""
    if name == "trio":
        return trio()
    sys.path.insert(0, str(EXAMPLES / name / "plugin"))
    return cosim.Model.from_file(EXAMPLES / name / f"{name}.toml")


class Probe:
    """A system at a generic point of a run, and the unknowns that a change of a variable changes.

    `known` are the variables that dependencies may name in both versions of FMI, `others` all further ones
    that can be set.
    """

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
        self.base = self.unknowns_of(self.state.copy())

    def value(self, variable: FmuVariable) -> float:
        if variable.causality == "input":
            slot = self.system.written_slot(variable.path)
            return float(self.arrays(self.state)[slot.array][slot.offset])
        return float(self.arrays(self.state)[variable.array][variable.offset])

    def arrays(self, state: cosim.State) -> dict[str, NDArray[np.float64]]:
        return dict(zip("ypdkhc", self.system.arrays(state), strict=True))

    def unknowns_of(self, state: cosim.State) -> NDArray[np.float64]:
        """The values of all unknowns in a state."""
        state.realize(cosim.Stage.REPORT)
        arrays = self.arrays(state)
        return np.array([arrays[v.array][v.offset] for v in self.targets])

    def changed(self, state: cosim.State) -> set[str]:
        """Names of the unknowns whose values differ from those of the point."""
        values = self.unknowns_of(state)
        same = (values == self.base) | (np.isnan(values) & np.isnan(self.base))
        return {v.name for v, is_same in zip(self.targets, same, strict=True) if not is_same}

    def changed_by(self, variable: FmuVariable) -> set[str]:
        """Names of the unknowns that a change of a variable by any of some steps changes."""
        names: set[str] = set()
        for step in (1.0,) if variable.type != "Real" else (1e-3, 0.03, 0.3):
            for sign in (1.0, -1.0):
                state = self.state.copy()
                with contextlib.suppress(cosim.CosimError):  # the value of a parameter may be wrong
                    state[variable.path] = self.value(variable) + sign * step
                    names |= self.changed(state)
        return names


@pytest.mark.few(2)
@pytest.mark.parametrize("all_variables", [False, True])
@pytest.mark.parametrize("name", ["trio", "quarter_car", "stick_balancing", "chatter", "thrown_crate"])
def test_each_variable_that_changes_an_unknown_is_among_its_dependencies(
    name: str, all_variables: bool
) -> None:
    system = model_of(name).build()
    variables = with_all_states(system, select_variables(system, all=all_variables))
    missing, change_count = [], 0
    for until in (0.0, 0.31):
        probe = Probe(system, variables, until)
        for variable in (*probe.known, *probe.others):  # parameters and discrete states count in FMI 3.0
            changed = probe.changed_by(variable)
            change_count += len(changed)
            declared = {v.name for v in probe.targets if variable.name in v.dependencies}
            missing += [(until, target, variable.name) for target in changed - declared]
        later = probe.state.copy()
        later.set_time(probe.state.time + 1e-4)
        timed = {v.name for v in probe.targets if v.depends_on_time}
        missing += [(until, target, "time") for target in probe.changed(later) - timed]
    assert missing == []
    assert change_count > 4


def test_dependencies_name_single_elements_of_vectors() -> None:
    variables = {v.name: v for v in select_variables(trio().build())}
    known = knowns(variables.values())[0]
    assert known & set(variables["trio.forced"].dependencies) == {"trio.push[1]", "trio.push[3]"}
    assert known & set(variables["trio.second"].dependencies) == {"trio.v[2]"}
    assert variables["trio.swinging"].depends_on_time and not variables["trio.sum"].depends_on_time


def test_all_three_angles_of_a_frame_are_initial_dependencies() -> None:
    """They share the memory of one rotation matrix."""
    model = cosim.Model.from_file(EXAMPLES / "stick_balancing" / "stick_balancing.toml")
    by_name = {v.name: v for v in select_variables(model.build(), all=True)}
    dependencies = set(by_name["der(stick_joint.u[1])"].initial_dependencies)
    assert {f"stick_joint.frame_on_parent.angles[{i}]" for i in (1, 2, 3)} <= dependencies


def test_of_two_names_of_a_state_the_one_that_can_be_set_is_a_dependency() -> None:
    model = cosim.Model.from_file(EXAMPLES / "stick_balancing" / "stick_balancing.toml")
    by_name = {v.name: v for v in select_variables(model.build(), all=True)}
    assert by_name["stick_joint.angle"].initial == "calculated"
    assert "stick_joint.q[1]" in by_name["der(stick_joint.u[1])"].dependencies
    assert "stick_joint.angle" not in by_name["der(stick_joint.u[1])"].dependencies


def test_states_that_model_exchange_adds_are_dependencies() -> None:
    system = trio().build()
    selected = select_variables(system, outputs=["trio.sum", "trio.second"], expose=[])
    variables = {v.name: v for v in with_all_states(system, selected)}
    assert {"trio.x[1]", "trio.x[2]", "trio.x[3]"} <= set(variables["trio.sum"].dependencies)
    assert "trio.push[1]" in variables["der(trio.v[1])"].dependencies


@pytest.mark.parametrize("version", [2, 3])
def test_dependencies_are_the_knowns_of_the_version_of_fmi(version: int, tmp_path: Path) -> None:
    """FMI 2.0 names inputs and states, by element; FMI 3.0 also parameters, time and discrete states."""
    from fmpy import read_model_description

    system = trio().build()
    variables = select_variables(system, all=True)
    interface = ExportedInterface("trio", "trio", {}, variables, "integrators.heun", {}, 1e-6)
    (tmp_path / "modelDescription.xml").write_bytes(describe(version, ["cs"], interface, "t", "{token}", ()))
    description = read_model_description(str(tmp_path))

    def dependencies(structure: Any, name: str) -> set[str]:
        unknown = next(u for u in structure if u.variable.name == name)
        return {v.name for v in unknown.dependencies}

    if version == 2:
        elements = {f"trio.{name}[{i}]" for name in ("push", "v") for i in (1, 2, 3)}
        assert dependencies(description.derivatives, "der(trio.v[2])") == elements
        assert dependencies(description.initialUnknowns, "trio.swinging") == {"trio.x[1]"}
    else:
        assert dependencies(description.derivatives, "der(trio.v)") == {
            "trio.push",
            "trio.v",
            "trio.mass",
            "trio.law",
        }
        assert dependencies(description.outputs, "trio.swinging") == {"trio.x", "time"}
        assert dependencies(description.initialUnknowns, "trio.swinging") == {"trio.x", "time"}
        assert {"top.best", "top.seen"} <= dependencies(description.outputs, "top")
