"""Code that is compiled soon: the same bits, kept apart, and never for other computers."""

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
def soon(monkeypatch):
    monkeypatch.setenv(machine.UNOPTIMIZED, "1")


def test_programs_give_the_numbers_of_plain_python(soon):
    found = [*differences(range(9000, 9000 + many(4)))]
    assert len(found) > 4
    assert not [difference for difference in found if difference is not None]


def test_less_is_done_than_for_users(monkeypatch):
    for_users = machine.object_of(TEXT.format(name="soon_or_fast"))
    monkeypatch.setenv(machine.UNOPTIMIZED, "1")
    assert not machine.is_optimized()
    assert machine.object_of(TEXT.format(name="soon_or_fast")) != for_users


@pytest.mark.parametrize("value", ["", "0"])
def test_it_has_to_be_asked_for(value, monkeypatch):
    key = key_of("digest")
    monkeypatch.setenv(machine.UNOPTIMIZED, value)
    assert machine.is_optimized()
    assert key_of("digest") == key
    monkeypatch.setenv(machine.UNOPTIMIZED, "1")
    assert key_of("digest") != key, "one would be loaded in place of the other"


def test_what_a_wheel_carries_is_optimized(soon, monkeypatch):
    monkeypatch.setattr(machine, "is_for_others", lambda: True)
    assert machine.is_optimized()


def test_calls_of_libraries_have_the_same_bits(soon):
    """Pairs of a sine and a cosine are joined where code is optimized."""
    x, n = 0.7, 40
    assert compile_function(sum_of_sines, "fi>f")(x, n) == sum_of_sines(x, n)
