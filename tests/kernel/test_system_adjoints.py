"""Adjoints of all that a system computes: against closed forms, and against its tangents."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tangent_parts import InPython, Valve, engine, oscillator

import cosim
from cosim.kit import kernel_derivatives, tangent_of
from cosim.system.system_adjoints import SystemAdjoints
from cosim.testing import check_adjoints
from cosim_compiler.derivatives.tangents import NoTangentError

FEWEST_KERNELS = 300  # of all registered components: else the list was not read


def weights_of(system: cosim.System, path: str) -> np.ndarray:
    """1 for one computed variable and 0 for all others."""
    weights = np.zeros(system.arrays(system.default_state())[5].size)
    weights[system.signal(path).slot.offset] = 1.0
    return weights


def test_one_part_against_its_closed_form() -> None:
    system, state = oscillator()
    saved = state.to_bytes()
    pull = 1.5 - 8.0 * 0.027 + 0.5 * 0.04
    adjoint = system.adjoints.along(state, weights_of(system, "o.power"))

    def of(path: str) -> float:
        slot = system.written_slot(path)
        return float(adjoint[slot.array][slot.offset])

    expected = {
        "o.height": -24.0 * 0.09 * -0.2 * 0.7,
        "o.speed": (pull + 0.04) * 0.7,
        "o.mass": 0.0,
        "o.stiffness": -0.027 * -0.2 * 0.7,
        "o.damping": 0.04 * -0.2 * 0.7,
        "o.force": -0.2 * 0.7,
    }
    assert {path: of(path) for path in expected} == pytest.approx(expected, rel=1e-14)
    assert adjoint["time"] == pytest.approx(pull * -0.2, rel=1e-14)
    assert state.to_bytes() == saved


@pytest.mark.thorough
@pytest.mark.parametrize("angle", [0.0, 0.2])
def test_every_block_of_a_mount_against_its_tangent(angle: float) -> None:
    """Also where it stands still: a branch by == that saves work is no law."""
    system = engine()
    state = system.default_state()
    state.set_y(np.array(state.y) + angle * np.cos(np.arange(system.ny)))
    assert check_adjoints(state) > 10


@pytest.mark.thorough
def test_a_whole_evaluation_against_its_tangent() -> None:
    system = engine()
    state = system.default_state()
    state.set_y(np.array(state.y) + 0.1 * np.sin(np.arange(system.ny)))
    state.realize(cosim.Stage.REPORT)
    draw = np.random.default_rng(1)
    weights = np.zeros(system.arrays(state)[5].size)
    weights[: system.ny] = draw.uniform(-1.0, 1.0, system.ny)
    back = system.adjoints.along(state, weights)
    y = draw.uniform(-1.0, 1.0, system.ny)
    mass, stiffness = (system.written_slot(path) for path in ("engine.mass", "rubber.stiffness"))
    forward = system.tangents.moved(
        state, {"engine.mass": 2.0, "rubber.stiffness": np.arange(6.0), "time": 1.0}, y
    )
    change = back["y"] @ y + 2.0 * back["p"][mass.offset] + back["time"]
    change += back["p"][stiffness.offset : stiffness.offset + 6] @ np.arange(6.0)
    assert change == pytest.approx(float(weights @ forward["c"]), rel=1e-12)


def test_each_block_of_a_part_against_its_tangent() -> None:
    _, state = oscillator()
    assert check_adjoints(state) > 0
    state["o.speed"] = 0.0  # a kink
    assert check_adjoints(state) > 0


def test_the_adjoint_of_an_authors_tangent_follows_from_it() -> None:
    """The iteration of the function is not followed: its tangent along 1 is its slope."""
    model = cosim.Model("m")
    model.add(Valve(), "valve")
    system = model.build()
    adjoint = system.adjoints.along(system.default_state(), weights_of(system, "valve.flow"))
    slot = system.written_slot("valve.pressure")
    slope = 1.0 / 13.0 / (2.0 * math.sqrt(2.0))
    assert adjoint["d"][slot.offset] == pytest.approx(slope, rel=1e-14)


def scale(values):
    for i in range(2):
        values[i] *= 2.0


@tangent_of(scale)
def scale_tangent(values, values_dot):
    for i in range(2):
        values_dot[i] *= 2.0


class Scaled(cosim.Component):
    """Law: twice x, by a function that has its own tangent and writes to a view."""

    x = cosim.input(shape=2)
    out = cosim.output(shape=2)

    @cosim.kernel
    def evaluate(x, out):
        out[0], out[1] = x[0], x[1]
        scale(out)


def test_a_function_without_an_adjoint_is_described_with_its_line() -> None:
    (kernel,) = kernel_derivatives(Scaled)
    assert kernel.refusal == ""
    assert "evaluate: scale" in kernel.no_adjoint
    model = cosim.Model("m")
    model.add(Scaled(), "s")
    system = model.build()
    with pytest.raises(NoTangentError, match="scale.*author's tangent"):
        system.adjoints.along(system.default_state(), np.zeros(1))


@pytest.mark.thorough
def test_every_kernel_function_of_a_registered_component_has_an_adjoint() -> None:
    classes = [entry.cls for entry in cosim.registry().entries("component")]
    kernels = [kernel for cls in classes for kernel in kernel_derivatives(cls)]
    assert len(kernels) > FEWEST_KERNELS
    assert [f"{kernel.name}: {kernel.no_adjoint}" for kernel in kernels if kernel.no_adjoint] == []


def test_a_part_in_plain_python_has_no_adjoint() -> None:
    model = cosim.Model("m")
    model.add(InPython(), "slow")
    system = model.build()
    with pytest.raises(NoTangentError, match="slow.*plain Python"):
        system.adjoints.along(system.default_state(), np.zeros(1))


def test_the_check_finds_a_wrong_adjoint(monkeypatch: pytest.MonkeyPatch) -> None:
    _, state = oscillator()
    right = SystemAdjoints.reverse_walk

    def wrong(self, *arguments):
        y, *others = right(self, *arguments)
        return y * (1.0 + 1e-9), *others

    monkeypatch.setattr(SystemAdjoints, "reverse_walk", wrong)
    with pytest.raises(AssertionError, match="its adjoint gives"):
        check_adjoints(state)
