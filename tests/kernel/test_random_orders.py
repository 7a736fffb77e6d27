"""Two events of one instant with random handlers: a derivative is that of both sides, or there is none."""

from __future__ import annotations

import collections

import numpy as np
import pytest
from how_many import many

import cosim


class Two(cosim.Component):
    """Law: r' = s' = 1, u' and v' are polynomials; r and s reach a level each, whose handlers are affine."""

    one = cosim.parameter(default=0.5)
    two = cosim.parameter(default=0.5)
    flow = cosim.parameter(shape=6, default=(0, 0, 0, 0, 0, 0))
    at_one = cosim.parameter(shape=6, default=(1, 0, 0, 1, 0, 0))
    at_two = cosim.parameter(shape=6, default=(1, 0, 0, 1, 0, 0))
    falls = cosim.parameter(shape=2, default=(0, 0))
    r = cosim.auxiliary_state()
    s = cosim.auxiliary_state()
    u = cosim.auxiliary_state(start=1.0)
    v = cosim.auxiliary_state(start=0.5)

    @cosim.kernel
    def derivatives(flow, u, v, r_dot, s_dot, u_dot, v_dot):
        r_dot[0] = 1.0
        s_dot[0] = 1.0
        u_dot[0] = flow[0] * u + flow[1] * v + flow[4] * u * v
        v_dot[0] = flow[2] * u + flow[3] * v + flow[5] * u * v

    @cosim.witness(direction="both")
    def first(r, one):
        return r - one

    @cosim.witness(direction="rising")
    def second(s, two):
        return s - two

    @cosim.on(first, does="unrestricted")
    @cosim.kernel
    def pass_one(at_one, falls, u, v, r, u_next, v_next, r_next):
        u_next[0] = at_one[0] * u + at_one[1] * v + at_one[4]
        if at_one[2] != 0.0:
            v_next[0] = at_one[2] * u + at_one[3] * v + at_one[5]
        r_next[0] = r - falls[0]

    @cosim.on(second, does="unrestricted")
    @cosim.kernel
    def pass_two(at_two, falls, u, v, s, u_next, v_next, s_next):
        if at_two[2] != 0.0:
            u_next[0] = at_two[0] * u + at_two[1] * v + at_two[4]
        v_next[0] = at_two[2] * u + at_two[3] * v + at_two[5]
        s_next[0] = s - falls[1]


SIGNALS = ["m.u", "m.v", "m.r", "m.s"]
OPTIONS = {"until": 0.8, "output_interval": 0.8, "accuracy": 1e-11, "maximum_step": 0.02}


def last_values(system: cosim.System, values: dict, by: str, move: float) -> tuple[np.ndarray, cosim.Result]:
    """The last values of the signals of a run whose first level is moved, and its result."""
    state = system.default_state()
    for path, value in values.items():
        state[path] = value
    state["m.one"] = 0.5 + move
    result = cosim.simulate(system, state=state, derivatives=[by], **OPTIONS)
    return np.array([result[name][-1] for name in SIGNALS]), result


def one_sided_slope(system: cosim.System, values: dict, step: float) -> tuple[np.ndarray, np.ndarray]:
    """The derivative by the first level and the value at it, extrapolated from one side."""
    half_way, end = (last_values(system, values, "m.two", move)[0] for move in (0.5 * step, step))
    return (end - half_way) / (0.5 * step), 2.0 * half_way - end


def check_random_handlers(system: cosim.System, draw: np.random.Generator, zeros: float) -> str:
    """Whether a run of random handlers has the derivatives of "both sides" or "none".

    `zeros` is the share of coefficients that are 0.
    """

    def numbers(count: int) -> np.ndarray:
        return np.where(draw.uniform(size=count) < zeros, 0.0, draw.uniform(-1.0, 1.0, count))

    falls = draw.choice([0.0, 0.6, -0.6], 2)  # far enough not to come back before the end
    values = {"m.flow": 0.5 * numbers(6), "m.falls": falls}
    values |= {"m.at_one": numbers(6), "m.at_two": numbers(6)}
    values["m.at_one"][0] += draw.integers(2)
    values["m.at_two"][3] += draw.integers(2)
    _, result = last_values(system, values, "m.one", 0.0)
    slopes = np.array([result.derivative(name, "m.one")[-1] for name in SIGNALS])
    if np.isnan(slopes).any():
        assert [f.kind for f in result.findings if f.kind.endswith("derivative")] == ["no derivative"]
        return "none"
    for step in (1e-4, -1e-4):
        slope, value = one_sided_slope(system, values, step)
        assert slopes == pytest.approx(slope, rel=2e-3, abs=2e-3), values
        assert value == pytest.approx([result[name][-1] for name in SIGNALS], abs=1e-6), values
    return "both sides"


def check_many(seed: int, count: int) -> None:
    model = cosim.Model("orders")
    model.add(Two(), "m")
    system, draw = model.build(), np.random.default_rng(seed)
    # with 60 and with 90 % zeros by turns, so that some handlers commute and others do not
    outcomes = collections.Counter(
        check_random_handlers(system, draw, 0.6 + 0.3 * (n % 2)) for n in range(count)
    )
    assert min(outcomes["none"], outcomes["both sides"]) > 0.15 * count


def test_random_handlers() -> None:
    check_many(3, many(60))


@pytest.mark.thorough
def test_two_thousand_random_handlers() -> None:
    check_many(5, 2000)
