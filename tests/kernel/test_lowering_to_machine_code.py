"""Kernel functions as machine code without Python: the bits of the compiled ones, with nothing but libm."""

import ctypes
import math
import os
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cosim
from cosim import kit
from cosim.testing.known_solution import known_system
from cosim_compiler import kernel_cache
from cosim_compiler.convention import COMPOUNDS, expanded
from cosim_compiler.printers import llvm_lowered
from cosim_lowering import linking, machine_code, optimizer
from cosim_lowering.entry_points import entry_point
from cosim_lowering.machine_code import MachineCode, Target, own_target
from cosim_lowering.optimizer import Optimizer
from cosim_lowering.program import Program

pytestmark = pytest.mark.skipif(
    kit.is_plain() or shutil.which("cc") is None or not sys.platform.startswith("linux"),
    reason="needs llvmlite, a C compiler and Linux",
)
SIGNATURE = "FFIf>i"
RAISED = -1
"""What an entry point returns where the function has raised."""


def half(x):
    return 0.5 * x


def churn(x, work, count, t):
    """Operations whose bits could differ: calls of the C library, a helper, sums and quotients."""
    if count[0] < 0:
        raise ValueError("negative")
    for i in range(count[0]):
        work[i] = math.sin(t + x[i]) * math.exp(-half(x[i])) + math.pow(abs(x[i]), 0.3) - x[i] * t
        x[i] += work[i] / (1.0 + i)
    return count[0] + 2


def counted(x, count, t):
    return count[-1] * 10 + x.shape[0]


def twice(x):
    x[2] = x[0] * 3.0
    x[3] = x[1] * 3.0
    return 0


class Array(ctypes.Structure):
    """An array as an entry point takes it."""

    _fields_ = [("data", ctypes.c_void_p), ("rows", ctypes.c_int64), ("columns", ctypes.c_int64)]


def arrays_of(*arrays: np.ndarray) -> ctypes.Array[Array]:
    records = [Array(a.ctypes.data, a.shape[0], a.shape[1] if a.ndim == 2 else 1) for a in arrays]
    return (Array * len(records))(*records)


def symbols_of(library: Path) -> str:
    """The dynamic symbols of a library, a line each."""
    return subprocess.run(["nm", "-D", library], capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """Both functions in one library, that exports their entry points and needs only the C library."""
    folder = tmp_path_factory.mktemp("lowered")
    texts = [
        kit.lower({"lowered_churn": (churn, SIGNATURE), "lowered_counted": (counted, "FIf>i")}),
        f"!0 = !{{}}\n{entry_point('churn', 'lowered_churn', SIGNATURE, RAISED)}",
        f"!0 = !{{}}\n{entry_point('counted', 'lowered_counted', 'FIf>i', RAISED)}",
    ]
    names = ["churn", "counted"]
    code = MachineCode([texts[:1], texts[1:]], [], exported=names)
    objects = [folder / f"code_{i}.o" for i in range(2)]
    for path, data in zip(objects, code.objects(own_target()), strict=True):
        path.write_bytes(data)
    subprocess.run(["cc", "-shared", "-o", "code.so", *objects, "-lm"], cwd=folder, check=True)
    symbols = symbols_of(folder / "code.so")
    assert " T churn" in symbols and "lowered_churn" not in symbols
    undefined = {line.split()[-1].partition("@")[0] for line in symbols.splitlines() if " U " in line}
    assert undefined == {"sin", "exp", "pow"}
    library = ctypes.CDLL(str(folder / "code.so"))
    for name in names:
        getattr(library, name).restype = ctypes.c_int64
        getattr(library, name).argtypes = [ctypes.POINTER(Array), ctypes.c_double]
    return library


def test_a_lowered_function_gives_the_bits_of_the_compiled_one(library: ctypes.CDLL) -> None:
    start = np.random.default_rng(3).normal(size=40)
    lowered_x, compiled_x = start.copy(), start.copy()
    lowered_work, compiled_work, count = np.zeros(40), np.zeros(40), np.array([40])
    compiled = kit.compile_function(churn, SIGNATURE)
    for i in range(50):
        assert library.churn(arrays_of(lowered_x, lowered_work, count), 0.1 * i) == 42
        assert compiled(compiled_x, compiled_work, count, 0.1 * i) == 42
    assert lowered_x.tobytes() == compiled_x.tobytes() != start.tobytes()
    assert lowered_work.tobytes() == compiled_work.tobytes()


def test_an_entry_point_knows_the_lengths_of_arrays_and_has_a_code_for_exceptions(
    library: ctypes.CDLL,
) -> None:
    assert library.counted(arrays_of(np.zeros(4), np.array([1, 5])), 0.0) == 54
    assert library.counted(arrays_of(np.zeros(0), np.array([0])), 0.0) == 0
    assert library.churn(arrays_of(np.zeros(1), np.zeros(1), np.array([-1])), 0.0) == RAISED


def test_the_text_is_cached_and_made_again_if_it_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lowered = []
    text_of = llvm_lowered.text_of
    monkeypatch.setattr(kernel_cache, "folder", lambda: tmp_path)
    monkeypatch.setattr(llvm_lowered, "text_of", lambda unit: lowered.append(unit) or text_of(unit))
    text = kit.lower({"one": (half, "f>f")})
    assert kit.lower({"two": (half, "f>f")}) == text.replace("@one", "@two") and len(lowered) == 1
    (cached,) = tmp_path.iterdir()
    cached.write_bytes(cached.read_bytes().replace(b"ret", b"add"))
    assert kit.lower({"one": (half, "f>f")}) == text and len(lowered) == 2


def test_functions_of_python_and_wrong_signatures_are_refused() -> None:
    with pytest.raises(cosim.ContractError, match="plain function"):
        kit.lower({"sine": (math.sin, "f>f")})
    text = "declare double @PyFloat_AsDouble(ptr)\ndefine double @f(ptr %p) {\n"
    text += "  %x = call double @PyFloat_AsDouble(ptr %p)\n  ret double %x\n}\n"
    with pytest.raises(cosim.ContractError, match="PyFloat_AsDouble"):
        MachineCode([[text]], ["f"])
    with pytest.raises(ValueError, match="signature"):
        entry_point("f", "g", "fF>i", RAISED)


def test_lowering_in_plain_python_is_refused_with_the_reason() -> None:
    code = """
import cosim
from cosim import kit
try:
    kit.lower({'x': (kit.walk, 'f>f')})
except cosim.ContractError as error:
    print(error)
"""
    environment = {**os.environ, "COSIM_PLAIN": "1"}
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert "COSIM_PLAIN" in process.stdout


def test_a_signature_is_expanded_to_the_fields_of_its_named_tuples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(COMPOUNDS, "A", (namedtuple("Two", "x n"), "FI"))
    before = expanded("Af>i")
    monkeypatch.setitem(COMPOUNDS, "A", (namedtuple("Two", "n x"), "IF"))
    assert (before, expanded("Af>i"), expanded("f>i")) == ("A(F x, I n)f>i", "A(I n, F x)f>i", "f>i")


def inner_text(factor: str) -> str:
    """LLVM's text of the function `inner`, which multiplies by a factor."""
    return f"""
define double @inner(double %x) {{
  %y = fmul double %x, {factor}
  ret double %y
}}
"""


def outer_text(factor: str) -> str:
    """LLVM's text of the function `outer`, which multiplies what `inner` computes by a factor."""
    return f"""
declare double @inner(double)
define double @outer(double %x) {{
  %y = call double @inner(double %x)
  %z = fmul double %y, {factor}
  ret double %z
}}
"""


def test_only_the_piece_with_an_edited_function_is_compiled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, counts = tmp_path / "cache", {"optimized": 0, "written": 0}
    cache.mkdir()

    def counting(name: str, function: Any) -> Any:
        def count_call(*arguments: Any) -> bytes:
            counts[name] += 1
            return function(*arguments)

        return count_call

    monkeypatch.setattr(kernel_cache, "folder", lambda: cache)
    monkeypatch.setattr(machine_code, "_linked", counting("optimized", machine_code._linked))
    monkeypatch.setattr(machine_code, "_object_file", counting("written", machine_code._object_file))

    def objects(outer: str, inner: str, exported: str = "outer", target: Target | None = None) -> list[bytes]:
        code = MachineCode([[outer_text(outer)], [inner_text(inner)]], [], [exported])
        return code.objects(target or own_target())

    def new_counts() -> tuple[int, int]:
        """How many pieces were optimized and written as objects since the last call."""
        numbers = counts["optimized"], counts["written"]
        counts.update(optimized=0, written=0)
        return numbers

    original = objects("2.0", "3.0")
    assert new_counts() == (2, 2)
    assert objects("2.0", "3.0") == original and new_counts() == (0, 0)
    edited = objects("2.0", "5.0")
    assert edited[0] == original[0] and edited[1] != original[1] and new_counts() == (1, 1)
    # pieces are optimized once for all processors
    for_arm = objects("2.0", "3.0", target=Target("aarch64-unknown-linux-gnu", "generic"))
    assert for_arm != original and new_counts() == (0, 2)
    # another export is another program
    assert objects("2.0", "3.0", exported="inner") != original and new_counts() == (2, 2)
    assert objects("2.0", "3.0") == original and new_counts() == (0, 0)


def test_equal_names_of_two_programs_in_one_library_do_not_clash(tmp_path: Path) -> None:
    """The second program only adds its `inner`, which the `outer` of the first one must not call."""

    def objects_of(program: str, inner: str) -> list[bytes]:
        pieces = [[outer_text("2.0")], [inner_text(inner)]]
        return MachineCode(pieces, [], ["outer"], prefix=program).objects(own_target())

    files = []
    for i, data in enumerate([*objects_of("a", "3.0"), objects_of("b", "5.0")[1]]):
        files.append(tmp_path / f"{i}.o")
        files[-1].write_bytes(data)
    subprocess.run(["cc", "-shared", "-o", "both.so", *files], cwd=tmp_path, check=True)
    outer = ctypes.CDLL(str(tmp_path / "both.so")).outer
    outer.restype, outer.argtypes = ctypes.c_double, [ctypes.c_double]
    assert outer(1.0) == 2.0 * 3.0
    assert "inner" not in symbols_of(tmp_path / "both.so")


def test_code_of_two_levels_of_optimization_is_cached_separately(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [kit.lower({"churn": (churn, SIGNATURE)})]
    monkeypatch.setattr(kernel_cache, "folder", lambda: tmp_path)
    codes = {}
    for level in (3, 0):
        monkeypatch.setattr(optimizer, "LEVEL", level)
        code = MachineCode([texts], [], exported=["churn"])
        codes[level] = (code.digest, code.objects(own_target()))
    assert codes[0][0] != codes[3][0] and codes[0][1] != codes[3][1]


@pytest.mark.parametrize(("integrator", "level"), [("integrators.heun", 1), ("integrators.bdf", 3)])
def test_the_step_of_an_implicit_method_keeps_the_highest_level(
    integrator: str, level: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings: list[tuple[int, bool]] = []

    def record(self: Optimizer, bitcode: bytes, level: int, pairs: bool) -> bytes:
        settings.append((level, pairs))
        raise InterruptedError  # one piece is enough: the Step's is the first

    monkeypatch.setattr(optimizer, "LEVEL", 3)
    monkeypatch.setattr(Optimizer, "optimized", record)
    monkeypatch.setattr(machine_code, "read_cached", lambda key: None)
    options: dict[str, Any] = {"fixed_step": 0.1} if integrator == "integrators.heun" else {}
    code = linking.machine_code(Program(known_system(), integrator, **options), ["advance"], RAISED)
    with pytest.raises(InterruptedError):
        code.objects(own_target())
    assert settings == [(level, False)]


def test_operations_on_neighbours_are_joined_if_pairs_are_asked_for() -> None:
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(kit.lower({"twice": (twice, "F>i")})).as_bitcode()
    with Optimizer(kit.plainest_processor()) as llvm_optimizer:
        joined, single = (
            str(llvm.parse_bitcode(llvm_optimizer.optimized(module, 3, pairs))) for pairs in (True, False)
        )
    assert "fmul <2 x double>" in joined
    assert "fmul double" in single and "fmul <2 x double>" not in single


def test_an_optimizer_gives_each_module_the_bytes_that_it_gets_alone() -> None:
    import llvmlite.binding as llvm

    modules = [llvm.parse_assembly(kit.lower({name: (half, "f>f")})).as_bitcode() for name in ("a", "b", "a")]
    alone = []
    for module in modules:
        with Optimizer(kit.plainest_processor()) as llvm_optimizer:
            alone.append(llvm_optimizer.optimized(module))
    with Optimizer(kit.plainest_processor()) as llvm_optimizer:
        assert [llvm_optimizer.optimized(module) for module in modules] == alone


def test_an_error_of_llvm_is_passed_on() -> None:
    with (
        Optimizer(kit.plainest_processor()) as llvm_optimizer,
        pytest.raises(cosim.CosimError, match="LLVM cannot optimize .*bitcode"),
    ):
        llvm_optimizer.optimized(b"no module")
