"""What a kernel function writes and adds to, through helpers, parts of views and records."""

import pytest

import cosim
import cosim_mechanics
from cosim_compiler.language.flows import flows_of
from cosim_compiler.language.program import Program
from cosim_compiler.language.types import REAL, WHOLE, View
from cosim_compiler.record import Record, rows_of
from cosim_compiler.sources.kernel_effects import effects_of
from cosim_compiler.sources.kernel_rules import rule_faults


def adds_to(out, value):
    out[0] += value


def writes_to(out, value):
    out[0] = value


def test_effects_are_found_through_helpers():
    def kernel(x, out, total, other):
        adds_to(total, x)
        writes_to(out, x)
        other[0], y = x, x
        x = y

    effects = effects_of(kernel)
    assert (effects.writes, effects.adds) == ({"out", "other"}, {"total"})
    assert set(effects.rebinds) == {"x"}


def adds_to_a_part(out, value):
    part = out[3:6]
    adds_to(part, value)


def writes_to_a_part_of_a_part(out, value):
    part = out[0:3]
    inner = part[1:3]
    inner[0] = value


def first_two(out):
    return out[0:2]


def writes_to_a_returned_part(out, value):
    part = first_two(out)
    part[0] = value


def reads_a_part(out, value):
    part = out[0:3]
    value[0] = part[1]


@pytest.mark.parametrize(
    ("function", "writes", "adds"),
    [
        (adds_to_a_part, set(), {"out"}),
        (writes_to_a_part_of_a_part, {"out"}, set()),
        (writes_to_a_returned_part, {"out"}, set()),
        (reads_a_part, {"value"}, set()),
    ],
)
def test_a_write_to_a_part_of_a_view_is_a_write_to_the_view(function, writes, adds):
    effects = effects_of(function)
    assert effects.writes == writes and effects.adds == adds


class Pair(Record):
    """Two numbers."""

    first: float
    second: float


def pair_of(x, i):
    return rows_of(Pair, x, 2 * i, 1)[0]


def test_a_write_to_a_record_is_a_write_to_the_argument_that_contains_it():
    def kernel(x, i, total, out, read):
        pair_of(x, i).first = 2.0
        rows_of(Pair, total, 0, 1)[0].second += pair_of(read, i).first
        pair = pair_of(out, i)
        pair.second = 1.0

    effects = effects_of(kernel)
    assert (effects.writes, effects.adds) == ({"x", "out"}, {"total"})
    assert effects.records == {"pair"}
    assert effects_of(pair_of).lies_in == {"x"}


def test_a_value_in_a_record_flows_into_the_argument_that_contains_it():
    def kernel(x, out, i, value):
        pair_of(x, i).first = value
        pair = pair_of(out, 0)
        pair.second = i

    kinds = View(REAL, 1, None), View(REAL, 1, None), WHOLE, REAL
    flows = flows_of(Program().function(kernel, kinds))
    assert {("value", -1), ("i", -1)} <= flows["x", -1]
    assert ("i", -1) in flows["out", -1]
    assert {name for name, _ in flows} == {"x", "out"}


def test_a_field_of_a_number_is_refused():
    def of_a_record(x, y):
        pair = pair_of(x, 0)
        y[0] = pair.first

    def of_a_number(x, y):
        pair = x[0]
        y[0] = pair.first

    assert not rule_faults(of_a_record)
    assert "pair.first cannot be compiled" in "".join(rule_faults(of_a_number))


class PushedThroughAPart(cosim.Component):
    """A force f along z, through a part of a part of the body force; its power is an unrelated result."""

    body = cosim_mechanics.body()
    f = cosim.parameter(unit="N", default=2.0)
    power = cosim.output(unit="W")

    @cosim.kernel
    def force(f, F_GB, power):
        part = F_GB[3:6]
        adds_to(part[2:3], f)
        power[0] = 0.0


def test_a_force_that_is_added_to_a_part_of_the_body_force_acts():
    """Adding to a part counts as an effect also where the law writes another result."""
    model = cosim_mechanics.Multibody("m", gravity=(0.0, 0.0, 0.0))
    body = model.body("b", mass=1.0, inertia=(1.0, 1.0, 1.0))
    model.joint("free", child=body)
    model.add(PushedThroughAPart, "push", body=body)
    assert model.simulate(until=1.0)["b.vz"][-1] == pytest.approx(2.0, rel=1e-12)
