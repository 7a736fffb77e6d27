"""Objects are loaded without LLVM where that is known to be right, else by LLVM: with the same results."""

import ctypes
import math
import os
import subprocess
import sys

import pytest

from cosim_compiler import kernel_cache, machine, object_loader
from cosim_compiler.native import compile_function, is_plain

pytestmark = pytest.mark.skipif(
    is_plain() or not object_loader.can_load(), reason="for machine code on Linux, x86-64"
)
SCALED = "define double @{name}(double %x) {{\n%y = fmul double %x, {factor}\nret double %y\n}}"
TEXT = """
@table = private constant [3 x double] [double 1.5, double -0.0, double 4.0]
declare double @sin(double)
declare double @{other}(double)
define double @{name}(double %x, i64 %i) {{
  %place = getelementptr [3 x double], ptr @table, i64 0, i64 %i
  %factor = load double, ptr %place
  %sine = call double @sin(double %x)
  %more = call double @{other}(double %sine)
  %y = fmul double %factor, %more
  ret double %y
}}
"""


def called(name):
    return ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_int64)(machine.address_of(name))


def loaded(text):
    machine.load(machine.object_of(text))


def test_constants_libraries_and_functions_of_other_objects_are_reached():
    loaded(SCALED.format(name="loader_half", factor="0.5"))
    loaded(TEXT.format(name="loader_first", other="loader_half"))
    function = called("loader_first")
    for x in (0.0, -0.0, 1.0, 1e300, -2.5):
        for i, factor in enumerate((1.5, -0.0, 4.0)):
            y, expected = function(x, i), factor * (math.sin(x) * 0.5)
            assert (y, math.copysign(1.0, y)) == (expected, math.copysign(1.0, expected))


def test_what_is_not_known_is_left_to_llvm(monkeypatch):
    """Also where it calls what was loaded without LLVM, and the other way round."""
    loaded(SCALED.format(name="loader_twice", factor="2.0"))
    with monkeypatch.context() as patch:

        def refuse(*_):
            raise object_loader.UnknownObjectError("a test")

        patch.setattr(object_loader, "load", refuse)
        loaded(TEXT.format(name="loader_second", other="loader_twice"))
        loaded(SCALED.format(name="loader_by_llvm", factor="1.0"))
    loaded(TEXT.format(name="loader_third", other="loader_by_llvm"))
    assert called("loader_second")(1.0, 0) == 1.5 * (math.sin(1.0) * 2.0)
    assert called("loader_third")(1.0, 2) == 4.0 * math.sin(1.0)


@pytest.mark.parametrize(
    "code",
    [
        b"",
        b"\x7fELF\x02\x01\x01",
        b"MZ" + bytes(100),
        machine.object_of("@memory = global double 1.0")
        if object_loader.can_load() and not is_plain()
        else b"",
        machine.object_of(TEXT.format(name="loader_lost", other="loader_nowhere"))
        if object_loader.can_load() and not is_plain()
        else b"",
    ],
    ids=["empty", "cut off", "of Windows", "memory that is written", "a symbol that nothing has"],
)
def test_other_objects_are_refused(code):
    with pytest.raises(object_loader.UnknownObjectError):
        object_loader.load(code, object_loader.address_in_process)


def test_a_kept_run_does_not_load_llvm(tmp_path):
    script = tmp_path / "run.py"
    script.write_text(
        "import sys\nfrom cosim_compiler.native import compile_function\n"
        "def half(x):\n    return x * 0.5\n"
        "assert compile_function(half, 'f>f')(3.0) == 1.5\n"
        "print([name for name in sys.modules if name.startswith('llvmlite')])\n",
        "utf-8",
    )
    environment = {**os.environ, "COSIM_CACHE_DIR": str(tmp_path)}
    answers = [
        subprocess.run(
            [sys.executable, script], capture_output=True, text=True, env=environment, check=True
        ).stdout
        for _ in range(2)
    ]
    assert answers[0] != "[]\n" and answers[1] == "[]\n"


def test_what_llvm_says_of_the_processor_is_kept_for_this_processor_and_this_llvm(monkeypatch, tmp_path):
    monkeypatch.setenv("COSIM_CACHE_DIR", str(tmp_path))
    kernel_cache.folder.cache_clear()
    asked = []

    def answer():
        asked.append(machine._signs_of_processor())
        return f"answer {len(asked)}"

    monkeypatch.setattr(machine, "_asked_versions", answer)
    signs = machine._signs_of_processor()
    assert "flags" in signs
    read = machine.versions.__wrapped__
    assert [read(), read()] == ["answer 1", "answer 1"]
    monkeypatch.setattr(machine, "_signs_of_processor", lambda: signs + "avx")
    assert [read(), read()] == ["answer 2", "answer 2"]
    monkeypatch.setattr(machine, "_signs_of_processor", lambda: "")
    assert [read(), read()] == ["answer 3", "answer 4"]
    kernel_cache.folder.cache_clear()


def test_compiled_functions_call_others():
    def power(x, y):
        return math.pow(x, y) if x > 0.0 else math.atan2(y, x)

    function = compile_function(power, "ff>f")
    for x, y in ((2.0, 0.5), (-1.0, 3.0), (0.0, 0.0), (0.0, -0.0)):
        assert function(x, y) == power(x, y)
