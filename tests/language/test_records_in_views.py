"""Records that lie in views, and named tuples with properties and methods that show them."""

from __future__ import annotations

import ctypes
import itertools
import math
import shutil
from typing import Any, NamedTuple

import numpy as np
import pytest

from cosim_compiler import convention, fingerprint, unit_digests
from cosim_compiler.code import BY_C, BY_LLVM, Coder
from cosim_compiler.errors import ContractError
from cosim_compiler.language.program import Program
from cosim_compiler.record import Record, rows_of

CODERS = [BY_LLVM, *([BY_C] if any(map(shutil.which, ("cc", "gcc", "clang"))) else [])]
_numbers = itertools.count()


def loaded(coder: Coder, function: Any, signature: str) -> Any:
    """Compiled code as a foreign function: it takes the address of its result first and returns a status."""
    program, name = Program(), f"records_in_views_{next(_numbers)}"
    coder.machine.load(
        coder.code(coder.text(program, [(name, program.root(function, signature), signature)]))
    )
    return convention.prototype(signature)(coder.machine.address_of(name))


class Place(Record):
    """Two numbers that lie in a view."""

    at: float
    speed: float

    def later(place, time):
        return place.at + time * place.speed


class Counted(Record):
    """A record with a whole number, which a view of reals cannot contain."""

    count: int


class Pair(NamedTuple):
    """A group of views, with a property and a method that read records in them."""

    x: Any
    n: Any

    @property
    def places(pair):
        return rows_of(Place, pair.x, 1, pair.n[0])

    def first_at(pair, time):
        return min(math.inf, pair.places[0].later(time), pair.places[-1].later(time))


def furthest(pair, time):
    largest = -math.inf
    for place in pair.places:
        largest = max(largest, place.later(time))
        place.at = place.later(time)
    return largest + (pair.first_at(0.0) if pair.n[0] > 0 else 0.0)


def misfit(pair, time):
    return rows_of(Counted, pair.x, 0, 1)[0].count + time


@pytest.mark.parametrize("coder", CODERS, ids=["llvm", "c"][: len(CODERS)])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_records_in_views_and_properties_of_a_group(
    coder: Coder, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(convention.COMPOUNDS, "P", (Pair, "FI"))
    start = np.array([9.0, 1.0, -0.0, 2.0, 0.5, -3.0, 4.0])
    plain = Pair(start.copy(), np.array([count]))
    expected = furthest(plain, 0.25)
    pair = Pair(start.copy(), np.array([count]))
    head = np.array([word for view in pair for word in (view.ctypes.data, view.size)])
    result = ctypes.c_double()
    assert loaded(coder, furthest, "Pf>f")(ctypes.addressof(result), head.ctypes.data, 0.25) == 0
    assert result.value == expected
    assert pair.x.tobytes() == plain.x.tobytes()


def test_a_view_without_room_for_a_record_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(convention.COMPOUNDS, "P", (Pair, "FI"))
    with pytest.raises(ContractError, match=r"view.*Counted\.count"):
        Program().root(misfit, "Pf>f")


class Path(Record):
    """A record of two records."""

    start: Place
    end: Place

    def rate(path):
        return (path.end.at - path.start.at) / path.start.speed


def shifted_path(x, n, by):
    """Reads and changes rows of records that contain records, and rows of numbers."""
    total = 0.0
    for path in rows_of(Path, x, n[0], n[1]):
        total += path.rate()
        path.end.at += by
    part = rows_of(float, x, n[0], 3)
    for i in range(len(part)):
        part[i] *= 2.0
    rest = rows_of(float, x, n[0], n[1])
    return total + part[2] + (rest[0] if len(rest) > 0 else -1.0) + float(rows_of(int, n, 1, 1)[0])


@pytest.mark.parametrize("coder", CODERS, ids=["llvm", "c"][: len(CODERS)])
@pytest.mark.parametrize(("first", "count"), [(0, 0), (0, 1), (1, 1), (0, 2), (3, 1)])
def test_rows_of_records_inside_records_and_of_numbers(coder: Coder, first: int, count: int) -> None:
    start = np.array([1.0, 0.5, -0.25, 2.0, 0.25, -3.0, 4.0, 8.0])
    plain, n = start.copy(), np.array([first, count])
    expected = shifted_path(plain, n, 0.125)
    x, result = start.copy(), ctypes.c_double()
    views = [word for view in (x, n) for word in (view.ctypes.data, view.size)]
    assert loaded(coder, shifted_path, "FIf>f")(ctypes.addressof(result), *views, 0.125) == 0
    assert result.value == expected
    assert x.tobytes() == plain.tobytes()


def whole_numbers_of_reals(x):
    return float(rows_of(int, x, 0, 1)[0])


def test_rows_of_whole_numbers_in_a_view_of_reals_are_refused() -> None:
    with pytest.raises(ContractError, match="a view has no numbers of the kind int"):
        Program().root(whole_numbers_of_reals, "F>f")


class Stretch(NamedTuple):
    """A named tuple that a function makes, with a property that tests replace."""

    places: Any
    factor: float = 2.0

    @property
    def first(stretch):
        return stretch.places[0].at


def length_of_stretch(x):
    return Stretch(rows_of(Path, x, 0, 1), 3.0).places[0].rate()


def test_the_digest_of_a_function_depends_on_the_records_that_it_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = fingerprint.fingerprint(length_of_stretch)
    assert length_of_stretch in fingerprint._digests
    assert fingerprint.fingerprint(length_of_stretch) == before
    with monkeypatch.context() as changed:
        changed.setattr(Path, "rate", lambda path: path.end.at)
        assert fingerprint.fingerprint(length_of_stretch) != before
    assert fingerprint.fingerprint(length_of_stretch) == before
    monkeypatch.setattr(Stretch, "first", property(lambda stretch: stretch.places[-1].at))
    assert fingerprint.fingerprint(length_of_stretch) != before


def test_a_changed_property_or_method_changes_the_digest_of_a_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(convention.COMPOUNDS, "P", (Pair, "FI"))
    before = unit_digests.digest_of_unit(((furthest, "Pf>f"),))
    assert unit_digests.digest_of_unit(((furthest, "Pf>f"),)) == before
    monkeypatch.setattr(Pair, "places", property(lambda pair: rows_of(Place, pair.x, 0, pair.n[0])))
    assert unit_digests.digest_of_unit(((furthest, "Pf>f"),)) != before
    monkeypatch.undo()
    monkeypatch.setitem(convention.COMPOUNDS, "P", (Pair, "FI"))
    monkeypatch.setattr(Place, "later", lambda place, time: place.at - time * place.speed)
    assert unit_digests.digest_of_unit(((furthest, "Pf>f"),)) != before


class Ends(Record):
    """A record of two records, at the start of a view."""

    left: Place
    right: Place


class Vectors(NamedTuple):
    """A record and vectors of length n that lie in one view, one after the other."""

    n: int
    numbers: Any

    @property
    def ends(vectors):
        return rows_of(Ends, vectors.numbers, 0, 1)[0]

    def vector(vectors, index):
        return vectors.numbers[4 + index * vectors.n : 4 + (index + 1) * vectors.n]


class Rising(Vectors):
    """Shows the first vector."""

    @property
    def shown(vectors):
        return vectors.vector(0)


class Falling(Vectors):
    """Shows the second vector."""

    @property
    def shown(vectors):
        return vectors.vector(1)


def add_to_shown(vectors, amount):
    shown = vectors.shown
    for m in range(vectors.n):
        shown[m] += amount * vectors.ends.right.later(1.0)
    vectors.ends.left.at += 1.0
    return vectors.numbers[0] + len(shown)


def sum_of_both(n, numbers):
    return add_to_shown(Rising(n, numbers), 1.0) + 1000.0 * add_to_shown(Falling(n, numbers), 2.0)


@pytest.mark.parametrize("coder", CODERS, ids=["llvm", "c"][: len(CODERS)])
def test_named_tuples_with_methods_and_properties(coder: Coder) -> None:
    function = loaded(coder, sum_of_both, "iF>f")
    for n in (0, 1, 3):
        numbers = np.arange(
            4.0 + 2 * 3 + 1
        )  # two records of two numbers, and room for two vectors and one more
        plain_numbers, result = numbers.copy(), np.zeros(1)
        expected = sum_of_both(n, plain_numbers)
        assert function(result.ctypes.data, n, numbers.ctypes.data, numbers.size) == 0
        assert numbers.tobytes() == plain_numbers.tobytes() and result[0] == expected


def function_of_vectors(method: Any, shown_property: Any) -> Any:
    """A function of a named tuple with another method `vector` and another property `shown`."""

    class Shown(Vectors):
        shown = shown_property

    Shown.vector = method

    def read(n, numbers):
        return Shown(n, numbers).shown[0]

    return read


def test_another_method_or_property_of_a_named_tuple_changes_the_digest_of_a_unit() -> None:
    def other_vector(vectors, index):
        return vectors.numbers[5 + index :]

    first, second = property(lambda v: v.vector(0)), property(lambda v: v.vector(1))
    members = (Vectors.vector, first), (other_vector, first), (other_vector, second), (other_vector, second)
    functions = [function_of_vectors(*pair) for pair in members]
    digests = [unit_digests.digest_of_unit(((function, "iF>f"),)) for function in functions]
    assert len(set(digests)) == 3 and digests[2] == digests[3]
