"""An option of LLVM that holds while machine code is chosen, and no longer: others compile here as well."""

from __future__ import annotations

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


def emitted() -> bytes:
    module = machine._llvm().parse_assembly(TEXT)
    code: bytes = machine._processor().emit_object(module)
    return code


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
