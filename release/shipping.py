"""Making the library that a wheel carries: `shipped` finds in it what is made here.

First `collected` lists what systems ask for, in plain Python, where asking compiles nothing; then
`make_library` compiles it, several functions at a time, and has the C compiler link them.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import importlib.metadata
import multiprocessing
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import addressed_calls

from cosim_compiler import kernel_cache, lowered_code, native, shipped, shipped_texts
from cosim_compiler.calls import BY_NAME
from cosim_compiler.fingerprint import digest_of_module, environment
from cosim_compiler.parts import BODY, in_process, parts_called
from cosim_compiler.with_numba import fresh
from cosim_fmu.lowering import machine_code, numbered_calls, optimizer
from cosim_fmu.lowering.machine_code import MachineCode, plainest_processor
from cosim_fmu.lowering.optimizer import Optimizer

Wanted = tuple[types.FunctionType, str]
LITTER = 3_000_000
"""So many objects, of some 250 bytes, a compiling process keeps: taking them apart is a tenth of its time."""
SHARING = 4
"""So many times the length of a helper counts that one process has and the others have not."""
Forms = dict[Wanted, set[str]]
"""Functions with their signatures, and in which forms: "here", "c" (called by C), "text" (lowered)."""


@contextlib.contextmanager
def collected() -> Iterator[Forms]:
    """What is asked for meanwhile."""
    asked: list[tuple[types.FunctionType, str, str]] = []
    wanted: Forms = {}
    before, native.asked = native.asked, asked
    try:
        yield wanted
    finally:
        native.asked = before
        for function, signature, form in asked:
            _add(wanted, function, signature, form)


def _add(wanted: Forms, function: types.FunctionType, signature: str, form: str) -> None:
    if not isinstance(function, types.FunctionType):
        return  # a plain Python element
    known = wanted.setdefault((function, signature), set())
    if form not in known:
        known.add(form)
        for part in parts_called(function):
            if form == "text":
                _add(wanted, part, part.__dict__["__part__"], form)
            else:
                _add(wanted, *in_process(part), "here")


@dataclass(frozen=True)
class _Job:
    """What is made of one function: a part of the library, or its text, or both."""

    function: types.FunctionType
    signature: str
    forms: frozenset[str]
    lowered: Wanted
    """Of what is a text: the function, or the part that it calls with the arrays at an address."""

    @property
    def symbol(self) -> str:
        return shipped.symbol(self.function, self.signature)

    def run(self, folder: Path) -> str:
        """Write the object file, if one is wanted, and return the text, if that is; both are kept."""
        digest = hashlib.sha256(repr((self.symbol, sorted(self.forms), _compilers())).encode()).hexdigest()
        kept = kernel_cache.kept(digest)
        if kept is None:
            kept = self._made()
            kernel_cache.keep(digest, kept)
        size, _, rest = kept.partition(b"\n")
        code = rest[int(size) :]
        if code:
            (folder / f"{self.symbol}.o").write_bytes(code)
        return rest[: int(size)].decode()

    def _made(self) -> bytes:
        """How long the text is, the text, and the object file."""
        text, code = self._text_and_code()
        return b"%d\n" % len(text.encode()) + text.encode() + code

    def _text_and_code(self) -> tuple[str, bytes]:
        text = fresh.text_of(*self.lowered, fresh.lift_by_name) if "text" in self.forms else ""
        return text, self._object_file(text) if self.forms & {"here", "c"} else b""

    def _object_file(self, text: str) -> bytes:
        """Of a text that is there already, or of one that is not optimized yet."""
        is_part = self.lowered[0] is not self.function
        if is_part:
            made = _around_part(self.function, self.signature)
        else:
            made = text or fresh.draft_of(self.function, self.signature, fresh.lift_by_name)
        texts, parts = [lowered_code.named(made, self.symbol)], []
        for called in addressed_calls.called(self.function):
            if BY_NAME in called.__dict__:
                name, signature = called.__dict__[BY_NAME]
                is_body = is_part and name == BODY
                lowered = text if is_body else _named(called, signature)
                attribute = addressed_calls.INLINED if is_body else addressed_calls.APART
                texts.append(addressed_calls.with_name(lowered, name, attribute))
            else:
                texts.append(addressed_calls.by_address(called))
            if "__part__" in called.__dict__ and "__optional__" not in called.__dict__:
                parts.append(shipped.symbol(*in_process(called)))
        exported = [self.symbol]
        if "c" in self.forms:
            exported.append(self.symbol + shipped.FOR_C)
            texts.append(lowered_code.for_c(exported[1], self.symbol, self.signature))
        return MachineCode(texts, (), exported, parts, _optimizer()).object_file()


_around: dict[str, str] = {}


def _around_part(function: types.FunctionType, signature: str) -> str:
    """The text of what calls a part with the address of a head: the same for all parts of a signature."""
    if signature not in _around:
        _around[signature] = fresh.draft_of(function, signature, fresh.lift_by_name)
    return _around[signature]


@functools.cache
def _named(function: types.FunctionType, signature: str) -> str:
    """The text of what others call by a name."""
    return fresh.text_of(function, signature, fresh.lift_by_name)


@functools.cache
def _compilers() -> str:
    """What the code of a function depends on besides what its symbol tells."""
    modules = (machine_code, numbered_calls, optimizer, addressed_calls, sys.modules[__name__])
    versions = [importlib.metadata.version(name) for name in ("numba", "llvmlite")]
    return repr([*versions, sys.platform, platform.machine(), *map(digest_of_module, modules)])


def make_library(
    wanted: Forms,
    path: Path,
    texts_path: Path,
    processes: int | None = None,
    compiler: str | None = None,
    progress: Callable[[int, int], Any] = lambda done, of: None,
) -> tuple[int, int]:
    """Compile and link what was collected; how many functions and how many texts there are.

    Parameters
    ----------
    wanted : dict
        From `collected`.
    path, texts_path : Path
        Of the library, and of the texts of lowered functions.
    processes : int, optional
        As many as there are processors for this process unless given.
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
    global _work
    forking = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder:
        jobs, texts = _different(wanted), {}
        groups = _groups(jobs)
        _work = _Work(jobs, Path(folder), groups, forking.Array("l", len(groups)))
        count = processes or len(os.sched_getaffinity(0))
        with forking.Pool(count, _compile_from_here) as pool:
            done = 0
            for made in pool.imap_unordered(_run_next, range(len(groups))):
                for number, text in made.items():
                    if text:
                        texts[shipped_texts.key(*jobs[number].lowered)] = text
                done += len(made)
                progress(done, len(jobs))
        objects = sorted(Path(folder).glob("*.o"))
        path.parent.mkdir(parents=True, exist_ok=True)
        write_anew(path, shipped.sealed(_linked(objects, Path(folder), compiler)))
        write_anew(texts_path, shipped_texts.packed(texts))
    return len(objects), len(texts)


def write_anew(path: Path, content: bytes) -> None:
    """Write a file anew: processes that have the old one in their memory keep it."""
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(content)
    part.replace(path)


def _different(wanted: Forms) -> list[_Job]:
    """A job for each function; functions that are compiled to the same have one, and a part its two forms."""
    around = {wanted_part: in_process(wanted_part[0]) for wanted_part in wanted if _is_part(wanted_part[0])}
    lowered = {made: part for part, made in around.items() if made in wanted}
    found: dict[str, _Job] = {}
    for one, forms in wanted.items():
        function, signature = around[one] if around.get(one) in lowered else one
        symbol = shipped.symbol(function, signature)
        known = found[symbol].forms if symbol in found else frozenset()
        text = lowered.get((function, signature), (function, signature))
        found[symbol] = _Job(function, signature, known | forms, text)
    return list(found.values())


def _is_part(function: types.FunctionType) -> bool:
    return "__part__" in function.__dict__


@dataclass(frozen=True)
class _Group:
    """Jobs that one process does, and how much is compiled: with each of them, and of each function once."""

    sizes: dict[int, int]
    functions: dict[types.FunctionType, int]


@dataclass(frozen=True)
class _Work:
    """What the processes that compile find: they are forked from the one that has collected."""

    jobs: list[_Job]
    folder: Path
    groups: list[_Group]
    takers: Any
    """Of each group the process that has taken it, 0 where none has; all processes share it."""

    def take(self) -> _Group:
        """What this process does next: a large group, with helpers that it has and others have not."""
        me = os.getpid()
        with self.takers.get_lock():
            mine: set[types.FunctionType] = set()
            others: set[types.FunctionType] = set()
            for group, taker in zip(self.groups, self.takers, strict=True):
                if taker:
                    (mine if taker == me else others).update(group.functions)

            def gain(number: int) -> int:
                group = self.groups[number]
                shared = sum(n * ((f in mine) - (f in others)) for f, n in group.functions.items())
                return sum(group.sizes.values()) + SHARING * shared

            left = (number for number, taker in enumerate(self.takers) if not taker)
            best = max(left, key=gain)
            self.takers[best] = me
        return self.groups[best]


def _groups(jobs: list[_Job]) -> list[_Group]:
    """Jobs together where they share helpers, which a process compiles once; in a group large ones first."""
    places: dict[str, _Group] = {}
    for number, job in enumerate(jobs):
        reached = {function: len(function.__code__.co_code) for function in _reached(job.function)}
        # an adapter belongs to the kernel function that it calls, a part of the Step to what it is a part of
        place = [*reached][:2][-1].__module__
        group = places.setdefault(place, _Group({}, {}))
        group.sizes[number] = sum(reached.values())
        group.functions.update(reached)
    return list(places.values())


def _reached(function: types.FunctionType) -> Iterator[types.FunctionType]:
    """A function and those that are compiled with it."""
    found, at = [function], 0
    while at < len(found):
        yield found[at]
        for value in environment(found[at]).values():
            if (
                isinstance(value, types.FunctionType)
                and value not in found
                and "__part__" not in value.__dict__
            ):
                found.append(value)
        at += 1


def linker() -> str:
    """The C compiler that links where none is given."""
    return os.environ.get("CC") or shutil.which("cc") or "gcc"


def _linked(objects: Iterable[Path], folder: Path, compiler: str | None) -> bytes:
    listed, linked = folder / "objects", folder / "linked.so"
    listed.write_text("\n".join(map(str, objects)))
    linking = "-Wl,-z,noexecstack,-Bsymbolic,--build-id=none,--gc-sections,-s"
    given = ["-shared", "-nostartfiles", linking, "-o", str(linked), f"@{listed}", "-lm"]
    subprocess.run([compiler or linker(), *given], check=True)
    return linked.read_bytes()


_work: _Work


@functools.cache
def _optimizer() -> Optimizer:
    """One for each process that compiles; it ends when its pipe is closed."""
    return Optimizer(plainest_processor())


def _compile_from_here() -> None:
    gc.disable()  # see `LITTER`
    os.environ.pop("NUMBA_DISABLE_JIT", None)
    native.is_plain.cache_clear()


def _run_next(_: int) -> dict[int, str]:
    """Texts of a group, by the numbers of its jobs."""
    sizes = _work.take().sizes
    made = {
        number: _work.jobs[number].run(_work.folder)
        for number in sorted(sizes, key=sizes.__getitem__, reverse=True)
    }
    if gc.get_count()[0] > LITTER:
        gc.collect()
    return made
