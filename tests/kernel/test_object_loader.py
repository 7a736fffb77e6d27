"""Object files are loaded without LLVM where their form is known, else by LLVM, with the same results."""

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
"""A function that multiplies by a factor, in LLVM's language."""
CALLING = """
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
"""A function that multiplies an entry of a table by another function of a sine."""


def object_of(text):
    """The object of a text; empty where these tests are skipped."""
    return machine.object_of(text) if object_loader.can_load() and not is_plain() else b""


def function_at(name):
    """The loaded function of this name."""
    return ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_int64)(machine.address_of(name))


def load(text):
    """Compile a text and load its object."""
    machine.load(machine.object_of(text))


def test_an_object_may_use_constants_libraries_and_functions_of_other_objects():
    load(SCALED.format(name="loader_half", factor="0.5"))
    load(CALLING.format(name="loader_first", other="loader_half"))
    function = function_at("loader_first")
    for x in (0.0, -0.0, 1.0, 1e300, -2.5):
        for i, factor in enumerate((1.5, -0.0, 4.0)):
            y, expected = function(x, i), factor * (math.sin(x) * 0.5)
            assert (y, math.copysign(1.0, y)) == (expected, math.copysign(1.0, expected))


def test_an_object_of_unknown_form_is_loaded_by_llvm(monkeypatch):
    """Either may call functions that were loaded in the other way."""
    load(SCALED.format(name="loader_twice", factor="2.0"))
    with monkeypatch.context() as patch:

        def refuse(*_):
            raise object_loader.UnknownObjectError("a test")

        patch.setattr(object_loader, "load", refuse)
        load(CALLING.format(name="loader_second", other="loader_twice"))
        load(SCALED.format(name="loader_by_llvm", factor="1.0"))
    load(CALLING.format(name="loader_third", other="loader_by_llvm"))
    assert function_at("loader_second")(1.0, 0) == 1.5 * (math.sin(1.0) * 2.0)
    assert function_at("loader_third")(1.0, 2) == 4.0 * math.sin(1.0)


@pytest.mark.parametrize(
    "code",
    [
        b"",
        b"\x7fELF\x02\x01\x01",
        b"MZ" + bytes(100),
        object_of("@memory = global double 1.0"),
        object_of(CALLING.format(name="loader_lost", other="loader_nowhere")),
    ],
    ids=["empty", "cut off", "of Windows", "writable memory", "an undefined symbol"],
)
def test_objects_of_unknown_form_are_refused(code):
    with pytest.raises(object_loader.UnknownObjectError):
        object_loader.load(code, object_loader.address_in_process)


def test_a_cached_function_runs_without_llvm(tmp_path):
    script = tmp_path / "run.py"
    script.write_text(
        "import sys\nfrom cosim_compiler.native import compile_function\n"
        "def half(x):\n    return x * 0.5\n"
        "assert compile_function(half, 'f>f')(3.0) == 1.5\n"
        "print([name for name in sys.modules if name.startswith('llvmlite')])\n",
        "utf-8",
    )
    environment = {**os.environ, "COSIM_CACHE_DIR": str(tmp_path)}
    printed = [
        subprocess.run(
            [sys.executable, script], capture_output=True, text=True, env=environment, check=True
        ).stdout
        for _ in range(2)
    ]
    assert printed[0] != "[]\n" and printed[1] == "[]\n"


def test_the_versions_that_llvm_reports_are_cached_for_each_processor(monkeypatch, tmp_path):
    monkeypatch.setenv("COSIM_CACHE_DIR", str(tmp_path))
    kernel_cache.folder.cache_clear()
    calls = []

    def answer():
        calls.append(machine._signs_of_processor())
        return f"answer {len(calls)}"

    monkeypatch.setattr(machine, "_asked_versions", answer)
    signs = machine._signs_of_processor()
    assert "flags" in signs
    read = machine.versions.__wrapped__
    assert [read(), read()] == ["answer 1", "answer 1"]
    monkeypatch.setattr(machine, "_signs_of_processor", lambda: signs + "avx")
    assert [read(), read()] == ["answer 2", "answer 2"]
    # without signs no answer is cached
    monkeypatch.setattr(machine, "_signs_of_processor", lambda: "")
    assert [read(), read()] == ["answer 3", "answer 4"]
    kernel_cache.folder.cache_clear()


def test_compiled_functions_call_the_c_library():
    def power(x, y):
        return math.pow(x, y) if x > 0.0 else math.atan2(y, x)

    function = compile_function(power, "ff>f")
    for x, y in ((2.0, 0.5), (-1.0, 3.0), (0.0, 0.0), (0.0, -0.0)):
        assert function(x, y) == power(x, y)
