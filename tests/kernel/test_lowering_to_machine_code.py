"""Kernel functions as machine code without Python: the same bits, and nothing needed but the C library."""

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
from cosim_lowering.entry_points import entry_point
from cosim_lowering.machine_code import MachineCode, Target, own_target

SIGNATURE = "FFIf>i"
RAISED = -1


def half(x):
    return 0.5 * x


def churn(x, work, count, t):
    """A little of everything whose bits could differ."""
    if count[0] < 0:
        raise ValueError("negative")
    for i in range(count[0]):
        work[i] = math.sin(t + x[i]) * math.exp(-half(x[i])) + math.pow(abs(x[i]), 0.3) - x[i] * t
        x[i] += work[i] / (1.0 + i)
    return count[0] + 2


def counted(x, count, t):
    return count[-1] * 10 + x.shape[0]


pytestmark = pytest.mark.skipif(
    kit.is_plain() or shutil.which("cc") is None or not sys.platform.startswith("linux"),
    reason="needs llvmlite, a C compiler and Linux",
)


class Array(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("rows", ctypes.c_int64), ("columns", ctypes.c_int64)]


def arrays_of(*given: np.ndarray) -> ctypes.Array[Array]:
    rows = [Array(a.ctypes.data, a.shape[0], a.shape[1] if a.ndim == 2 else 1) for a in given]
    return (Array * len(rows))(*rows)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
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
    seen = subprocess.run(["nm", "-D", "code.so"], cwd=folder, capture_output=True, text=True, check=True)
    assert " T churn" in seen.stdout and "lowered_churn" not in seen.stdout
    needed = {line.split()[-1].partition("@")[0] for line in seen.stdout.splitlines() if " U " in line}
    assert needed == {"sin", "exp", "pow"}
    found = ctypes.CDLL(str(folder / "code.so"))
    for name in names:
        getattr(found, name).restype = ctypes.c_int64
        getattr(found, name).argtypes = [ctypes.POINTER(Array), ctypes.c_double]
    return found


def test_a_lowered_function_gives_the_bits_of_the_compiled_one(library: ctypes.CDLL) -> None:
    start = np.random.default_rng(3).normal(size=40)
    there, here = start.copy(), start.copy()
    work_there, work_here, count = np.zeros(40), np.zeros(40), np.array([40])
    compiled = kit.compile_function(churn, SIGNATURE)
    for i in range(50):
        assert library.churn(arrays_of(there, work_there, count), 0.1 * i) == 42
        assert compiled(here, work_here, count, 0.1 * i) == 42
    assert there.tobytes() == here.tobytes() != start.tobytes()
    assert work_there.tobytes() == work_here.tobytes()


def test_arrays_have_lengths_and_an_exception_is_a_code(library: ctypes.CDLL) -> None:
    assert library.counted(arrays_of(np.zeros(4), np.array([1, 5])), 0.0) == 54
    assert library.counted(arrays_of(np.zeros(0), np.array([0])), 0.0) == 0
    assert library.churn(arrays_of(np.zeros(1), np.zeros(1), np.array([-1])), 0.0) == RAISED


def test_the_text_is_kept_and_a_damaged_one_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cosim_compiler import kernel_cache
    from cosim_compiler.printers import llvm_lowered

    made = []
    text_of = llvm_lowered.text_of
    monkeypatch.setattr(kernel_cache, "folder", lambda: tmp_path)
    monkeypatch.setattr(llvm_lowered, "text_of", lambda wanted: made.append(wanted) or text_of(wanted))
    first = kit.lower({"one": (half, "f>f")})
    assert kit.lower({"two": (half, "f>f")}) == first.replace("@one", "@two") and len(made) == 1
    (kept,) = tmp_path.iterdir()
    kept.write_bytes(kept.read_bytes().replace(b"ret", b"add"))
    assert kit.lower({"one": (half, "f>f")}) == first and len(made) == 2


def test_what_only_python_has_is_refused() -> None:
    with pytest.raises(cosim.ContractError, match="plain function"):
        kit.lower({"sine": (math.sin, "f>f")})
    text = "declare double @PyFloat_AsDouble(ptr)\ndefine double @f(ptr %p) {\n"
    text += "  %x = call double @PyFloat_AsDouble(ptr %p)\n  ret double %x\n}\n"
    with pytest.raises(cosim.ContractError, match="PyFloat_AsDouble"):
        MachineCode([[text]], ["f"])
    with pytest.raises(ValueError, match="signature"):
        entry_point("f", "g", "fF>i", RAISED)


def test_in_plain_python_there_is_a_message() -> None:
    code = (
        "import cosim\nfrom cosim import kit\n"
        "try:\n    kit.lower({'x': (kit.walk, 'f>f')})\nexcept cosim.ContractError as error:\n"
    )
    code += "    print(error)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "COSIM_PLAIN": "1"},
        check=True,
    )
    assert "COSIM_PLAIN" in done.stdout


def test_code_is_kept_by_what_the_named_tuples_of_its_signature_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    from cosim_compiler.convention import COMPOUNDS, expanded

    monkeypatch.setitem(COMPOUNDS, "A", (namedtuple("Two", "x n"), "FI"))
    before = expanded("Af>i")
    monkeypatch.setitem(COMPOUNDS, "A", (namedtuple("Two", "n x"), "IF"))
    assert (before, expanded("Af>i"), expanded("f>i")) == ("A(F x, I n)f>i", "A(I n, F x)f>i", "f>i")


def calling(number: str, calls: str) -> str:
    """LLVM's text of a function that scales what another one computes; `calls` is empty if there is none."""
    value = f"call double @{calls}(double %x)" if calls else "fsub double %x, 0.0"
    lines = [
        f"declare double @{calls}(double)" if calls else "",
        f"define double @{'whole' if calls else 'last'}(double %x) {{",
        f"  %y = {value}",
        f"  %z = fmul double %y, {number}",
        "  ret double %z",
        "}",
    ]
    return "\n".join([*lines, ""])


def test_only_the_piece_with_an_edited_function_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cosim_compiler import kernel_cache
    from cosim_lowering import machine_code

    kept, made = tmp_path / "kept", {"linked": 0, "written": 0}
    kept.mkdir()
    linked, written = machine_code._linked, machine_code._object_file

    def counted(name: str, make: Any) -> Any:
        def counting(*given: Any) -> bytes:
            made[name] += 1
            return make(*given)

        return counting

    monkeypatch.setattr(kernel_cache, "folder", lambda: kept)
    monkeypatch.setattr(machine_code, "_linked", counted("linked", linked))
    monkeypatch.setattr(machine_code, "_object_file", counted("written", written))

    def objects(
        first: str, second: str, exported: str = "whole", machine: Target | None = None
    ) -> list[bytes]:
        code = MachineCode([[calling(first, "last")], [calling(second, "")]], [], [exported])
        return code.objects(machine or own_target())

    def counts() -> tuple[int, int]:
        found = made["linked"], made["written"]
        made.update(linked=0, written=0)
        return found

    first = objects("2.0", "3.0")
    assert counts() == (2, 2)
    assert objects("2.0", "3.0") == first and counts() == (0, 0)
    edited = objects("2.0", "5.0")
    assert edited[0] == first[0] and edited[1] != first[1] and counts() == (1, 1)
    arm = objects("2.0", "3.0", machine=Target("aarch64-unknown-linux-gnu", "generic"))
    assert arm != first and counts() == (0, 2)  # optimized once for all processors
    assert objects("2.0", "3.0", exported="last") != first and counts() == (2, 2)  # asked for otherwise
    assert objects("2.0", "3.0") == first and counts() == (0, 0)


def test_pieces_of_two_programs_in_one_library_do_not_meet(tmp_path: Path) -> None:
    libraries = []
    for name, number in (("a", "3.0"), ("b", "5.0")):
        (tmp_path / name).mkdir()
        pieces = [[calling("2.0", "last")], [calling(number, "")]]
        libraries.append(MachineCode(pieces, [], ["whole"], prefix=name).objects(own_target()))
    objects = []
    for i, data in enumerate([*libraries[0], libraries[1][1]]):
        objects.append(tmp_path / f"{i}.o")
        objects[-1].write_bytes(data)
    subprocess.run(["cc", "-shared", "-o", "both.so", *objects], cwd=tmp_path, check=True)
    whole = ctypes.CDLL(str(tmp_path / "both.so")).whole
    whole.restype, whole.argtypes = ctypes.c_double, [ctypes.c_double]
    assert whole(1.0) == 6.0
    seen = subprocess.run(["nm", "-D", "both.so"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "last" not in seen.stdout


def test_code_is_kept_apart_by_how_hard_llvm_tries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from cosim_compiler import kernel_cache
    from cosim_lowering import optimizer

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
    from cosim.testing.known_solution import known_system
    from cosim_lowering import machine_code as pieces
    from cosim_lowering import optimizer
    from cosim_lowering.linking import machine_code
    from cosim_lowering.program import Program

    seen: list[tuple[int, bool]] = []

    def recorded(self: optimizer.Optimizer, bitcode: bytes, level: int, pairs: bool) -> bytes:
        seen.append((level, pairs))
        raise InterruptedError  # one piece is enough: the Step's is the first

    monkeypatch.setattr(optimizer, "LEVEL", 3)
    monkeypatch.setattr(optimizer.Optimizer, "optimized", recorded)
    monkeypatch.setattr(pieces, "read_cached", lambda key: None)
    options: dict[str, Any] = {"fixed_step": 0.1} if integrator == "integrators.heun" else {}
    code = machine_code(Program(known_system(), integrator, **options), ["advance"], RAISED)
    with pytest.raises(InterruptedError):
        code.objects(own_target())
    assert seen == [(level, False)]


def twice(x):
    x[2] = x[0] * 3.0
    x[3] = x[1] * 3.0
    return 0


def test_neighbouring_operations_are_joined_where_pairs_are_wanted() -> None:
    import llvmlite.binding as llvm

    from cosim.kit import plainest_processor
    from cosim_lowering.optimizer import Optimizer

    module = llvm.parse_assembly(kit.lower({"twice": (twice, "F>i")})).as_bitcode()
    with Optimizer(plainest_processor()) as optimizer:
        joined, single = (str(llvm.parse_bitcode(optimizer.optimized(module, 3, p))) for p in (True, False))
    assert "fmul <2 x double>" in joined
    assert "fmul double" in single and "fmul <2 x double>" not in single


def test_one_process_optimizes_modules_one_after_the_other_to_the_same_bytes() -> None:
    import llvmlite.binding as llvm

    from cosim.kit import plainest_processor
    from cosim_lowering.optimizer import Optimizer

    modules = [llvm.parse_assembly(kit.lower({name: (half, "f>f")})).as_bitcode() for name in ("a", "b", "a")]
    alone = []
    for module in modules:
        with Optimizer(plainest_processor()) as optimizer:
            alone.append(optimizer.optimized(module))
    with Optimizer(plainest_processor()) as optimizer:
        assert [optimizer.optimized(module) for module in modules] == alone


def test_what_llvm_says_of_a_module_that_it_cannot_read_is_told() -> None:
    from cosim.kit import plainest_processor
    from cosim_lowering.optimizer import Optimizer

    with (
        Optimizer(plainest_processor()) as optimizer,
        pytest.raises(cosim.CosimError, match="LLVM cannot optimize .*bitcode"),
    ):
        optimizer.optimized(b"no module")
