"""Lowered runs without events against the Simulator, bit by bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lowered_parts import oscillator
from lowered_run import compare

import cosim
from cosim.kit import Settings
from cosim.testing.known_solution import known_system
from cosim.testing.other_mode import results_in_other_mode
from cosim_lowering.program import Program
from cosim_mechanics import Multibody

LONG = pytest.mark.thorough  # each method is compiled
ADAPTIVE = (
    "runge_kutta_merson",
    *(pytest.param(n, marks=LONG) for n in ("dormand_prince_853", "radau5", "bdf", "esdirk43")),
)
FIXED = (
    "explicit_euler",
    *(pytest.param(n, marks=LONG) for n in ("velocity_verlet", "implicit_euler", "bdf")),
)
TIMES = [0.1, 0.1, 0.37, 1.0]


@pytest.mark.parametrize("name", ADAPTIVE)
def test_adaptive_methods(name: str) -> None:
    compare(known_system(), f"integrators.{name}", TIMES, accuracy=1e-6)


@pytest.mark.by_turns
@pytest.mark.parametrize("name", ADAPTIVE)
@pytest.mark.parametrize("accuracy", [1e-4, 0.1])
def test_a_program_runs_with_another_accuracy_than_it_was_made_for(name: str, accuracy: float) -> None:
    compare(known_system(), f"integrators.{name}", TIMES, made_for=1e-7, accuracy=accuracy)


def test_tolerances_that_were_passed_do_not_follow_the_accuracy() -> None:
    tolerances = {"relative_tolerance": {"q": 1e-5}, "absolute_tolerance": {"u": 1e-9}}
    compare(oscillator(), "integrators.dormand_prince_853", TIMES, made_for=1e-7, accuracy=1e-3, **tolerances)


def test_only_a_method_with_a_tune_function_has_an_entry_for_the_accuracy() -> None:
    method = cosim.registry().get("integrator", "integrators.radau5")

    def tuned_coefficients(self: Any, system: cosim.System) -> Any:
        coefficients = method.coefficients(self, system)
        settings = Settings(fixed_step=self.fixed_step or 0.0, step_accuracy=self.step_accuracy)
        method.tune_function(np.frombuffer(settings), coefficients)
        return coefficients

    untuned = type("Untuned", (method,), {"tune_function": None, "coefficients": tuned_coefficients})
    assert "lowered_accuracy" in Program(oscillator(), method).functions
    assert "lowered_accuracy" not in Program(oscillator(), untuned).functions


@pytest.mark.parametrize("name", FIXED)
def test_fixed_steps(name: str) -> None:
    system = oscillator()
    compare(system, f"integrators.{name}", TIMES, fixed_step=0.03)


def test_inputs_and_parameters_between_steps() -> None:
    writes = {0.37: [("spring.force", 2.0)], 1.0: [("spring.stiffness", 9.0), ("spring.x", 0.25)]}
    compare(oscillator(), "integrators.dormand_prince_853", TIMES, writes, accuracy=1e-7)


def four_bar() -> cosim.System:
    """A four-bar linkage whose loop is slightly open at the start."""
    model = Multibody("four_bar", gravity=(0, -9.81, 0))
    for name, length in {"crank": 0.4, "coupler": 1.0, "rocker": 0.8}.items():
        model.body(name, mass=length, center_of_mass=(length / 2, 0, 0), inertia=(0.001, length, length))
    model.joint("pin", child="crank", q=1.0)
    model.joint("pin", child="coupler", parent="crank", frame_on_parent=(0.4, 0, 0), q=-0.5)
    model.joint("pin", child="rocker", frame_on_parent=(1.0, 0, 0), q=1.5)
    points = {"point1": (1, 0, 0), "point2": (0.8, 0, 0)}
    model.add("mechanics.ball_constraint", "closure", body1="coupler", body2="rocker", **points)
    return model.build()


@LONG
def test_constraints_are_met_at_the_start_and_at_each_step() -> None:
    compare(four_bar(), "integrators.dormand_prince", [0.2, 0.5], accuracy=1e-6)


@LONG
def test_the_same_bytes_in_plain_python() -> None:
    """The other tests compare two runs of one process; this one compares compiled and plain Python."""
    assert results_in_other_mode(Bytes, "run") == Bytes.run()


class Bytes:
    @classmethod
    def run(cls) -> list[str]:
        run = compare(oscillator(), "integrators.radau5", TIMES, accuracy=1e-6)
        return [run.arrays[name].tobytes().hex() for name in ("y", "memory", "times")]


class Diode(cosim.Component):
    """Chua's circuit, whose kinks end steps."""

    x = cosim.auxiliary_state(start=0.7)
    y = cosim.auxiliary_state()
    z = cosim.auxiliary_state()

    @cosim.kernel
    def law(x, y, z, x_dot, y_dot, z_dot):
        current = -0.714 * x - 0.2145 * (abs(x + 1.0) - abs(x - 1.0))
        x_dot[0] = 15.6 * (y - x - current)
        y_dot[0] = x - y + z
        z_dot[0] = -28.0 * y


@pytest.mark.parametrize("name", ["tsitouras", pytest.param("radau5", marks=LONG)])
def test_kinks(name: str) -> None:
    model = cosim.Model("circuit")
    model.add(Diode, "diode")
    compare(model.build(), f"integrators.{name}", [0.2, 1.5, 3.0], accuracy=1e-6)
