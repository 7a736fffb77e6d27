"""Making the library that a wheel carries: `shipped` finds in it what is made here.

First `collected` lists what systems ask for, in plain Python, where asking compiles nothing; then
`make_library` compiles it, several functions at a time, and has the C compiler link them.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import subprocess
import tempfile
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from cosim.compiled import fresh, llvm_text, lowered_code, native, shipped
from cosim.compiled.machine_code import MachineCode
from cosim.compiled.parts import in_process, parts_called
from cosim.helper_process import kill_with_parent

Wanted = tuple[types.FunctionType, str]


@contextlib.contextmanager
def collected() -> Iterator[dict[Wanted, bool]]:
    """What is asked for meanwhile: functions with their signatures, and whether C calls them."""
    asked: list[tuple[types.FunctionType, str, bool]] = []
    wanted: dict[Wanted, bool] = {}
    before, native.asked = native.asked, asked
    try:
        yield wanted
    finally:
        native.asked = before
        for function, signature, for_c in asked:
            _add(wanted, function, signature, for_c)


def _add(wanted: dict[Wanted, bool], function: types.FunctionType, signature: str, for_c: bool) -> None:
    if not isinstance(function, types.FunctionType):
        return  # a plain Python element
    known = wanted.get((function, signature))
    wanted[function, signature] = for_c or bool(known)
    if known is None:
        for part in parts_called(function):
            _add(wanted, *in_process(part), False)


def make_library(
    wanted: dict[Wanted, bool],
    path: Path,
    processes: int | None = None,
    compiler: str | None = None,
    progress: Callable[[int, int], Any] = lambda done, of: None,
) -> int:
    """Compile and link what was collected; how many functions there are.

    Parameters
    ----------
    wanted : dict
        From `collected`.
    path : Path
        Of the library.
    processes : int, optional
        As many as there are processors unless given.
    compiler : str, optional
        The C compiler that links; ``CC`` of the environment, ``cc`` or ``gcc`` unless given.
    progress : callable
        Called with the number of functions that are done, and of all.

    Raises
    ------
    ContractError
        A function cannot be lowered.
    CalledProcessError
        The compiler could not link.
    """
    by_symbol: dict[str, tuple[types.FunctionType, str, bool]] = {}
    for (function, signature), for_c in wanted.items():
        name = shipped.symbol(function, signature)
        by_symbol[name] = (function, signature, for_c or (name in by_symbol and by_symbol[name][2]))
    with tempfile.TemporaryDirectory() as folder:
        jobs = list(by_symbol)
        global _jobs
        _jobs = by_symbol, Path(folder)
        with multiprocessing.get_context("fork").Pool(processes, _compile_from_here, (os.getpid(),)) as pool:
            for done, _ in enumerate(pool.imap_unordered(_object_file, jobs), 1):
                progress(done, len(jobs))
        objects = [str(Path(folder) / f"{name}.o") for name in jobs]
        listed = Path(folder) / "objects"
        listed.write_text("\n".join(objects))
        linked = Path(folder) / "linked.so"
        linker = compiler or os.environ.get("CC") or shutil.which("cc") or "gcc"
        linking = "-Wl,-z,noexecstack,-Bsymbolic,--build-id=none,--gc-sections,-s"
        subprocess.run(
            [linker, "-shared", "-nostartfiles", linking, "-o", str(linked), f"@{listed}", "-lm"],
            check=True,
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(shipped.sealed(linked.read_bytes()))
    return len(jobs)


_jobs: tuple[dict[str, tuple[types.FunctionType, str, bool]], Path]
"""What the processes that compile find: they are forked from the one that has collected."""


def _compile_from_here(parent: int) -> None:
    kill_with_parent(parent)
    os.environ.pop("NUMBA_DISABLE_JIT", None)
    native.is_plain.cache_clear()


def _object_file(name: str) -> None:
    functions, folder = _jobs
    function, signature, for_c = functions[name]
    symbols = {fresh.part_name(part): shipped.symbol(*in_process(part)) for part in parts_called(function)}
    text = native.text_to_ship(function, signature, name)
    texts = [llvm_text.with_code_edited(text, lambda code: _renamed(code, symbols))]
    exported = [name]
    if for_c:
        exported.append(name + shipped.FOR_C)
        texts.append(lowered_code.for_c(exported[1], name, signature))
    code = MachineCode(texts, (), exported, allowed=symbols.values())
    (folder / f"{name}.o").write_bytes(code.object_file())


def _renamed(code: str, symbols: dict[str, str]) -> str:
    return lowered_code.SYMBOL.sub(lambda found: f"@{symbols.get(found[1].strip(chr(34)), found[1])}", code)
