"""Adjoint derivatives of native FMUs for FMI 3.0: values, and cost for many parameters."""

from __future__ import annotations

import ctypes
import math
import time
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from native_slave import path, slave
from native_tools import export_native, needs_compiler

import cosim

assert path and slave  # fixtures
pytestmark = needs_compiler


class Ring(cosim.Component):
    """Law: y_i' = -k_i y_i^3 + k_(i+1) sin t, of a hundred states."""

    k = cosim.parameter(shape=100, default=1.0 + 0.01 * np.arange(100.0))
    y = cosim.auxiliary_state(shape=100, start=np.full(100, 0.3))

    @cosim.kernel
    def derivatives(t, k, y, y_dot):
        for i in range(100):
            y_dot[i] = -k[i] * y[i] * y[i] * y[i] + k[(i + 1) % 100] * math.sin(t)


def test_adjoint_derivatives_are_the_transposed_directional_ones(slave: Any) -> None:
    slave.instantiate()
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    library, instance = ctypes.CDLL(slave.dll._name), ctypes.c_void_p(slave.component)
    unknowns = [slave.references[name] for name in ("der(osc.v)", "osc.position")]
    knowns = [slave.references[name] for name in ("osc.x", "osc.v", "osc.force")]

    def derivative(name: str, seed: list[float], size: int) -> list[float]:
        values = (ctypes.c_double * size)()
        status = getattr(library, name)(
            instance,
            *((ctypes.c_uint32 * 2)(*unknowns), ctypes.c_size_t(2)),
            *((ctypes.c_uint32 * 3)(*knowns), ctypes.c_size_t(3)),
            *(
                (ctypes.c_double * len(seed))(*seed),
                ctypes.c_size_t(len(seed)),
                values,
                ctypes.c_size_t(size),
            ),
        )
        assert status == 0
        return list(values)

    columns = [derivative("fmi3GetDirectionalDerivative", unit, 2) for unit in np.eye(3).tolist()]
    assert columns == [[-25.0, 1.0], [-0.2, 0.0], [0.5, 0.0]]
    rows = derivative("fmi3GetAdjointDerivative", [2.0, -3.0], 3)
    assert rows == pytest.approx([2.0 * a - 3.0 * b for a, b in columns], rel=1e-15)


def test_an_adjoint_derivative_costs_a_few_directional_ones(tmp_path: Path) -> None:
    """By a hundred parameters far less than a hundred directional ones; the bound of 20 is generous."""
    model = cosim.Model("ring")
    model.add(Ring(), "x")
    selection = {"all": False, "outputs": ["x.y"], "expose": ["x.y"], "parameters": ["x.k"]}
    path = export_native(model, tmp_path / "ring.fmu", fmi=3, exact_derivatives=True, **selection)
    description = fmpy.read_model_description(str(path))
    references = {v.name: v.valueReference for v in description.modelVariables}
    slave = fmpy.instantiate_fmu(fmpy.extract(str(path)), description, "CoSimulation")
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    slave.doStep(0.0, 0.5)
    library, instance = ctypes.CDLL(slave.dll._name), ctypes.c_void_p(slave.component)
    unknowns, knowns = ((ctypes.c_uint32 * 1)(references[name]) for name in ("der(x.y)", "x.k"))
    one, hundred = ctypes.c_size_t(1), ctypes.c_size_t(100)

    def derivative(name: str, seed: np.ndarray) -> list[float]:
        values, seed_values = (ctypes.c_double * 100)(), (ctypes.c_double * 100)(*seed)
        assert (
            getattr(library, name)(
                instance, unknowns, one, knowns, one, seed_values, hundred, values, hundred
            )
            == 0
        )
        return list(values)

    # the adjoint derivative is the sum of the directional ones with weights
    weights = np.linspace(-1.0, 1.0, 100)
    columns = [derivative("fmi3GetDirectionalDerivative", unit) for unit in np.eye(100)]
    expected = [float(np.dot(column, weights)) for column in columns]
    assert derivative("fmi3GetAdjointDerivative", weights) == pytest.approx(expected, rel=1e-13, abs=1e-15)

    # processor time of 200 calls
    seconds = {}
    for name in ("fmi3GetDirectionalDerivative", "fmi3GetAdjointDerivative"):
        start = time.process_time()
        for _ in range(200):
            derivative(name, weights)
        seconds[name] = time.process_time() - start
    assert seconds["fmi3GetAdjointDerivative"] < 20 * seconds["fmi3GetDirectionalDerivative"]
    slave.terminate()
    slave.freeInstance()
