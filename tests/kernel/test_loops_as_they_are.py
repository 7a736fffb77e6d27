"""An option of LLVM is set only while our machine code is generated; other users of LLVM do not see it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from cosim_compiler import machine, native
from cosim_compiler.road import LLVM, road

pytestmark = pytest.mark.skipif(native.is_plain() or road() != LLVM, reason="there is no LLVM here")

TEXT = """
define double @total(ptr %values, i64 %count, i64 %columns) {
entry:
  br label %turn
turn:
  %i = phi i64 [0, %entry], [%next, %turn]
  %sum = phi double [0.0, %entry], [%more, %turn]
  %place = mul i64 %i, %columns
  %address = getelementptr double, ptr %values, i64 %place
  %value = load double, ptr %address
  %more = fadd double %sum, %value
  %next = add i64 %i, 1
  %is_done = icmp eq i64 %next, %count
  br i1 %is_done, label %end, label %turn
end:
  ret double %more
}
"""


TEXTS = TEXT, TEXT.replace("@total", "@product").replace("fadd", "fmul")
"""Two units whose machine code the option changes."""


def module_of(text: str) -> Any:
    return machine._llvm().parse_assembly(text)


def emit() -> bytes:
    """Machine code as another user of LLVM would generate it."""
    code: bytes = machine._processor().emit_object(module_of(TEXT))
    return code


def emit_optimized(text: str) -> bytes:
    """Machine code of a module that is optimized already, as for a native FMU."""
    return machine.emit_object(module_of(text), machine._processor())


def test_the_option_is_reset_after_the_block_also_after_an_error() -> None:
    before = emit()
    with machine.loops_as_they_are():
        with_option = emit()
    assert emit() == before != with_option
    with pytest.raises(KeyError), machine.loops_as_they_are():
        raise KeyError
    assert emit() == before


def test_the_option_is_not_set_in_an_llvm_newer_than_the_tested_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """LLVM ends the process if it does not know an option."""
    monkeypatch.setattr(machine, "NEWEST_TRIED", 0)
    before = emit()
    with machine.loops_as_they_are():
        assert emit() == before


def test_code_of_native_fmus_is_generated_with_the_option() -> None:
    with machine.loops_as_they_are():
        with_option = emit()
    assert emit_optimized(TEXT) == with_option != emit()


def test_threads_that_generate_code_at_once_get_the_same_bytes() -> None:
    kinds = [(make, text) for text in TEXTS for make in (machine.object_of, emit_optimized)]
    one_by_one = [make(text) for make, text in kinds]
    assert len(set(one_by_one)) == len(kinds)
    rounds = 50
    start = threading.Barrier(len(kinds))

    def repeated(kind: Any) -> set[bytes]:
        make, text = kind
        start.wait()
        return {make(text) for _ in range(rounds)}

    with ThreadPoolExecutor(len(kinds)) as threads:
        at_once = list(threads.map(repeated, kinds))
    assert at_once == [{code} for code in one_by_one]


def test_only_one_thread_at_a_time_generates_code() -> None:
    expected = emit_optimized(TEXT)
    with ThreadPoolExecutor(1) as threads:
        with machine._choosing:
            other = threads.submit(emit_optimized, TEXT)
            with pytest.raises(TimeoutError):
                other.result(timeout=0.2)
        assert other.result() == expected
