"""A witness that touches its level without crossing it leaves a run without derivatives from there on."""

from __future__ import annotations

import math

import numpy as np
import pytest
from how_many import many

import cosim

METHODS = ["runge_kutta_merson", "dormand_prince", "radau5", "bdf"]


class Thrown(cosim.Component):
    """Law: x'' = -2. Its witness is the distance from `top`; from v = 2 the highest point is 1, at 1 s."""

    top = cosim.parameter(default=1.0)
    idle = cosim.parameter(default=1.0)  # nothing depends on it
    x = cosim.position()
    v = cosim.speed(start=2.0)

    @cosim.kernel
    def derivatives(v, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = -2.0

    @cosim.witness(direction="rising")
    def reaches(x, top):
        return x - top

    @cosim.on(reaches, does="unrestricted")
    @cosim.kernel
    def turn(v, v_next):
        v_next[0] = -v


class Swing(cosim.Component):
    """Law: x'' = -x. Its witness is the distance from `low`; from x = 1 the lowest point is -1, at pi s."""

    low = cosim.parameter(default=-1.0)
    x = cosim.position(start=1.0)
    v = cosim.speed()

    @cosim.kernel
    def derivatives(x, v, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = -x

    @cosim.witness(direction="falling")
    def reaches(x, low):
        return x - low

    @cosim.on(reaches, does="unrestricted")
    @cosim.kernel
    def push(v, v_next):
        v_next[0] = v + 0.1


class Rebound(cosim.Component):
    """Law: z' = -z; where z falls to 0.5, 0.3 is added to it."""

    z = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def derivatives(z, z_dot):
        z_dot[0] = -z

    @cosim.witness
    def reaches(z):
        return z - 0.5

    @cosim.on(reaches, does="unrestricted")
    @cosim.kernel
    def kick(z, z_next):
        z_next[0] = z + 0.3


def result_of(part: cosim.Component, until: float, path: str, **options) -> cosim.Result:
    model = cosim.Model("touches")
    model.add(part, "d")
    return model.simulate(until=until, derivatives=[path], output_interval=until, **options)


def findings_without_derivative(result: cosim.Result) -> list[cosim.Finding]:
    """The findings that say that there is no derivative."""
    return [finding for finding in result.findings if finding.kind == "no derivative"]


@pytest.mark.parametrize("top", [1.0 - 1e-3, 1.0 + 1e-3])
def test_a_witness_that_nearly_touches_its_level(top: float) -> None:
    """Just below and just above the highest point there are derivatives."""
    result = result_of(Thrown(top=top), 1.5, "d.v", accuracy=1e-12)
    assert not findings_without_derivative(result)

    def end_position(v):
        """x at 1.5 s; below the highest point the speed turns round at `top`."""
        if top > 1.0:
            return v * 1.5 - 1.5**2
        speed_at_top = (v * v - 4.0 * top) ** 0.5
        time_since = 1.5 - (v - speed_at_top) / 2.0
        return top - speed_at_top * time_since - time_since * time_since

    expected_slope = end_position(2.0 + 1e-30j).imag / 1e-30  # by a step along the imaginary axis
    assert result.derivative("d.x", "d.v")[-1] == pytest.approx(expected_slope, rel=1e-9)


@pytest.mark.few(2)
@pytest.mark.parametrize("accuracy", [1e-6, 1e-10])
@pytest.mark.parametrize("method", METHODS)
def test_a_witness_that_touches_its_level(method: str, accuracy: float) -> None:
    """Rounding decides whether it crosses: in either case there is no derivative after it.

    The witness is quadratic in time there: a value within the accuracy is within its root in time.
    """
    options = {"integrator": f"integrators.{method}", "accuracy": accuracy}
    draw = np.random.default_rng(5)
    speeds = [2.0, *draw.uniform(0.2, 5.0, many(1)).tolist()]
    for speed in speeds:
        values = {"v": speed, "top": speed * speed / 4.0}
        result = result_of(Thrown(**values), 1.2 * speed, "d.v", **options)
        (finding,) = findings_without_derivative(result)
        assert "grazing" in finding.message and finding.witness == "d.turn"
        assert finding.time == pytest.approx(0.5 * speed, abs=0.5 * math.sqrt(accuracy))
        assert math.isnan(result.derivative("d.x", "d.v")[-1])
        # a parameter that moves nothing keeps its derivative of zero
        assert not findings_without_derivative(result_of(Thrown(**values), 1.2 * speed, "d.idle", **options))
        (finding,) = findings_without_derivative(result_of(Swing(x=speed, low=-speed), 4.0, "d.x", **options))
        assert finding.time == pytest.approx(math.pi, abs=20.0 * math.sqrt(accuracy))


def test_a_touch_has_no_gradient() -> None:
    model = cosim.Model("touches")
    model.add(Thrown(), "d")
    gradient = model.gradient("d.x", ["d.v"], until=1.5)
    assert np.isnan(gradient["d.v"]).all()


def test_a_crossing_in_a_last_step_that_is_as_short_as_rounding_is_not_a_touch() -> None:
    """A step may end 1e-11 s before its crossing: rates over the remainder are rounding."""
    for start in np.linspace(0.6, 3.0, 41).tolist():
        result = result_of(Rebound(z=start), 2.5, "d.z", accuracy=1e-10)
        assert not findings_without_derivative(result)
        # from 0.8 it falls to 0.5 in log(1.6) s
        assert len(result.events) == 1 + int((2.5 - math.log(2.0 * start)) / math.log(1.6))
        # a higher start is the same course later: dz/dstart = -z' / start = z / start
        assert result.derivative("d.z", "d.z")[-1] == pytest.approx(result["d.z"][-1] / start, rel=1e-8)
