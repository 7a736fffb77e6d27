"""An option of LLVM that holds while machine code is chosen, and no longer: others compile here as well."""

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
"""Of two units; the option changes the machine code of both."""


def module_of(text: str) -> Any:
    return machine._llvm().parse_assembly(text)


def emitted() -> bytes:
    code: bytes = machine._processor().emit_object(module_of(TEXT))
    return code


def emitted_alone(text: str) -> bytes:
    """As for a native FMU: of a module that is optimized already."""
    return machine.emit_object(module_of(text), machine._processor())


def test_the_option_is_taken_back() -> None:
    before = emitted()
    with machine.loops_as_they_are():
        inside = emitted()
    assert emitted() == before != inside
    with pytest.raises(KeyError), machine.loops_as_they_are():
        raise KeyError
    assert emitted() == before


def test_an_option_that_was_not_tried_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """LLVM ends the process where it does not know an option."""
    monkeypatch.setattr(machine, "NEWEST_TRIED", 0)
    before = emitted()
    with machine.loops_as_they_are():
        assert emitted() == before


def test_native_fmus_are_made_with_the_option() -> None:
    with machine.loops_as_they_are():
        inside = emitted()
    assert emitted_alone(TEXT) == inside != emitted()


def test_threads_that_compile_at_once_make_the_same_bytes() -> None:
    kinds = [(make, text) for text in TEXTS for make in (machine.object_of, emitted_alone)]
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


def test_one_thread_at_a_time_chooses_machine_code() -> None:
    alone = emitted_alone(TEXT)
    with ThreadPoolExecutor(1) as threads:
        with machine._choosing:
            other = threads.submit(emitted_alone, TEXT)
            with pytest.raises(TimeoutError):
                other.result(timeout=0.2)
        assert other.result() == alone
