"""The digest of a function changes with everything that its code depends on, and with nothing else."""

import enum
import json
import math
import os
import subprocess
import sys
import types
from collections import Counter
from typing import NamedTuple

import fingerprint_run
import numpy as np
import pytest
from how_many import many
from hypothesis import given, settings
from hypothesis import strategies as st

from cosim import kit
from cosim_compiler import unit_digests
from cosim_compiler.calls import called_by_name
from cosim_compiler.fingerprint import _ReachDigest, fingerprint, reach_of
from cosim_compiler.names_at_rest import names_at_rest


def changed(function, **namespace):
    """The same function with other globals."""
    return types.FunctionType(function.__code__, {**function.__globals__, **namespace}, function.__name__)


def first(x):
    return math.sin(x) + 1.0


def second(x):
    return math.sin(x) + 2.0


def third(x):
    return math.cos(x) + 1.0


def user(x):
    return curve(x) * FACTOR


curve, FACTOR = first, 2.0


def with_text(docstring, returned):
    namespace = {}
    exec(f"def f():\n    {docstring!r}\n    return {returned!r}", namespace)
    return fingerprint(namespace["f"])


def test_a_docstring_changes_nothing_but_where_the_code_says_it_too():
    assert with_text("what it is", "m") == with_text("what it was", "m")
    assert with_text("what it is", "m") != with_text("what it is", "s")
    assert with_text("m", "m") != with_text("s", "s")


def test_a_changed_helper_gives_a_new_digest():
    digests = {
        fingerprint(user),
        fingerprint(changed(user, curve=second)),
        fingerprint(changed(user, curve=third)),
        fingerprint(changed(user, FACTOR=3.0)),
        fingerprint(changed(user, FACTOR=2)),
        fingerprint(user, "signature"),
        fingerprint(user, "signature", "version"),
    }
    assert len(digests) == 7
    assert fingerprint(user) == fingerprint(changed(user))


def outer(x):
    return middle(x)


def middle(x):
    return curve(x)


def test_a_change_two_helpers_deep_gives_a_new_digest():
    deep = changed(outer, middle=changed(middle, curve=first))
    other = changed(outer, middle=changed(middle, curve=second))
    assert fingerprint(deep) == fingerprint(outer)
    assert fingerprint(other) != fingerprint(outer)


def test_a_constant_in_a_closure_counts():
    def make(constant):
        def inner(x):
            return x + constant

        return inner

    assert fingerprint(make(1.0)) != fingerprint(make(2.0))
    assert fingerprint(make(1.0)) == fingerprint(make(1.0))


def test_recursive_functions_have_a_digest():
    assert fingerprint(recursive) == fingerprint(recursive)


def recursive(n):
    return 0.0 if n <= 0 else recursive(n - 1) + 1.0


class Pair(NamedTuple):
    first: object
    second: object


class Mode(enum.IntEnum):
    SLOW = 1
    FAST = 2


def law(stiffness):
    """Functions of one name and one code."""

    def force(x):
        return stiffness * x

    return force


soft, stiff = law(1.0), law(2.0)


def chosen(x):
    return soft(x) * 0.0 + stiff(x) * 0.0 + active(x)


active = soft


def test_functions_that_were_seen_before_are_told_apart():
    assert fingerprint(changed(chosen, active=soft)) != fingerprint(changed(chosen, active=stiff))


def looked_up(x):
    return TABLES[0][1234] * x


TABLES = (np.arange(2000.0), np.zeros(3))


def with_values(value):
    return changed(looked_up, TABLES=value)


@pytest.mark.parametrize("container", [tuple, list, lambda pair: Pair(*pair), lambda pair: (1, (pair,))])
def test_one_value_of_a_long_table_inside_a_container_counts(container):
    other = np.arange(2000.0)
    other[1234] = math.nextafter(other[1234], 0.0)
    one, two = container([np.arange(2000.0), np.zeros(3)]), container([other, np.zeros(3)])
    assert fingerprint(with_values(one)) != fingerprint(with_values(two))
    assert fingerprint(with_values(one)) == fingerprint(
        with_values(container([np.arange(2000.0), np.zeros(3)]))
    )


class Open(tuple):
    """A named tuple whose fields stand in another order."""

    _fields = ("second", "first")


ALIKE = [
    1, 1.0, True, np.float64(1.0), np.float32(1.0), np.int64(1), 1 + 0j, "1", b"1", None, (), [],
    {}, frozenset(), 0.0, -0.0, 0, False, math.nan, -math.nan, np.array(0.0), np.array([0.0]),
    np.array([[0.0]]), np.array([-0.0]), np.array([0]), np.zeros((2, 3)), np.zeros((3, 2)),
    np.zeros((2, 3), order="F"), np.zeros(6), (0.0,), [0.0], ((0.0,),), (0.0, ()), Pair(0.0, 1.0),
    (0.0, 1.0), Pair(1.0, 0.0), Pair, Mode, Mode.SLOW, Mode.FAST, math, math.sin, math.cos, {1: 2},
    {1: 2.0}, {1, 2}, frozenset({1, 2}), frozenset({1, 3}), "ab", ("a", "b"), ("ab",), ("", "ab"),
    soft, stiff, (soft, soft), (soft, stiff), (stiff, soft), range(3), range(4), slice(3),
    np.dtype("f8"), np.dtype("f4"), Open, Ellipsis,
]  # fmt: skip


def test_values_that_look_alike_are_told_apart():
    digests = [fingerprint(with_values(value)) for value in ALIKE]
    twice = [
        (ALIKE[digests.index(d)], v) for v, d in zip(ALIKE, digests, strict=True) if digests.count(d) > 1
    ]
    assert twice == []


def test_constants_in_the_code_are_told_apart():
    texts = ["1", "1.0", "True", "0.0", "-0.0", "(1,)", "(1.0,)", "(0.0, (-0.0,))", "(0.0, (0.0,))", "'1'"]
    texts += [
        "(lambda: 1)",
        "(lambda: 1.0)",
        "(lambda: (0.0,))",
        "(lambda: (-0.0,))",
        "x in {1, 2}",
        "x in {1, 3}",
    ]
    digests = set()
    for text in texts:
        namespace = {}
        exec(f"def constant(x): return {text}", namespace)
        digests.add(fingerprint(namespace["constant"]))
    assert len(digests) == len(texts)


def test_what_a_module_or_a_class_of_ours_is_asked_for_counts():
    def asked(x):
        return x * library.FACTOR

    def of(owner):
        return fingerprint(changed(asked, library=owner))

    one, two, other = types.ModuleType("ours"), types.ModuleType("ours"), types.ModuleType("ours")
    one.FACTOR, two.FACTOR, other.FACTOR, other.unused = 1.0, 2.0, 1.0, 7
    assert of(one) != of(two)
    assert of(one) == of(other)
    assert of(type("Ours", (), {"FACTOR": 1.0})) != of(type("Ours", (), {"FACTOR": 2.0}))


library = math


def test_what_changes_in_a_module_of_ours_counts_at_once():
    def asked(x):
        return x * library.inner.FACTOR

    def helped(x):
        return function(x)

    outer, inner = types.ModuleType("ours"), types.ModuleType("ours.inner")
    outer.inner, inner.FACTOR = inner, 1.0
    function = changed(asked, library=outer)
    digests = []
    for change in (
        lambda: None,
        lambda: setattr(inner, "FACTOR", 2.0),
        lambda: setattr(inner, "FACTOR", [2.0]),
        lambda: inner.FACTOR.append(3.0),
        lambda: delattr(inner, "FACTOR"),
        lambda: setattr(outer, "inner", types.ModuleType("ours.inner")),
        lambda: setattr(outer.inner, "FACTOR", 4.0),
        lambda: setattr(outer, "FACTOR", 4.0),
    ):
        change()
        digests.append((fingerprint(function), fingerprint(helped)))
        assert digests[-1] == (fingerprint(function), fingerprint(helped))
    assert (
        len({digest for pair in digests for digest in pair}) == 14
    )  # the modules without FACTOR are the same


def test_a_container_that_holds_itself_has_a_digest():
    ring = [1.0]
    ring.append(ring)
    other = [2.0]
    other.append(other)
    assert fingerprint(with_values(ring)) != fingerprint(with_values(other))


def test_what_has_no_bytes_is_new_in_each_process():
    here = fingerprint(fingerprint_run.locked)
    assert here == fingerprint(fingerprint_run.locked)
    there = fingerprint_run_in_another_process(1)
    assert here not in (there["lock"], fingerprint_run_in_another_process(1)["lock"])


def fingerprint_run_in_another_process(seed):
    """The digests that a process with another hash of strings and other addresses finds."""
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    done = subprocess.run(
        [sys.executable, fingerprint_run.__file__],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_the_digest_is_the_same_in_every_process():
    first, second = (fingerprint_run_in_another_process(seed) for seed in (1, 2))
    assert first["user"] == second["user"] == fingerprint(fingerprint_run.user)


scalars = st.one_of(
    st.floats(), st.integers(-3, 3), st.booleans(), st.sampled_from(["", "a", "ab", None, 0.0, -0.0, 1, 1.0])
)


def array_of(numbers, kind, shape, is_long):
    """An array whose numbers differ in their last bits, and some far from its ends."""
    array = np.full(1200 if is_long else 6, 0.1)
    array[array.size // 2 - 3 : array.size // 2 + 3] += np.array(numbers) * 2.0**-54
    return np.frombuffer(array.tobytes(), kind) if is_long else array.reshape(shape)


arrays = st.builds(
    array_of,
    st.lists(st.sampled_from([0, 1]), min_size=6, max_size=6),
    st.sampled_from(["f8", "f4", "i8"]),
    st.sampled_from([(6,), (2, 3), (3, 2)]),
    st.booleans(),
)
functions = st.recursive(
    st.builds(law, scalars), lambda inner: st.builds(law, st.tuples(inner, inner)), max_leaves=3
)
values = st.recursive(
    st.one_of(scalars, arrays, functions, st.sampled_from([soft, stiff])),
    lambda inner: st.one_of(
        st.tuples(inner, inner), st.builds(Pair, inner, inner), st.lists(inner, max_size=3)
    ),
    max_leaves=8,
)


def spelled_out(value):
    """A value as nested tuples that are equal only when it is the same to the last bit."""
    if isinstance(value, float):
        return ("float", np.float64(value).tobytes())
    if isinstance(value, np.ndarray):
        return ("array", value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, types.FunctionType):
        return ("law", spelled_out(value.__closure__[0].cell_contents))
    if isinstance(value, (tuple, list)):
        return (type(value).__name__, *map(spelled_out, value))
    return (type(value).__name__, value)


@given(values, values)
@settings(max_examples=many(40))
def test_digests_are_equal_only_for_equal_values(one, two):
    if spelled_out(one) != spelled_out(two):
        assert fingerprint(with_values(one)) != fingerprint(with_values(two))
    if not isinstance(one, types.FunctionType):
        assert fingerprint(with_values((one, 1.0))) != fingerprint(with_values((one, 1)))


def places(value, path=()):
    """The paths to everything in a value."""
    yield path
    if isinstance(value, (tuple, list)):
        for i, item in enumerate(value):
            yield from places(item, (*path, i))
    if isinstance(value, types.FunctionType):
        yield from places(value.__closure__[0].cell_contents, (*path, "cell"))


def replaced(value, path, new):
    """The value with something else at a path."""
    if not path:
        return new
    if path[0] == "cell":
        return law(replaced(value.__closure__[0].cell_contents, path[1:], new))
    items = [replaced(item, path[1:], new) if i == path[0] else item for i, item in enumerate(value)]
    return type(value)(*items) if isinstance(value, Pair) else type(value)(items)


def nudged(value, data):
    """A value that differs as little as possible."""
    if isinstance(value, np.ndarray):
        changed = bytearray(value.tobytes())
        changed[data.draw(st.integers(0, len(changed) - 1))] ^= 1
        return np.frombuffer(bytes(changed), value.dtype).reshape(value.shape)
    if isinstance(value, float):
        return data.draw(st.sampled_from([-value, math.nextafter(value, -value or 1.0), np.float64(value)]))
    if isinstance(value, int):
        return (
            float(value) if isinstance(value, bool) else data.draw(st.sampled_from([value + 1, float(value)]))
        )
    return (value,)


@given(values, st.data())
@settings(max_examples=many(40))
def test_any_change_inside_changes_the_digest(value, data):
    for path in places(value):
        inside = value
        for step in path:
            inside = inside.__closure__[0].cell_contents if step == "cell" else inside[step]
        if isinstance(inside, float) and math.isnan(inside):
            continue
        other = replaced(value, path, nudged(inside, data))
        assert fingerprint(with_values(value)) != fingerprint(with_values(other))


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
    """The functions stay the same objects: what is compiled follows what they find."""
    namespace = {"soft": soft, "stiff": stiff}
    namespace["helped"] = types.FunctionType(helped.__code__, namespace, "helped")
    function = types.FunctionType(computed.__code__, namespace, "computed")
    table = np.arange(2000.0)
    for one, two, three, four, is_stiff in changes:
        table = table.copy()
        table[2] = three
        namespace.update(factor=one, pair=Pair(0.0, two), table=(0, tuple(table[:5])), inner_factor=four)
        namespace["active"] = stiff if is_stiff else soft
        compiled = kit.compile_function(function, "f>f")
        for x in (-1.5, 0.0, 3.0):
            assert np.float64(compiled(x)).tobytes() == np.float64(function(x)).tobytes()


@pytest.mark.skipif(kit.is_plain(), reason="nothing is compiled here")
def test_a_changed_choice_of_function_is_compiled_anew():
    for force, expected in [(soft, 3.0), (stiff, 6.0), (soft, 3.0)]:
        assert kit.compile_function(changed(chosen, active=force), "f>f")(3.0) == expected


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


def _other_cell(space, value=4.0):
    space["helper"].__closure__[0].cell_contents = value


EDITS = {
    "code": lambda space: setattr(space["inner"], "__code__", (lambda x: x + GAIN).__code__),  # noqa: F821
    "an equal constant of another kind": lambda space: space.update(GAIN=2),
    "an equal default of another kind": lambda space: setattr(space["helper"], "__defaults__", (1,)),
    "a closure with an equal value of another kind": lambda space: _other_cell(space, 3),
    "a default": lambda space: setattr(space["helper"], "__defaults__", (2.0,)),
    "a default by name": lambda space: setattr(space["helper"], "__kwdefaults__", {"scale": 2.0}),
    "a closure": _other_cell,
    "a constant": lambda space: space.update(GAIN=3.0),
    "a function": lambda space: space.update(inner=lambda x: x - 1.0),
    "a name of Python's own": lambda space: space.update(abs=lambda x: x + 5.0),
    "a name that is gone": lambda space: space.pop("GAIN"),
    "a mark": lambda space: setattr(space["inner"], "__by_name__", ("other", "f>f")),
    "the name that lowered code calls": lambda space: called_by_name("other", "f>f")(space["inner"]),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_noticed_wherever_it_is(edit):
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
def test_names_at_rest_are_looked_up_anew_the_next_time(edit):
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


def test_each_function_in_reach_of_the_step_is_read_once_and_not_again(monkeypatch):
    """The first call of each entry point in a process waits for this."""
    read = Counter()
    content = _ReachDigest._content

    def counted(digest, function):
        read[function] += 1
        content(digest, function)

    monkeypatch.setattr(_ReachDigest, "_content", counted)
    monkeypatch.setattr(unit_digests, "_reaches", {})
    functions = unit_digests.member_of(kit.advance_run, kit.ENTRY_SIGNATURE).functions
    digest = unit_digests.digest_of_unit(functions)
    assert len(read) > 300
    assert set(read.values()) == {1}
    read.clear()
    assert unit_digests.digest_of_unit(functions) == digest
    assert not read


def test_a_method_that_is_edited_changes_the_digest_of_what_it_is_passed_to(monkeypatch):
    wanted = ((kit.advance_run, kit.ENTRY_SIGNATURE),)
    before = unit_digests.digest_of_unit(wanted)
    monkeypatch.setattr(kit.Run, "a_new_method", lambda run: 0, raising=False)
    assert unit_digests.digest_of_unit(wanted) != before
    monkeypatch.undo()
    assert unit_digests.digest_of_unit(wanted) == before
