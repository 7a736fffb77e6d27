"""Dense output of a constant is exact to the bit; that of a straight line is off by a rounding."""

import hashlib
import math
from fractions import Fraction

import numpy as np
import pytest

import cosim
from cosim import kit
from cosim.testing.known_solution import KnownSolution
from cosim.testing.other_mode import results_in_other_mode

TINY = 5e-324
SIZES = [0.0, -0.0, 0.7, 1.0 / 3.0, 1e-300, TINY, 1e300, -0.7, -1e300, -TINY]
SLOPES = [1.0, 0.1, -1.0 / 3.0, 1e-9, 37.0]
FRACTIONS = [0.25, 0.5, math.nextafter(0.5, 1.0), 1e-9, 1.0 - 1e-9, *np.linspace(0.013, 0.991, 29)]
METHODS = [
    entry.id for entry in cosim.registry().entries("integrator") if entry.id.startswith("integrators.")
]
LIBRARIES = [name for name in METHODS if name.split(".")[1].startswith(("scipy", "cvode"))]
OURS = [name for name in METHODS if name not in LIBRARIES]
SECOND_ORDER = ("semi_implicit_euler", "velocity_verlet", "yoshida_4")
ROUNDING = Fraction(101, 100)  # of the last place of the larger end


class Line(cosim.Component):
    """Straight lines and constants.

    Law: x' = v, v' = 0, ramp' = slope, constant' = 0.
    """

    x = cosim.position()
    v = cosim.speed()
    ramp = cosim.auxiliary_state()
    constant = cosim.auxiliary_state()
    slope = cosim.parameter(default=0.0)

    @cosim.kernel
    def derivatives(v, slope, x_dot, v_dot, ramp_dot, constant_dot):
        x_dot[0] = v
        v_dot[0] = 0.0
        ramp_dot[0] = slope
        constant_dot[0] = 0.0


def lines_system():
    """Lines with many slopes and starts, beside an oscillation that makes steps of different lengths."""
    model = cosim.Model("lines")
    for size in SIZES:
        for slope in SLOPES:
            if 0.0 < abs(size) < 1e-100 or abs(size) > 1e100:
                slope *= abs(size)
            name = f"line_{len(model.parts)}"
            model.add(Line, name, x=size, v=slope, ramp=-size, constant=size, slope=-slope)
    model.add(KnownSolution, "known")
    return model.build()


def places_of(system, names):
    """Return the indices in y of the variables with these names."""
    return [v.slot.offset for v in system.variables.values() if v.path.split(".")[1] in names]


def steps_of(name, system, count):
    """Yield the integrator, its time and both ends of each step; the last one is redone, shorter."""
    cls = cosim.registry().get("integrator", name)
    adaptive = cls(fixed_step=0.1).capabilities.adaptive if name in OURS else True
    fixed = [{"fixed_step": 0.07}] if name in OURS else []
    for options in [*fixed, *([{"accuracy": 1e-6}] if adaptive else [])]:
        state = system.default_state().realize(cosim.Stage.ACCELERATION)
        integrator = cls(**options)
        integrator.initialize(system, state)
        for _ in range(count):
            start = state.y.copy()
            assert integrator.step(system, state, 10.0) == kit.StepCode.DONE
            yield integrator, state.time, start, state.y.copy()
        event = 0.4 * integrator.previous_time + 0.6 * state.time
        assert integrator.redo(system, state, event) == kit.StepCode.DONE
        yield integrator, state.time, start, state.y.copy()


def times_inside(start, end):
    """Return times inside a step."""
    times = [start + fraction * (end - start) for fraction in FRACTIONS]
    return [t for t in times if start < t < end]


def off_line(t, from_start, to_end, start, end, value):
    """Return the distance of a value from a line between two points, in last places of the larger end."""
    part = (Fraction(t) - Fraction(from_start)) / (Fraction(to_end) - Fraction(from_start))
    exact = Fraction(start) + part * (Fraction(end) - Fraction(start))
    return abs(Fraction(value) - exact) / Fraction(float(np.spacing(max(abs(start), abs(end)))))


def may_be_off(t, from_start, to_end, start, end, values, places):
    """Return those places whose values may be off the line by more than 0.9 last places.

    It saves time: `off_line` computes with rational numbers.
    """
    if np.finfo(np.longdouble).nmant < 60:  # no more digits than a double: all may be
        return places
    t, from_start, to_end = map(np.longdouble, (t, from_start, to_end))
    start, end, values = (vector[places].astype(np.longdouble) for vector in (start, end, values))
    exact = start + (t - from_start) / (to_end - from_start) * (end - start)
    last_place = np.spacing(np.maximum(np.abs(start), np.abs(end)).astype(np.float64))
    return np.array(places)[~(np.abs(values - exact) <= 0.9 * last_place)]


def test_may_be_off_leaves_out_values_on_the_line_alone() -> None:
    start, end = np.array([1.0, 1.0, 1e300, 0.0]), np.array([2.0, 2.0, -1e300, math.nan])
    on_line, off = 1.25, math.nextafter(1.25, 2.0) + 4 * math.ulp(1.25)
    values = np.array([on_line, off, 5e299, 0.0])
    assert [*may_be_off(0.25, 0.0, 1.0, start, end, values, [0, 1, 2, 3])] == [1, 3]


def test_all_methods_are_tried() -> None:
    assert len(OURS) >= 19
    assert len(LIBRARIES) >= 4


@pytest.mark.few(6)
@pytest.mark.parametrize("name", OURS)
def test_dense_output_meets_ends_and_keeps_constants_and_lines(name) -> None:
    system = lines_system()
    out = np.zeros(system.ny)
    constants = places_of(system, ("v", "constant"))
    lines = places_of(system, ("x", "ramp"))
    lines = [m for m in lines if abs(system.default_state().y[m]) != TINY]
    curved = {v.slot.offset for v in system.variables.values() if v.path.startswith("known.")}
    constants, lines = [sorted(set(places) - curved) for places in (constants, lines)]
    assert len(constants) == 2 * len(SIZES) * len(SLOPES) and len(lines) == 80
    tried = 0
    for integrator, time, start, end in steps_of(name, system, 8):
        begin = integrator.previous_time
        for t, y in ((begin, start), (time, end)):
            integrator.interpolate(t, out)
            assert out.tobytes() == y.tobytes()
        is_same = start.view(np.int64)[constants] == end.view(np.int64)[constants]
        assert np.array_equal(start[constants], end[constants])  # 0.0 may follow -0.0
        same_bytes = np.array(constants)[is_same]
        for t in times_inside(begin, time):
            tried += 1
            integrator.interpolate(t, out)
            assert np.array_equal(out[constants], start[constants])
            assert out[same_bytes].tobytes() == start[same_bytes].tobytes()
            for m in may_be_off(t, begin, time, start, end, out, lines):
                assert off_line(t, begin, time, start[m], end[m], out[m]) <= ROUNDING, (m, t)
    assert tried > 8 * 20


@pytest.mark.parametrize("name", LIBRARIES)
def test_libraries_keep_constants(name) -> None:
    pytest.importorskip("sksundae" if name.endswith("cvode") else "scipy")
    system = lines_system()
    out = np.zeros(system.ny)
    constants = [m for m in places_of(system, ("constant",)) if system.default_state().y[m] != 0.0]
    for integrator, time, start, _ in steps_of(name, system, 4):
        for t in times_inside(integrator.previous_time, time):
            integrator.interpolate(t, out)
            assert np.array_equal(out[constants], start[constants])


class Conserved(cosim.Component):
    """Two tanks with a flow between them, first fast, then slow; together they hold 0.7."""

    left = cosim.auxiliary_state(start=0.6)
    right = cosim.auxiliary_state(start=0.1)

    @cosim.kernel
    def derivatives(left, right, left_dot, right_dot):
        flow = 5.0 * left * left - 3.0 * right
        left_dot[0] = -flow
        right_dot[0] = flow


@pytest.mark.few(5)
@pytest.mark.parametrize("name", [name for name in OURS if name.split(".")[1] not in SECOND_ORDER])
def test_a_conserved_sum_is_off_by_a_few_roundings(name) -> None:
    """The sum cannot be constant to the bit, since each state is rounded."""
    model = cosim.Model("conserved")
    model.add(Conserved, "flow")
    system = model.build()
    out = np.zeros(2)
    largest_error = 0.0
    for integrator, time, start, end in steps_of(name, system, 30):
        allowed = max(abs(start.sum() - 0.7), abs(end.sum() - 0.7)) + 3.0 * np.spacing(0.7)
        largest_error = max(largest_error, abs(end.sum() - 0.7))
        for t in times_inside(integrator.previous_time, time):
            integrator.interpolate(t, out)
            assert abs(out.sum() - 0.7) <= allowed
    assert largest_error <= 30.0 * np.spacing(0.7)


class Digests:
    """Digests of dense output inside the steps of all methods."""

    @classmethod
    def digests(cls) -> list[str]:
        """Return the name of each method and a digest."""
        system, digests = lines_system(), []
        out = np.zeros(system.ny)
        for name in OURS:
            digest = hashlib.sha256()
            for integrator, time, _, _ in steps_of(name, system, 2):
                for t in times_inside(integrator.previous_time, time)[:8]:
                    integrator.interpolate(t, out)
                    digest.update(out.tobytes())
            digests.append(f"{name} {digest.hexdigest()}")
        return digests


def test_compiled_is_plain_python() -> None:
    assert results_in_other_mode(Digests, "digests") == Digests.digests()
