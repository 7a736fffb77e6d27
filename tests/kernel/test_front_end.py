"""What is spared in numba's front end changes no code, and is numba's own again afterwards."""

import contextlib
import re

import numpy as np
import pytest
from numba.core.base import BaseContext
from numba.core.lowering import Lower
from numba.core.postproc import PostProcessor
from numba.core.targetconfig import TargetConfig
from numba.core.types.functions import BaseFunction

from cosim import kit
from cosim_compiler.with_numba import fresh, whole_module

pytestmark = pytest.mark.skipif(kit.is_plain(), reason="nothing is compiled here")

CHANGED = (
    (BaseContext, "get_function"),
    (BaseFunction, "get_call_type"),
    (Lower, "lower_getitem"),
    (Lower, "lower_setitem"),
    (PostProcessor, "run"),
    (TargetConfig, "__eq__"),
    (TargetConfig, "__hash__"),
)
NAME = re.compile(r'%"[^"]*"|%[-\w.$]+|^[-\w.$]+(?=:)', re.MULTILINE)


def offset(row, at):
    return 3 * row + at


def moved(table, numbers, out, count):
    """Places by variables, constants, from the end, in both dimensions; branches, loops, mixed kinds."""
    total = 0
    for i in range(count):
        row = table[i, 0] + table[-1, -1]
        out[offset(i, 0)] = numbers[row] * numbers[-1] if row > 0 else min(numbers[0], 1.5)
        out[offset(i, 1)] = table[i, 1]
        out[offset(i, 2)] += float(abs(row)) + len(numbers)
        total += row
    out[-1] = total
    table[0, -1] = total + 1.0
    return total


def picked(several, which):
    return several[which]


def from_a_mixed_tuple(real, count):
    several = (real, count)
    return picked(several, 0) / picked(several, 1)


def without_names(text):
    numbers = {}
    return NAME.sub(lambda found: f"%{numbers.setdefault(found[0].lstrip('%'), len(numbers))}", text)


def text_of(function, signature):
    return without_names(fresh.text_of(function, signature, lambda helper: fresh._helper(helper, None)))


def test_the_code_is_what_numba_makes_of_it(monkeypatch):
    ours = text_of(moved, "TFFi>i")
    monkeypatch.setattr(whole_module, "without_repetition", contextlib.nullcontext)
    assert ours == text_of(moved, "TFFi>i")


def test_results_are_those_of_plain_python():
    results = []
    compiled = fresh.compiled_anew(moved, "TFFi>i", fresh.OPTIONS, lambda helper: fresh._helper(helper, None))
    for function in (moved, compiled):
        table, numbers, out = np.arange(8).reshape(4, 2) - 5, np.linspace(-1.0, 2.0, 9), np.zeros(12)
        results.append((function(table, numbers, out, 4), table.tobytes(), out.tobytes()))
    assert results[0] == results[1]


def test_an_element_of_a_mixed_tuple_is_picked_by_a_helper():
    compiled = fresh.compiled_anew(
        from_a_mixed_tuple, "fi>f", fresh.OPTIONS, lambda helper: fresh._helper(helper, None)
    )
    assert compiled(1.5, 3) == 0.5


def test_a_helper_is_compiled_once_for_all_constants():
    helper = fresh._helper(offset, None)
    fresh.text_of(moved, "TFFi>i", lambda function: helper)
    assert len(helper.overloads) == 1


def test_numba_is_as_before_afterwards():
    before = [getattr(owner, name) for owner, name in CHANGED]
    with contextlib.suppress(ZeroDivisionError), whole_module.as_one_module():
        assert all(
            getattr(owner, name) is not was for (owner, name), was in zip(CHANGED, before, strict=True)
        )
        raise ZeroDivisionError
    assert [getattr(owner, name) for owner, name in CHANGED] == before
