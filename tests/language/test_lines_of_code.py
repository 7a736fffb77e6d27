"""Machine code with the lines of the author's file, for debuggers; without them nothing else changes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cosim_compiler import code_digest, machine
from cosim_compiler.code import text_for_llvm
from cosim_compiler.language.program import Program
from cosim_compiler.printers import llvm


def helper(x):
    if x > 2.0:
        raise ValueError("too large")
    return x * x


def kernel(x, out):
    out[0] = 1.0
    for i in range(3):
        out[0] += helper(x + i)


def llvm_text(monkeypatch: pytest.MonkeyPatch, shown: bool) -> str:
    monkeypatch.setattr(llvm, "lines_are_shown", lambda: shown)
    program = Program()
    return text_for_llvm(program, [("entry", program.root(kernel, "fF>v"), "fF>v")])


@pytest.mark.skipif(shutil.which("readelf") is None, reason="nothing reads object files here")
def test_an_object_file_names_file_and_lines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    object_file = tmp_path / "unit.o"
    object_file.write_bytes(machine.object_of(llvm_text(monkeypatch, True)))
    shown_lines = subprocess.run(
        ["readelf", "--debug-dump=decodedline", str(object_file)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert Path(__file__).name in shown_lines
    rows = [row.split() for row in shown_lines.splitlines() if ".py" in row]
    lines = {int(row[1]) for row in rows if len(row) > 2 and row[1].isdigit()} - {0}
    first, inner = kernel.__code__.co_firstlineno, helper.__code__.co_firstlineno
    assert {first + 1, inner + 1} <= lines <= set(range(inner, first + 5))


def test_lines_change_nothing_else_in_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, shown_lines = llvm_text(monkeypatch, False), llvm_text(monkeypatch, True)
    code = re.sub(r",? !dbg !\d+", "", shown_lines).splitlines()
    assert [line for line in code if line[:1] != "!"] == [
        line for line in plain.splitlines() if line[:1] != "!"
    ]
    assert "!dbg" not in plain and "!DILocation" in shown_lines


MODEL = """
import cosim


class Decay(cosim.Component):
    level = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def derivatives(level, level_dot):
        twice = 2.0 * level
        level_dot[0] = -twice


model = cosim.Model("decay")
model.add(Decay, "decay")
model.build().default_state().realize()
"""
STOP = "        level_dot[0] = -twice"


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")
def test_gdb_stops_at_a_line_of_an_author(tmp_path: Path) -> None:
    law = tmp_path / "law.py"
    law.write_text(MODEL)
    line = MODEL.splitlines().index(STOP) + 1
    commands = ["set breakpoint pending on", f"break law.py:{line}", f"run {law}", "backtrace 1", "list"]
    options = [word for command in commands for word in ("-ex", command)]
    shown = subprocess.run(
        ["gdb", "-q", "-batch", *options, sys.executable],
        env={**os.environ, "COSIM_LINES": "1", "COSIM_PLAIN": "0"},
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    assert f"#0  derivatives () at {law}:{line}" in shown
    assert f"{line}\t{STOP}" in shown and f"{line - 1}\t        twice = 2.0 * level" in shown


SOURCE = "def law(x):\n    return 2.0 * x\n"


def test_code_with_lines_has_a_digest_that_depends_on_file_and_line(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ((SOURCE, "law.py"), ("\n" + SOURCE, "law.py"), (SOURCE, "other.py"), (SOURCE, "law.py"))
    for shown, different in ((False, 1), (True, 3)):
        monkeypatch.setattr(code_digest, "lines_are_shown", lambda shown=shown: shown)
        codes = [compile(source, name, "exec").co_consts[0] for source, name in texts]
        assert len({code_digest.code_digest(code) for code in codes}) == different
