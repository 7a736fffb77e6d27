"""`COSIM_UNOPTIMIZED`: the same bits from less optimization, cached separately, never for other computers."""

import math

import pytest
from how_many import many
from programs_run import differences

from cosim_compiler import machine, native
from cosim_compiler.native import compile_function
from cosim_compiler.road import LLVM, road
from cosim_compiler.unit_digests import key_of

pytestmark = pytest.mark.skipif(native.is_plain() or road() != LLVM, reason="there is no LLVM here")
TEXT = """
define double @{name}(double %x) {{
  %cell = alloca double
  store double %x, ptr %cell
  %first = load double, ptr %cell
  %square = fmul double %first, %x
  %y = fadd double %square, %x
  ret double %y
}}
"""


def sum_of_sines(x, n):
    total = 0.0
    for i in range(n):
        total += math.sin(x * i) * math.cos(x * i)
    return total


@pytest.fixture
def unoptimized(monkeypatch):
    monkeypatch.setenv(machine.UNOPTIMIZED, "1")


def test_unoptimized_programs_compute_what_plain_python_computes(unoptimized):
    compared = [*differences(range(9000, 9000 + many(4)))]
    assert len(compared) > 4
    assert not [difference for difference in compared if difference is not None]


def test_unoptimized_code_differs_from_that_for_users(monkeypatch):
    for_users = machine.object_of(TEXT.format(name="polynomial"))
    monkeypatch.setenv(machine.UNOPTIMIZED, "1")
    assert not machine.is_optimized()
    assert machine.object_of(TEXT.format(name="polynomial")) != for_users


@pytest.mark.parametrize("value", ["", "0"])
def test_only_the_value_1_of_the_variable_stops_optimization(value, monkeypatch):
    key = key_of("digest")
    monkeypatch.setenv(machine.UNOPTIMIZED, value)
    assert machine.is_optimized()
    assert key_of("digest") == key
    monkeypatch.setenv(machine.UNOPTIMIZED, "1")
    assert key_of("digest") != key, "one would be loaded in place of the other"


def test_code_for_a_wheel_is_always_optimized(unoptimized, monkeypatch):
    monkeypatch.setattr(machine, "is_for_others", lambda: True)
    assert machine.is_optimized()


def test_sines_and_cosines_have_the_same_bits_unoptimized(unoptimized):
    """Optimized code joins a sine and a cosine of one angle into one call."""
    x, n = 0.7, 40
    assert compile_function(sum_of_sines, "fi>f")(x, n) == sum_of_sines(x, n)
