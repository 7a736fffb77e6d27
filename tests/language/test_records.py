"""Records: the same bytes in plain Python and compiled, by LLVM and by C; saved, seen by NumPy, told to C."""

from __future__ import annotations

import ctypes
import math
import random
import shutil
from typing import Any, NamedTuple

import numpy as np
import pytest
from record_parts import Finding, Level, Run, Witness, forget, look, next_expected

from cosim_compiler import convention, fingerprint, unit_digests
from cosim_compiler.code import BY_C, BY_LLVM, Coder
from cosim_compiler.errors import ContractError
from cosim_compiler.language.program import Program
from cosim_compiler.record import (
    Record,
    Rows,
    layout_digest,
    layout_of,
    rows_of,
)
from cosim_compiler.record_header import c_header

WITNESSES, FINDINGS = 4, 3
CODERS = [BY_LLVM, *([BY_C] if any(map(shutil.which, ("cc", "gcc", "clang"))) else [])]
FUNCTIONS = {look: "R>i", next_expected: "R>f", forget: "R>v"}


class Made:
    """A run and what it holds."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        self.witnesses, self.findings = (Witness * WITNESSES)(), (Finding * FINDINGS)()
        self.c, self.counts = np.zeros(8), np.zeros(WITNESSES, dtype=np.int64)
        for i, w in enumerate(self.witnesses):
            w.number, w.direction, w.at = i, draw.choice([-1, 0, 1]), draw.randrange(8)
            w.expected, w.last.guard = draw.uniform(0.0, 9.0), draw.uniform(-0.5, 0.5)
        self.run = Run()
        for name in ("witnesses", "findings", "c", "counts"):
            self.run.hold(name, getattr(self, name))

    def bytes(self) -> tuple[bytes, ...]:
        kept = bytes(self.run.time.hex(), "ascii"), bytes(str(self.run.found), "ascii")
        return (*kept, bytes(self.witnesses), bytes(self.findings), self.c.tobytes(), self.counts.tobytes())


def compiled(coder: Coder, monkeypatch: pytest.MonkeyPatch) -> dict[Any, Any]:
    """Addresses of the functions, called with the address of a run: status and result."""
    monkeypatch.setitem(convention.RECORDS, "R", (Run, layout_digest(Run)))
    program = Program()
    name = f"records_{id(program)}"
    entries = [
        (f"{name}_{i}", program.root(function, signature), signature)
        for i, (function, signature) in enumerate(FUNCTIONS.items())
    ]
    coder.machine.load(coder.code(coder.text(program, entries)))

    def caller(i: int, signature: str) -> Any:
        prototype = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)
        call = prototype(coder.machine.address_of(f"{name}_{i}"))

        def run(made: Made) -> tuple[int, float]:
            result = ctypes.c_double() if signature[-1] == "f" else ctypes.c_int64()
            return call(ctypes.addressof(result), ctypes.addressof(made.run)), result.value

        return run

    return {function: caller(i, signature) for i, (function, signature) in enumerate(FUNCTIONS.items())}


@pytest.mark.parametrize("coder", CODERS, ids=["llvm", "c"][: len(CODERS)])
def test_random_runs(coder: Coder, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, raised = compiled(coder, monkeypatch), 0
    for seed in range(100):
        plain, other, draw = Made(seed), Made(seed), random.Random(seed)
        for function in [draw.choice(list(FUNCTIONS)) for _ in range(12)]:
            plain.c[:] = other.c[:] = [draw.uniform(-1.0, 1.0) for _ in range(8)]
            status, result = calls[function](other)
            try:
                expected = function(plain.run)
                assert status == 0 and (expected is None or expected == result)
            except ArithmeticError:
                assert status == 1
                raised += 1
            assert plain.bytes() == other.bytes()
    assert raised > 3


def test_a_changed_method_is_another_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(convention.RECORDS, "R", (Run, layout_digest(Run)))
    before = unit_digests.digest_of_unit(((look, "R>i"),))
    assert unit_digests.digest_of_unit(((look, "R>i"),)) == before
    monkeypatch.setattr(Level, "is_above", lambda level: level.value >= level.guard)
    assert unit_digests.digest_of_unit(((look, "R>i"),)) != before


def test_a_misspelt_field_is_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'expectd'"):
        Witness().expectd = 1.0
    from cosim_compiler.sources.run_source import run_source

    text = "def f(run):\n    return run.tme\n"
    from cosim_compiler.language.types import Record as RecordType

    with pytest.raises(ContractError, match="`run.tme`.*'tme'; nearest: 'time'"):
        Program().function(run_source(text)["f"], (RecordType(Run),))
    text = "def f(run):\n    run.witnesses = 1\n"
    with pytest.raises(ContractError, match="whole: write"):
        Program().function(run_source(text)["f"], (RecordType(Run),))


def test_fields_of_other_kinds_are_refused() -> None:
    with pytest.raises(ContractError, match="Odd.name.*int, a record"):

        class Odd(Record):
            """Has text."""

            name: str


def test_all_fields_are_eight_bytes_wide() -> None:
    assert [offset for _, offset, _ in layout_of(Witness)] == [0, 8, 16, 24, 40]
    assert ctypes.sizeof(Witness) == 48 and ctypes.sizeof(Run) == 8 * (2 + 4 * 2)


def test_a_layout_has_a_digest() -> None:
    assert layout_digest(Level) != layout_digest(Finding)
    assert layout_digest(Level) == layout_digest(Level)


def test_rows_hold_what_is_theirs() -> None:
    run = Run()
    assert len(run.witnesses) == 0 and len(run.c) == 0
    for wrong in (np.zeros(3, dtype=np.int64), (ctypes.c_int64 * 3)()):
        with pytest.raises(ContractError, match="Run.c holds"):
            run.hold("c", wrong)
    for wrong in (np.zeros((2, 2)), np.zeros(4)[::2]):
        with pytest.raises(ContractError, match="Run.c needs an array of one dimension"):
            run.hold("c", wrong)
    with pytest.raises(ContractError, match="field of rows"):
        run.hold("time", np.zeros(3))
    assert isinstance(Run.declared["c"], Rows)


HEADER = """\
/* A value, and what counts as zero of it. */
typedef struct Level {
    double value;
    double guard;
} Level;
"""


def test_a_header_of_c() -> None:
    text = c_header(Level, Witness, Finding, Run)
    assert HEADER in text
    assert "    struct Level last;\n" in text
    assert "    struct { struct Witness *at; int64_t n; } witnesses;\n" in text


class Place(Record):
    """Two numbers that lie in a view."""

    at: float
    speed: float

    def later(place, time):
        return place.at + time * place.speed


class Counted(Record):
    """What a view of reals has no room for."""

    count: int


class Pair(NamedTuple):
    """A group whose properties and methods show its views as records."""

    x: Any
    n: Any

    @property
    def places(pair):
        return rows_of(Place, pair.x, 1, pair.n[0])

    def first_at(pair, time):
        return min(math.inf, pair.places[0].later(time), pair.places[-1].later(time))


def furthest(pair, time):
    found = -math.inf
    for place in pair.places:
        found = max(found, place.later(time))
        place.at = place.later(time)
    return found + (pair.first_at(0.0) if pair.n[0] > 0 else 0.0)


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
    program = Program()
    name = f"views_{id(program)}"
    coder.machine.load(coder.code(coder.text(program, [(name, program.root(furthest, "Pf>f"), "Pf>f")])))
    other = Pair(start.copy(), np.array([count]))
    head = np.array([word for view in other for word in (view.ctypes.data, view.size)])
    result = ctypes.c_double()
    call = convention.prototype("Pf>f")(coder.machine.address_of(name))
    assert call(ctypes.addressof(result), head.ctypes.data, 0.25) == 0
    assert result.value == expected
    assert other.x.tobytes() == plain.x.tobytes()


def test_a_view_without_room_for_a_record_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(convention.COMPOUNDS, "P", (Pair, "FI"))
    with pytest.raises(ContractError, match=r"view.*Counted\.count"):
        Program().root(misfit, "Pf>f")


class Path(Record):
    """Places inside a record, for rows of numbers."""

    start: Place
    end: Place

    def rate(path):
        return (path.end.at - path.start.at) / path.start.speed


def shifted_path(x, n, by):
    """Rows of records with records inside, and a part of a view whose places all lie inside."""
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
    program = Program()
    name = f"rows_{id(program)}"
    root = program.root(shifted_path, "FIf>f")
    coder.machine.load(coder.code(coder.text(program, [(name, root, "FIf>f")])))
    x, result = start.copy(), ctypes.c_double()
    call = convention.prototype("FIf>f")(coder.machine.address_of(name))
    given = [word for view in (x, n) for word in (view.ctypes.data, view.size)]
    assert call(ctypes.addressof(result), *given, 0.125) == 0
    assert result.value == expected
    assert x.tobytes() == plain.tobytes()


def whole_numbers_of_reals(x):
    return float(rows_of(int, x, 0, 1)[0])


def test_numbers_of_another_kind_than_the_view_has_are_refused() -> None:
    with pytest.raises(ContractError, match="a view has no numbers of the kind int"):
        Program().root(whole_numbers_of_reals, "F>f")


class Stretch(NamedTuple):
    """What a function makes of a view, with a method that another may take the place of."""

    places: Any
    factor: float = 2.0

    @property
    def first(stretch):
        return stretch.places[0].at


def length_of_stretch(x):
    return Stretch(rows_of(Path, x, 0, 1), 3.0).places[0].rate()


def test_a_function_that_names_records_is_digested_once(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint.fingerprint(length_of_stretch)
    assert length_of_stretch in fingerprint._digests
    assert fingerprint.fingerprint(length_of_stretch) == before
    with monkeypatch.context() as changed:
        changed.setattr(Path, "rate", lambda path: path.end.at)
        assert fingerprint.fingerprint(length_of_stretch) != before
    assert fingerprint.fingerprint(length_of_stretch) == before
    monkeypatch.setattr(Stretch, "first", property(lambda stretch: stretch.places[-1].at))
    assert fingerprint.fingerprint(length_of_stretch) != before


def test_a_changed_property_is_another_unit(monkeypatch: pytest.MonkeyPatch) -> None:
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
    """Records inside a record that lies in a view."""

    left: Place
    right: Place


class Vectors(NamedTuple):
    """Vectors that lie in one view, one behind the other."""

    n: int
    numbers: Any

    @property
    def ends(vectors):
        return rows_of(Ends, vectors.numbers, 0, 1)[0]

    def vector(vectors, index):
        return vectors.numbers[4 + index * vectors.n : 4 + (index + 1) * vectors.n]


class Rising(Vectors):
    """Shows its own place of a vector."""

    @property
    def shown(vectors):
        return vectors.vector(0)


class Falling(Vectors):
    """Of the same items, and with another place."""

    @property
    def shown(vectors):
        return vectors.vector(1)


def add_to_shown(vectors, amount):
    shown = vectors.shown
    for m in range(vectors.n):
        shown[m] += amount * vectors.ends.right.later(1.0)
    vectors.ends.left.at += 1.0
    return vectors.numbers[0] + len(shown)


def of_both(n, numbers):
    return add_to_shown(Rising(n, numbers), 1.0) + 1000.0 * add_to_shown(Falling(n, numbers), 2.0)


@pytest.mark.parametrize("coder", CODERS, ids=["llvm", "c"][: len(CODERS)])
def test_named_tuples_have_methods_and_properties(coder: Coder) -> None:
    program = Program()
    name = f"named_{id(program)}"
    entries = [(name, program.root(of_both, "iF>f"), "iF>f")]
    coder.machine.load(coder.code(coder.text(program, entries)))
    called = convention.prototype("iF>f")(coder.machine.address_of(name))
    for n in (0, 1, 3):
        given = np.arange(4.0 + 2 * 3 + 1)
        plain, made, answer = given.copy(), given.copy(), np.zeros(1)
        expected = of_both(n, plain)
        assert called(answer.ctypes.data, n, made.ctypes.data, made.size) == 0
        assert made.tobytes() == plain.tobytes() and answer[0] == expected


def shown_by(method: Any, made: Any) -> Any:
    class Shown(Vectors):
        shown = made

    Shown.vector = method

    def read(n, numbers):
        return Shown(n, numbers).shown[0]

    return read


def test_another_method_of_a_named_tuple_is_another_unit() -> None:
    def of_next(vectors, index):
        return vectors.numbers[5 + index :]

    first, second = property(lambda v: v.vector(0)), property(lambda v: v.vector(1))
    made = [shown_by(*given) for given in ((Vectors.vector, first), (of_next, first), (of_next, second))]
    digests = [unit_digests.digest_of_unit(((read, "iF>f"),)) for read in (*made, shown_by(of_next, second))]
    assert len(set(digests)) == 3 and digests[2] == digests[3]
