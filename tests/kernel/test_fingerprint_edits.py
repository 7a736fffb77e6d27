"""The digest of a function follows edits of everything in its reach, and is computed once without edits."""

import types

import numpy as np
import pytest
from fingerprint_functions import Pair, active, chosen, soft, stiff, with_globals
from hypothesis import given, settings
from hypothesis import strategies as st

from cosim import kit
from cosim_compiler.calls import called_by_name
from cosim_compiler.fingerprint import fingerprint, reach_of
from cosim_compiler.names_at_rest import names_at_rest

factor, table, pair, inner_factor = 1.0, (0, (0.0, 0.0, 0.0)), Pair(0.0, 0.0), 1.0


def computed(x):
    return factor * x + table[1][2] + pair.second * soft(x) + stiff(x) + active(x) + helped(x)


def helped(x):
    return active(x) - inner_factor * x


numbers = st.sampled_from([0.0, -0.0, 1.0, 1, True, 2, 2.5, 7])


@pytest.mark.skipif(kit.is_plain(), reason="nothing is compiled here")
@given(st.lists(st.tuples(numbers, numbers, numbers, numbers, st.booleans()), min_size=2, max_size=4))
@settings(max_examples=4)
def test_compiled_and_plain_agree_after_each_change_of_globals(changes):
    """The functions stay the same objects; compiled code follows the values of their globals."""
    namespace = {"soft": soft, "stiff": stiff}
    namespace["helped"] = types.FunctionType(helped.__code__, namespace, "helped")
    function = types.FunctionType(computed.__code__, namespace, "computed")
    table = np.arange(2000.0)
    for new_factor, second, element, new_inner_factor, is_stiff in changes:
        table = table.copy()
        table[2] = element
        namespace.update(factor=new_factor, pair=Pair(0.0, second), table=(0, tuple(table[:5])))
        namespace["inner_factor"] = new_inner_factor
        namespace["active"] = stiff if is_stiff else soft
        compiled = kit.compile_function(function, "f>f")
        for x in (-1.5, 0.0, 3.0):
            assert np.float64(compiled(x)).tobytes() == np.float64(function(x)).tobytes()


@pytest.mark.skipif(kit.is_plain(), reason="nothing is compiled here")
def test_a_function_with_another_global_function_is_compiled_again():
    for force, expected in [(soft, 3.0), (stiff, 6.0), (soft, 3.0)]:
        assert kit.compile_function(with_globals(chosen, active=force), "f>f")(3.0) == expected


EDITED = """
GAIN = 2.0
def inner(x):
    return x * GAIN
def made(offset):
    def helper(x, more=1.0):
        return abs(inner(x)) + more + offset
    return helper
helper = made(3.0)
def outer(x):
    return helper(x)
"""


def set_closure(space, value=4.0):
    space["helper"].__closure__[0].cell_contents = value


EDITS = {
    "code": lambda space: setattr(space["inner"], "__code__", (lambda x: x + GAIN).__code__),  # noqa: F821
    "an equal constant of another kind": lambda space: space.update(GAIN=2),
    "an equal default of another kind": lambda space: setattr(space["helper"], "__defaults__", (1,)),
    "a closure with an equal value of another kind": lambda space: set_closure(space, 3),
    "a default": lambda space: setattr(space["helper"], "__defaults__", (2.0,)),
    "a default by name": lambda space: setattr(space["helper"], "__kwdefaults__", {"scale": 2.0}),
    "a closure": set_closure,
    "a constant": lambda space: space.update(GAIN=3.0),
    "a function": lambda space: space.update(inner=lambda x: x - 1.0),
    "a name of Python's own": lambda space: space.update(abs=lambda x: x + 5.0),
    "a name that is gone": lambda space: space.pop("GAIN"),
    "a mark": lambda space: setattr(space["inner"], "__by_name__", ("other", "f>f")),
    "the name that lowered code calls": lambda space: called_by_name("other", "f>f")(space["inner"]),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_changes_the_digest(edit):
    space = {"__name__": "edited_functions"}
    exec(EDITED, space)
    outer = space["outer"]
    before = fingerprint(outer)
    assert fingerprint(outer) == before
    names = reach_of([(outer, ""), (space["inner"], "")], [], []).names
    assert names.are_as_before()
    EDITS[edit](space)
    assert fingerprint(outer) != before
    assert not names.are_as_before()


@pytest.mark.parametrize("edit", EDITS)
def test_names_at_rest_are_looked_up_again_by_the_next_use(edit):
    space = {"__name__": "edited_functions"}
    exec(EDITED, space)

    def digest():
        return reach_of([(space["outer"], "f>f")], [], []).digest

    before = digest()
    with names_at_rest():
        assert digest() == before
    EDITS[edit](space)
    with names_at_rest():
        assert digest() == digest() != before
