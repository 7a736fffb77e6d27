"""The contract kit of force elements."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest

import cosim
from cosim.testing.part_contract import different_names
from cosim_mechanics.testing.described import check_force_docstring
from cosim_mechanics.testing.exported import check_fmu, differences_in_fmu
from cosim_mechanics.testing.force_bench import ForceBench, NoExampleError, Scene, random_scene, realized
from cosim_mechanics.testing.force_laws import ForceLaws

STORES, LOSES, BRINGS = "potential_energy", "dissipated_energy", "supplied_energy"
"""Names of the energies that an element stores, loses, and brings in."""


class ForceElementContract(ForceLaws):
    """Checks of a force element on free bodies, or on a hinge, at random poses and velocities.

    Attributes
    ----------
    make : callable
        Makes the element, without ``body1`` and ``body2`` (or its other attachments).
    angle, distance, speed : float
        Ranges of the random motion: largest rotation of each body (rad), largest coordinate of its
        origin (m), largest component of velocities (m/s, rad/s). Narrow them for an element that has
        a singular pose.
    tolerance : float
        Relative, for the balance of forces and of power.
    step : float
        Of the difference quotient of the potential energy, s; short enough that its slope hardly changes.

    Examples
    --------
    >>> from cosim_mechanics.testing import ForceElementContract
    >>> class TestMyDamper(ForceElementContract):
    ...     make = staticmethod(lambda: MyDamper(damping=40.0))
    """

    beside: ClassVar[str] = "mechanics.linear_bushing"

    @classmethod
    def example(cls) -> tuple[cosim.State, str]:
        """One element on moving bodies."""
        return cls.bench().state(cls.scene(1)), "element0"

    @classmethod
    def scene(cls, seed: int) -> Scene:
        """A random scene."""
        return random_scene(seed, cls.angle, cls.distance, cls.speed)

    def test_docstring_has_its_sections(self) -> None:
        """The class says what it computes, with its symbols, frames, signs, limits and energies."""
        check_force_docstring(self.make())

    def test_forces_are_finite(self) -> None:
        """Finite numbers of the right shapes, in motion and at rest."""
        bench = self.bench()
        for seed in range(5):
            for scene in (self.scene(seed), self.scene(seed).at_rest()):
                for name, force in bench.forces(bench.state(scene)).items():
                    assert force.shape == (6,) or name not in "ab"
                    assert np.all(np.isfinite(force)), f"on {name} {force} at {bench.scene_text(scene)}"

    def test_has_an_effect(self) -> None:
        """Somewhere in the range of the random motion it exerts a force, or adds inertia."""
        bench, largest = self.bench(), 0.0
        for seed in range(12):
            state = bench.state(self.scene(seed))
            effects = [*bench.forces(state).values(), *bench.contribution(state).inertias.values()]
            largest = max(largest, *(float(np.abs(effect).max(initial=0.0)) for effect in effects))
        assert largest > 0.0, (
            f"{type(self.make()).__name__} exerts no force in 12 random motions: add what its law says to "
            "F_GB1 and F_GB2, or give `make` parameters, and the class ranges of motion, with which it acts"
        )

    def test_forces_follow_from_the_state_alone(self) -> None:
        """No memory outside the State, and nothing of the State is changed by computing forces."""
        bench = self.bench()
        state = bench.state(self.scene(1))
        first = bench.computed(state)
        for seed in (2, 3):
            bench.place(state, self.scene(seed))
            before = state.to_bytes()
            bench.forces(state)
            assert state.to_bytes() == before, "computing the forces changed a variable of the State"
        bench.place(state, self.scene(1))
        again = bench.computed(state)
        assert first == again, (
            f"other results at the same State, {different_names(first, again)}; memory belongs into the State"
        )

    def test_two_elements_are_independent(self) -> None:
        """Two of a kind in one system act as if each were alone."""
        first = self.scene(20)
        second = replace(self.scene(21), time=first.time)
        bench = ForceBench([self.make(), self.make()])
        together = bench.state(first, second)
        for index, scene in enumerate((first, second)):
            alone = ForceBench([self.make()])
            expected, forces = alone.forces(alone.state(scene)), bench.forces(together, index)
            for end in "ab":
                assert forces[end].tobytes() == expected[end].tobytes(), (
                    f"element {index + 1} of two: {forces[end]}, alone: {expected[end]}; "
                    "instances share something"
                )

    def test_stages_are_honoured(self) -> None:
        """Energy follows from poses, forces from velocities; a stage does not read what comes later."""
        bench = self.bench()
        variables = {p: v for p, v in bench.system.variables.items() if p.startswith("element0.")}
        computed = {p: v for p, v in variables.items() if v.kind in ("cache", "output")}
        stored = computed.get(f"element0.{STORES}")
        if stored is not None:
            late = stored.stage is cosim.Stage.REPORT or self._stores_by_memory()
            assert stored.stage <= cosim.Stage.POSITION or late, (
                f"{STORES} is known at {stored.stage.name}, needs POSITION: compute it in a function that "
                "asks for poses alone (or at stage=Stage.REPORT)"
            )
        state, early = bench.state(self.scene(4)), {}
        for stage in range(cosim.Stage.INSTANCE, cosim.Stage.REPORT + 1):
            state.realize(cosim.Stage(stage))
            early.update({p: np.array(state[p]) for p, v in computed.items() if v.stage == stage})
        for path, value in early.items():
            assert np.array_equal(value, np.array(state[path]), equal_nan=True), (
                f"{path} is {value} at its stage and {state[path]} later"
            )

    def _stores_by_memory(self) -> bool:
        """Whether the stored energy depends on a state of the element's own, as that of a hysteresis does."""
        cls = type(self.make())
        writers = [
            arguments
            for arguments in cls.arguments.values()
            if any(a.name == STORES and a.effect == "write" for a in arguments)
        ]
        states = {
            name for name, d in cls.declarations.items() if d.kind in ("auxiliary", "discrete", "integer")
        }
        return any(a.of in states for arguments in writers for a in arguments)

    def test_power_is_the_loss_of_energy(self) -> None:
        """The power of the forces is taken from potential energy, supplied, or dissipated."""
        declared = type(self.make()).declarations
        if not {STORES, LOSES, BRINGS} & set(declared):
            pytest.skip(f"the element has none of {STORES}, {LOSES}, {BRINGS}")
        bench = self.bench()

        def check(scene: Scene) -> None:
            state = realized(bench.state(scene))
            power, size = bench.power(state)
            lost = state[f"element0.{LOSES}_dot"] if LOSES in declared else 0.0
            brought = state[f"element0.{BRINGS}_dot"] if BRINGS in declared else 0.0
            stored, required = math.nan, brought - power - lost
            for low, high, noise in self._rates_of_potential_energy(state):
                stored = min(max(required, low), high)
                noise += 10.0 * self.tolerance * max(size, abs(lost)) + self.least_power()
                if abs(stored - required) <= noise:
                    return
            if math.isnan(stored):
                raise NoExampleError
            pytest.fail(
                f"the forces do {power:.9g} W, the potential energy grows by {stored:.9g} W, "
                f"{lost:.9g} W are dissipated, {brought:.9g} W supplied; {bench.scene_text(scene)}"
            )

        self.check_scenes(check)

    def test_restored_state_gives_the_same_forces(self) -> None:
        """A State that was saved to bytes and read again gives the same results."""
        bench = self.bench()
        for seed in (6, 7, 8):
            state = bench.state(self.scene(seed))
            expected = bench.computed(state)
            restored = bench.computed(bench.system.state_from_bytes(state.to_bytes()))
            assert restored == expected, (
                f"other results in the restored State, {different_names(expected, restored)}"
            )

    def test_runs_in_an_fmu(self) -> None:
        """Exported, it moves its bodies as it does here."""
        check_fmu(type(self), "differences_in_fmu")

    @classmethod
    def differences_in_fmu(cls) -> list[str]:
        """The differences of a run as an FMU, in sentences."""
        bench = ForceBench([cls.make()])
        scenes = [cls.scene(seed) for seed in (5, 7, 8, 10)]
        acting = [s for s in scenes if any(np.any(f) for f in bench.forces(bench.state(s)).values())]
        scene = (acting or scenes)[0]
        state = bench.state(scene)
        for name, value in bench.values(scene).items():
            bench.model.set_start(f"element0.{name}", value)
        for name in (name for name in bench.model.parts if name.startswith("joint_")):
            bench.model.set_start(f"{name}.q", state[f"{name}.q"])
            bench.model.set_start(f"{name}.u", state[f"{name}.u"])
        return differences_in_fmu(bench.model, type(cls.make()), ["a0.x", "b0.y", "c0.wz"], 1e-9, 1e-12)

    @classmethod
    def results(cls) -> list[str]:
        """All that the element computes at a few poses, to the last bit."""
        bench = cls.bench()
        return [text for seed in range(8, 16) for text in bench.computed(bench.state(cls.scene(seed)))]
