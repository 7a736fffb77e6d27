"""The PID controller, compared with SciPy while it is linear, and its protection against windup."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal

import cosim
from cosim.testing import MeasureContract
from cosim_signals.pid import Pid


class TestPid(MeasureContract):
    make = staticmethod(lambda: Pid(gain=0.5, lower=-0.3, upper=0.2))


class TestProportional(MeasureContract):
    make = staticmethod(lambda: Pid(gain=0.5, controller="P"))


def simulate_loop(until: float, **values: object) -> cosim.Result:
    model = cosim.Model("loop")
    model.add("signals.step", "setpoint", height=1.0, start_time=0.1)
    model.add("signals.pid", "control", setpoint="setpoint", measurement="plant", **values)
    model.add(
        "signals.transfer_function", "plant", source="control", numerator=[2.0], denominator=[1.0, 1.0, 0.0]
    )
    signals = ["plant", "control", "control.unlimited", "control.kinks"]
    return model.simulate(until=until, accuracy=1e-9, output_interval=0.01, signals=signals)


@pytest.mark.parametrize("controller", ["PID", "PI", "PD", "P"])
def test_a_loop_within_the_bounds_is_linear(controller: str) -> None:
    k, ti, td, n, wp, wd = 1.5, 0.8, 0.3, 12.0, 0.7, 0.4
    result = simulate_loop(
        4.0,
        gain=k,
        integral_time=ti,
        derivative_time=td,
        derivative_filter=n,
        setpoint_weight=wp,
        derivative_setpoint_weight=wd,
        controller=controller,
    )
    # Both transfer functions have the denominator s (1 + s Td / N); setpoint and measurement have
    # different numerators.
    i, d = ("I" in controller) * 1.0, ("D" in controller) * 1.0
    filtered = np.array([td / n, 1.0])
    from_setpoint = k * np.polyadd(np.polymul([wp, i / ti], filtered), [d * wd * td, 0.0, 0.0])
    from_measurement = k * np.polyadd(np.polymul([1.0, i / ti], filtered), [d * td, 0.0, 0.0])
    plant = np.polymul([1.0, 1.0, 0.0], np.polymul([1.0, 0.0], filtered))
    closed = signal.lti(2.0 * from_setpoint, np.polyadd(plant, 2.0 * from_measurement))
    t, y = signal.step(closed, T=np.linspace(0.0, 3.9, 391))
    assert np.interp(t + 0.1, result.time, result["plant"]) == pytest.approx(y, abs=3e-4)


def test_anti_windup_reduces_the_overshoot() -> None:
    values = {"gain": 2.0, "integral_time": 0.5, "derivative_time": 0.3, "lower": -0.4, "upper": 0.4}
    protected, unprotected = simulate_loop(20.0, **values), simulate_loop(20.0, **values, anti_windup=1e9)
    assert max(protected["control"]) == 0.4 and min(protected["control"]) == -0.4
    assert max(protected["plant"]) < 1.35 and max(unprotected["plant"]) > 1.6
    assert protected["plant"][-1] == pytest.approx(1.0, abs=0.07)
    assert protected["control.kinks"][-1] >= 2


def test_units_follow_from_the_set_point_and_the_bounds() -> None:
    model = cosim.Model("units")
    model.add("signals.step", "setpoint", height="20 rad/s")
    model.add("signals.ramp", "speed", height="60 rev/min")
    model.add(
        "signals.pid", "control", setpoint="setpoint", measurement="speed", upper="12 V", gain="100 mV.s/rad"
    )
    system = model.build()
    assert system.signal("control").units == ("V",) and system.signal("control.integral").units == ("rad/s",)
    simulator = cosim.Simulator(system, accuracy=1e-6)
    simulator.initialize()
    assert simulator.state.realize()["control.unlimited"] == pytest.approx(2.0)  # 0.1 V.s/rad of 20 rad/s


def test_a_gain_of_zero_and_bounds_in_the_wrong_order() -> None:
    assert simulate_loop(0.3, gain=0.0)["plant"][-1] == 0.0
    with pytest.raises(cosim.CosimError, match="lower bound"):
        simulate_loop(0.3, lower=1.0, upper=0.0)
