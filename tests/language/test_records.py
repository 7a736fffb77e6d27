"""Records: methods give the same bytes compiled and in plain Python; fields, layout, digest and C header."""

from __future__ import annotations

import ctypes
import random
import shutil
from typing import Any

import numpy as np
import pytest
from record_parts import (
    Finding,
    Level,
    Run,
    Witness,
    discard_predictions,
    next_predicted_crossing,
    report_crossings,
)

from cosim_compiler import convention, unit_digests
from cosim_compiler.code import BY_C, BY_LLVM, Coder
from cosim_compiler.errors import ContractError
from cosim_compiler.language.program import Program
from cosim_compiler.language.types import Record as RecordType
from cosim_compiler.record import (
    Record,
    Rows,
    layout_digest,
    layout_of,
)
from cosim_compiler.record_header import c_header
from cosim_compiler.sources.run_source import run_source

WITNESSES, FINDINGS = 4, 3
CODERS = [BY_LLVM, *([BY_C] if any(map(shutil.which, ("cc", "gcc", "clang"))) else [])]
FUNCTIONS = {report_crossings: "R>i", next_predicted_crossing: "R>f", discard_predictions: "R>v"}


class RandomRun:
    """A run with random witnesses, and the arrays that it holds."""

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

    def contents(self) -> tuple[bytes, ...]:
        """All numbers, as bytes."""
        numbers = bytes(self.run.time.hex(), "ascii"), bytes(str(self.run.found), "ascii")
        return (
            *numbers,
            bytes(self.witnesses),
            bytes(self.findings),
            self.c.tobytes(),
            self.counts.tobytes(),
        )


def compiled(coder: Coder, monkeypatch: pytest.MonkeyPatch) -> dict[Any, Any]:
    """The compiled functions, as callables of a random run that return a status and a result."""
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

        def call_with(random_run: RandomRun) -> tuple[int, float]:
            result = ctypes.c_double() if signature[-1] == "f" else ctypes.c_int64()
            return call(ctypes.addressof(result), ctypes.addressof(random_run.run)), result.value

        return call_with

    return {function: caller(i, signature) for i, (function, signature) in enumerate(FUNCTIONS.items())}


@pytest.mark.parametrize("coder", CODERS, ids=["llvm", "c"][: len(CODERS)])
def test_compiled_methods_change_records_as_plain_ones_do(
    coder: Coder, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, raised = compiled(coder, monkeypatch), 0
    for seed in range(100):
        plain, by_machine_code, draw = RandomRun(seed), RandomRun(seed), random.Random(seed)
        for function in [draw.choice(list(FUNCTIONS)) for _ in range(12)]:
            plain.c[:] = by_machine_code.c[:] = [draw.uniform(-1.0, 1.0) for _ in range(8)]
            status, result = calls[function](by_machine_code)
            try:
                expected = function(plain.run)
                assert status == 0 and (expected is None or expected == result)
            except ArithmeticError:
                assert status == 1
                raised += 1
            assert plain.contents() == by_machine_code.contents()
    assert raised > 3


def test_a_changed_method_changes_the_digest_of_a_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(convention.RECORDS, "R", (Run, layout_digest(Run)))
    before = unit_digests.digest_of_unit(((report_crossings, "R>i"),))
    assert unit_digests.digest_of_unit(((report_crossings, "R>i"),)) == before
    monkeypatch.setattr(Level, "is_above", lambda level: level.value >= level.guard)
    assert unit_digests.digest_of_unit(((report_crossings, "R>i"),)) != before


def test_a_misspelt_field_is_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'expectd'"):
        Witness().expectd = 1.0
    text = "def f(run):\n    return run.tme\n"
    with pytest.raises(ContractError, match="`run.tme`.*'tme'; nearest: 'time'"):
        Program().function(run_source(text)["f"], (RecordType(Run),))
    text = "def f(run):\n    run.witnesses = 1\n"
    with pytest.raises(ContractError, match="whole: write"):
        Program().function(run_source(text)["f"], (RecordType(Run),))


def test_a_field_of_text_is_refused() -> None:
    with pytest.raises(ContractError, match="Odd.name.*int, a record"):

        class Odd(Record):
            """Has text."""

            name: str


def test_all_numbers_are_eight_bytes_wide() -> None:
    assert [offset for _, offset, _ in layout_of(Witness)] == [0, 8, 16, 24, 40]
    assert ctypes.sizeof(Witness) == 48 and ctypes.sizeof(Run) == 8 * (2 + 4 * 2)


def test_different_layouts_have_different_digests() -> None:
    assert layout_digest(Level) != layout_digest(Finding)
    assert layout_digest(Level) == layout_digest(Level)


def test_rows_hold_only_contiguous_arrays_of_their_type() -> None:
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
/* A value, and the guard up to which it is zero. */
typedef struct Level {
    double value;
    double guard;
} Level;
"""


def test_the_header_for_c_declares_records_as_structures() -> None:
    text = c_header(Level, Witness, Finding, Run)
    assert HEADER in text
    assert "    struct Level last;\n" in text
    assert "    struct { struct Witness *at; int64_t n; } witnesses;\n" in text
