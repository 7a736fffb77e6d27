"""The dependencies of each result of a kernel function on its arguments."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import cosim
from cosim_compiler import kernel_cache
from cosim_compiler.language import flows
from cosim_compiler.language.flow_elements import ANY_INDEX, RETURNED
from cosim_compiler.language.kept_flows import kept_flows
from cosim_compiler.language.program import Program
from cosim_compiler.language.types import REAL, View
from cosim_compiler.language.written_parameters import parameters_written
from cosim_compiler.sources import clean_sources


def add_to(out: Any, x: float) -> None:
    out[0] += x
    out[1] += 2.0 * x


def both(a: float, b: float) -> tuple[float, float]:
    return (a + b, a - b)


VIEWS = {f"{name}_dot" for name in ("x", "y", "z", "height", "speed")} | {
    "out",
    "value",
    "flag",
    "high",
    "F",
    "tau",
    "a",
    "b",
}
"""The names of arguments that are views in every function here."""


def flows_of(function: Any, *views: str) -> flows.Flows:
    """The flows of a function whose arguments are numbers, except `views` and `VIEWS`."""
    count = function.__code__.co_argcount
    is_view = [name in views or name in VIEWS for name in function.__code__.co_varnames[:count]]
    kinds = tuple(View(REAL, 1, None) if each else REAL for each in is_view)
    found_flows = kept_flows(function, kinds)
    assert found_flows is not None
    assert found_flows == flows.flows_of(Program().function(function, kinds))
    return found_flows


def dependencies(function: Any, *views: str) -> dict[str, set[str]]:
    """The arguments that each result depends on; `x[0]` is an element."""

    def shown(element: tuple[str, int]) -> str:
        name, index = element
        return (name or "returned") + (f"[{index}]" if index != ANY_INDEX else "")

    return {shown(to): set(map(shown, sources)) for to, sources in flows_of(function, *views).items()}


def test_each_result_depends_on_what_is_assigned_to_it() -> None:
    def derivatives(speed, force, mass, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = force / mass

    assert dependencies(derivatives) == {"height_dot[0]": {"speed"}, "speed_dot[0]": {"force", "mass"}}


def test_a_constant_depends_on_nothing_and_a_local_on_what_it_is_computed_from() -> None:
    def derivatives(x, k, y, x_dot, y_dot, z_dot):
        a = k * x[1]
        b, c = a + 1.0, y
        x_dot[0] = -9.81
        y_dot[0] = math.sin(b)
        z_dot[0] = c

    assert dependencies(derivatives, "x") == {"x_dot[0]": set(), "y_dot[0]": {"k", "x[1]"}, "z_dot[0]": {"y"}}


def test_a_result_depends_on_the_conditions_that_lead_to_it() -> None:
    def clip(x, low, high, on, value, flag):
        if on == 0.0:
            return
        value[0] = low
        if x > low:
            value[0] = x
        for i in range(2):
            flag[i] = high[i]

    results = dependencies(clip)
    assert results["value[0]"] == {"low", "x", "on"} and results["flag"] == {"high", "on"}


def test_a_loop_passes_values_from_one_turn_to_the_next() -> None:
    def turn(x, y, first, out):
        a = 0.0
        b = 0.0
        for i in range(3):
            out[0] = a
            a = b
            b = y[i]
        out[1] = first

    assert dependencies(turn, "y") == {"out[0]": {"y"}, "out[1]": {"first"}}


def test_a_result_of_a_helper_depends_on_its_arguments() -> None:
    def forces(x, y, z, F, tau):
        add_to(F, x * y)
        one, _other = both(x, z)
        tau[0] += one

    assert dependencies(forces) == {"F": {"x", "y", "F"}, "tau[0]": {"x", "z"}}


def test_a_result_that_is_read_again_and_a_returned_value() -> None:
    def chain(x, y, a, b):
        a[0] = x
        b[0] = a[0] + y

    def witness(x, y):
        if x > 1.0:
            return y
        return 0.0

    assert dependencies(chain)["b[0]"] == {"x", "y", "a[0]"}
    assert flows_of(witness)[RETURNED, ANY_INDEX] == {("x", ANY_INDEX), ("y", ANY_INDEX)}


class Coupled(cosim.Component):
    """A component in which each equation reads other variables."""

    gain = cosim.parameter(default=2.0)
    on = cosim.parameter(default=True, dtype=bool)
    push = cosim.input()
    q = cosim.auxiliary_state(shape=4, start=(0.4, -0.3, 0.2, 0.9))
    angle = cosim.auxiliary_state(start=0.3)
    phase = cosim.output()
    sum = cosim.output(shape=2)

    @cosim.kernel
    def derivatives(t, q, angle, gain, on, push, phase, sum, q_dot, angle_dot):
        c = math.cos(angle)
        q_dot[0] = c * q[1]
        q_dot[1] = -gain * q[0]
        for i in range(2, 4):
            q_dot[i] = push if q[i] > 0.0 and on != 0.0 else 1.0
        angle_dot[0] = -9.81
        phase[0] = math.sin(t)
        sum[0] = q[0] + q[1]
        sum[1] = push


def test_the_sources_of_a_signal_include_all_that_change_it() -> None:
    model = cosim.Model("coupled")
    model.add(Coupled, "one")
    model.add("measures.first_order_filter", "smooth", source="one.sum[0]", time_constant=0.1)
    system = model.build()
    rates = [f"one.q_dot[{i}]" for i in range(4)] + ["one.angle_dot", "one.sum[0]", "one.sum[1]", "one.phase"]
    generator = random.Random(5)
    excluded = 0
    for path in rates:
        declared = system.sources(path)
        for array, size in (("y", system.ny), ("p", len(system.default_state().arrays["p"]))):
            for offset in range(size):
                state = system.default_state()
                state.realize(cosim.Stage.REPORT)
                before = state[path]
                state.arrays[array][offset] += generator.uniform(0.1, 0.2)
                state.invalidate(cosim.Stage.INSTANCE, "a test")
                state.realize(cosim.Stage.REPORT)
                assert state[path] == before or (array, offset) in declared, (path, array, offset)
                excluded += (array, offset) not in declared
    assert excluded > 40  # most numbers are no source of a signal
    assert system.sources("one.phase") == {("t", 0)} and system.sources("one.angle_dot") == set()
    assert system.dependencies("one.sum[1]") == {"one.push"}


def test_the_structure_of_the_derivatives_has_only_dependencies() -> None:
    model = cosim.Model("coupled")
    model.add(Coupled, "one")
    starts, rows = model.build().derivative_structure()
    columns = [set(rows[starts[i] : starts[i + 1]].tolist()) for i in range(5)]
    # q[i] in a loop depends on all elements, since its index is not a constant
    assert columns == [{0, 1, 2, 3}] * 4 + [{0}]
    assert not np.any(rows == 4)


@pytest.mark.parametrize("path", ["one.q_dot[0]", "one.q_dot[1]"])
def test_each_element_of_a_derivative_has_its_own_sources(path: str) -> None:
    model = cosim.Model("coupled")
    model.add(Coupled, "one")
    system = model.build()
    q = system.signal("one.q").slot.offset
    angle = system.signal("one.angle").slot.offset
    states = {offset for array, offset in system.sources(path) if array == "y"}
    assert {q + 1, angle} <= states if path.endswith("[0]") else q in states
    assert angle not in states or path.endswith("[0]")


def test_only_helpers_that_write_to_an_argument_are_writers() -> None:
    def both_ways(x, out, a, b):
        out[0] = mean_of(a, b)
        add_to(b, x)

    results = dependencies(both_ways)
    assert results == {"out[0]": {"a", "b", "x"}, "b": {"x", "b"}}
    program = Program()
    kinds = REAL, *[View(REAL, 1, None)] * 3
    assert parameters_written(program.function(both_ways, kinds)) == {"out", "b"}
    assert {f.author.__name__: f.written for f in program.functions} == {
        "mean_of": frozenset(),
        "add_to": {"out"},
        "both_ways": {"out", "b"},
    }


def mean_of(a, b):
    return 0.5 * (a[0] + b[0])


def test_a_write_to_a_part_of_a_view_is_one_to_all_of_it() -> None:
    def kernel(x, i, out, F):
        part = F[2:4]
        part[0] = x
        F[1] += x + F[0]
        out[0] = 2.0 if F[5] > 0.0 else x

    assert dependencies(kernel, "F") == {"F": {"x"}, "F[1]": {"x", "F[0]"}, "out[0]": {"F[5]", "x"}}


def test_flows_are_computed_once_and_stored_for_the_next_process(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("COSIM_CACHE_DIR", str(tmp_path))
    kernel_cache.folder.cache_clear()
    monkeypatch.setattr(clean_sources, "_sources", {})
    kinds = REAL, View(REAL, 1, None)
    stored_flows = kept_flows(stored_law, kinds)
    assert stored_flows == {("y", 0): frozenset({("x", ANY_INDEX)})}
    with monkeypatch.context() as patch:
        patch.setattr(flows, "flows_of", None)  # they cannot be computed any more
        assert kept_flows(stored_law, kinds) == stored_flows
        clean_sources._write()
        monkeypatch.setattr(clean_sources, "_sources", {})
        assert kept_flows(stored_law, kinds) == stored_flows
    both_views = View(REAL, 1, None), View(REAL, 1, None)
    assert kept_flows(stored_law, both_views) is None  # an element cannot be set to a view
    kernel_cache.folder.cache_clear()


def stored_law(x, y):
    y[0] = x
