"""Handlers that round or compare have no derivative exactly where their result jumps, and one elsewhere."""

from __future__ import annotations

import math

import pytest

import cosim


class Counts(cosim.Component):
    """Law: x' = rate, z' = n; each second n is computed from x, in one of eight ways."""

    rate = cosim.parameter(default=1.0)
    limit = cosim.parameter(default=2.0)
    idle = cosim.parameter(default=1.0)  # nothing depends on it
    x = cosim.auxiliary_state()
    z = cosim.auxiliary_state()
    n = cosim.discrete(start=0.0)
    way = cosim.discrete(start=0, dtype=int)

    @cosim.kernel
    def derivatives(rate, n, x_dot, z_dot):
        x_dot[0] = rate
        z_dot[0] = n

    @cosim.every(1.0, offset=1.0, does="unrestricted")
    @cosim.kernel
    def count(x, limit, way, n_next):
        if way == 0:
            n_next[0] = math.floor(x)
        elif way == 1:
            n_next[0] = int(x)
        elif way == 2:
            n_next[0] = round(x + 0.5)
        elif way == 3:
            n_next[0] = 1.0 if x >= limit else 0.5
        elif way == 4:
            n_next[0] = x // 0.5
        elif way == 5:
            n_next[0] = x % 0.5
        elif way == 6:
            n_next[0] = math.ceil(x)
        else:
            n_next[0] = math.fmod(x, limit)


def slope_of_z(path: str, way: int, rate: float) -> tuple[float, list[cosim.Finding]]:
    """The derivative of z at the end, and the findings that say that there is none."""
    model = cosim.Model("counts")
    model.add(Counts(way=way, rate=rate), "d")
    result = model.simulate(until=3.5, derivatives=[path], output_interval=3.5)
    findings = [finding for finding in result.findings if finding.kind == "no derivative"]
    return float(result.derivative("d.z", path)[-1]), findings


CONTINUOUS = (5, 7)
"""The ways that are a remainder: between its jumps it moves as x does."""
JUMPS_AT_2 = (3, 7)
"""The ways that depend on the limit of 2; the others jump at each whole number."""


@pytest.mark.few(4)
@pytest.mark.parametrize("way", range(8))
def test_a_handler_that_rounds_or_compares_at_a_jump_has_no_derivative(way: int) -> None:
    """At a rate of 1 x is whole at each count; at a rate of 1.03 it is not."""
    for path in ("d.rate", "d.x"):
        slope, (finding,) = slope_of_z(path, way, 1.0)
        assert math.isnan(slope) and "one-sided" in finding.message and finding.witness == "d.count"
        assert finding.time == (2.0 if way in JUMPS_AT_2 else 1.0)
        slope, findings = slope_of_z(path, way, 1.03)
        assert not findings
        # z(3.5) = n(1) + n(2) + 0.5 n(3) with dn/dx = 1, and x = rate t + start
        slope_of_remainder = {"d.rate": 1.0 + 2.0 + 0.5 * 3.0, "d.x": 1.0 + 1.0 + 0.5}
        assert slope == pytest.approx(slope_of_remainder[path] if way in CONTINUOUS else 0.0, abs=1e-12)
    # what does not move x has a derivative also where the result jumps
    assert slope_of_z("d.idle", way, 1.0) == (pytest.approx(0.0), [])
    assert slope_of_z("d.z", way, 1.0) == (pytest.approx(1.0), [])
