"""`cosim describe`: parameters with their defaults, kinks, and the code of kernel functions."""

from __future__ import annotations

import pytest
from how_many import FACTOR

import cosim
from cosim.cli import main
from cosim.kit import kernel_code
from cosim_workbench.describe_command import describe

Captured = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("id", "line"),
    [
        ("signals.pid", "parameter derivative_time s of the derivative part; at least 0; default 0.1"),
        ("signals.pid", "parameter upper upper bound of the value; none by default"),
        ("signals.pid", "option controller which parts it has; one of 'PID', 'PI', 'PD', 'P'; default 'PID'"),
        ("mechanics.rigid_body", "parameter mass kg mass; more than 0; has to be given"),
        ("mechanics.pin", "parameter frame_on_child m X_BM, pose of M on the child; default identity"),
        (
            "mechanics.linear_bushing",
            "parameter enabled 0 turns the element off; True or False; default True",
        ),
    ],
)
def test_defaults_bounds_and_choices_of_parameters(id: str, line: str, capsys: Captured) -> None:
    assert main(["describe", id]) == 0
    assert line in [" ".join(text.split()) for text in capsys.readouterr().out.splitlines()]


def test_describe_shows_the_code_of_kernel_functions(capsys: Captured) -> None:
    assert main(["describe", "--code", "mechanics.two_point_damper"]) == 0
    output = capsys.readouterr().out
    assert "pull(rate: real, damping: real" in output
    assert "k_pull(double rate, double damping" in output
    assert "    tension.at[0] = damping * rate;" in output


@pytest.mark.thorough
def test_the_code_of_every_component_can_be_shown() -> None:
    classes = [entry.cls for entry in cosim.registry().entries("component")]
    described = classes if FACTOR > 1 else classes[::3]
    functions = [code for cls in described for code in kernel_code(cls)]
    assert len(functions) > 2 * len(described) > 50 and all(code.typed and code.in_c for code in functions)


@pytest.mark.parametrize("name", ["dormand_prince", "radau5", "bdf", "generalized_alpha"])
def test_steps_of_a_method_with_error_control_end_at_kinks(name: str) -> None:
    text = describe(f"integrators.{name}")
    assert "error control end" in text
    assert "a power below 2" in text


@pytest.mark.parametrize("name", ["velocity_verlet", "runge_kutta_4", "scipy_bdf", "cvode"])
def test_other_integrators_step_over_kinks(name: str) -> None:
    assert "kinks: stepped over" in describe(f"integrators.{name}")


def test_what_a_component_does_at_kinks() -> None:
    assert "kinks: announced" in describe("signals.limiter")
    assert "error control end" in describe("measures.rate_limiter")
    assert "kinks" not in describe("measures.integrate")
