"""Lowered functions as object files: in pieces, each of which is optimized as a whole and cached."""

from __future__ import annotations

import functools
import hashlib
import json
import logging
import platform
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import cosim
from cosim.kit import (
    digest_of_module,
    emit_object,
    interrupts_held,
    llvm_versions,
    plainest_processor,
    read_cached,
    with_sine_pairs,
    write_cached,
)
from cosim_lowering import optimizer as optimizing
from cosim_lowering.optimizer import Optimizer

log = logging.getLogger("cosim.native")
INTRINSIC = "llvm."
MATHEMATICS = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs floor "
    "fma fmod frexp hypot ldexp lgamma log log10 log1p log2 memcpy memmove memset modf nearbyint pow "
    "remainder rint round sin sincos sinh sqrt tan tanh tgamma trunc"
)
C_LIBRARY = frozenset(MATHEMATICS.split())
ONE_VERSION = "sincos"
"""Its version is not named: it has only one, and GNU ld mislinks it if a sanitizer replaces it."""
DECLARED = re.compile(r"^(?:declare .*?|(?=@\S+ = external ))@([\w.]+)", re.MULTILINE)
"""Functions and constant arrays that a text of LLVM uses and that other texts define."""
DEFINED = re.compile(r"^(?:define .*?|(?=@\S+ = constant ))@([\w.]+)", re.MULTILINE)
"""Functions and constant arrays that a text of LLVM defines."""
TARGET_LINES = re.compile(r"^(target|source_filename|; ModuleID).*\n", re.MULTILINE)


class Target(NamedTuple):
    """What object files are made for.

    Attributes
    ----------
    triple, processor : str
        As LLVM names them.
    glibc : str
        The version of the C library's functions that is asked for; empty if the linker chooses it.
    """

    triple: str
    processor: str
    glibc: str = ""


class Piece(NamedTuple):
    """A module that is optimized without the others.

    Attributes
    ----------
    texts : list of str
    shared : list of str
        Names that other pieces use or define.
    hidden, exported : list of str
        Names of its functions that other object files of the library call, and of those that it offers.
    prefix : str
        Of the shared names.
    level : int
        Of optimization.
    pairs : bool
        As for `Optimizer.optimized`.
    """

    texts: list[str]
    shared: list[str]
    hidden: list[str]
    exported: list[str]
    prefix: str
    level: int
    pairs: bool


class MachineCode:
    """Lowered functions in pieces, each optimized as a whole and cached by itself.

    After an edit, only the pieces that contain the edited function are made again. No optimization changes a
    bit of a result: none reorders or joins operations on reals.

    Parameters
    ----------
    pieces : iterable of sequence of str
        Texts from `cosim.kit.lower`, and of the functions that these only declare.
    visible : iterable of str
        Names of the functions that other object files of the same library call.
    exported : iterable of str
        Names of the functions that the library offers.
    prefix : str
        Of the names by which pieces refer to each other: a library may hold the code of several programs.
    once_a_step : sequence of str
        Texts of one more piece, which runs once a step and has no pairs (`Optimizer.optimized`).
    step_level : int
        The level of optimization of that piece.

    Raises
    ------
    ContractError
        The texts call functions that they do not define and that are not in the C library's mathematics.
    """

    def __init__(
        self,
        pieces: Iterable[Sequence[str]],
        visible: Iterable[str],
        exported: Iterable[str] = (),
        prefix: str = "cosim",
        once_a_step: Sequence[str] = (),
        step_level: int = optimizing.STEP_LEVEL,
    ) -> None:
        texts = [list(listed) for listed in pieces]
        levels_and_pairs = [(optimizing.LEVEL, True)] * len(texts)
        if once_a_step:
            texts = [list(once_a_step), *texts]
            levels_and_pairs = [(min(step_level, optimizing.LEVEL), False), *levels_and_pairs]
        defined = [_names(DEFINED, listed) for listed in texts]
        missing = [_names(DECLARED, listed) - own for listed, own in zip(texts, defined, strict=True)]
        open_names, all_defined = set[str]().union(*missing), set[str]().union(*defined)
        external = {name for name in open_names - all_defined if not name.startswith(INTRINSIC)}
        if unknown := sorted(external - C_LIBRARY):
            raise cosim.ContractError(
                f"compiled code needs functions that no C library provides: {', '.join(unknown)}"
            )
        offered = set(exported)
        hidden = set(visible) - offered
        shared = (open_names & all_defined) - hidden - offered
        self._pieces = [
            Piece(
                listed,
                shared=sorted(shared & (own | others)),
                hidden=sorted(hidden & own),
                exported=sorted(offered & own),
                prefix=prefix,
                level=level,
                pairs=pairs,
            )
            for listed, own, others, (level, pairs) in zip(
                texts, defined, missing, levels_and_pairs, strict=True
            )
        ]
        self._digests = [_digest_of(piece, _toolchain()) for piece in self._pieces]

    @property
    def digest(self) -> str:
        """The digest of all that object files are made from besides the target."""
        return _digest_of(self._digests)

    def objects(self, target: Target) -> list[bytes]:
        """An object file of each piece, from the cache or made now."""
        keys = [_digest_of("object file", digest, target) for digest in self._digests]
        objects = [read_cached(key) for key in keys]
        missing = [i for i, code in enumerate(objects) if code is None]
        for i, bitcode in zip(missing, self._optimized(missing), strict=True):
            objects[i] = code = _object_file(bitcode, target)
            write_cached(keys[i], code)
        return [code for code in objects if code is not None]

    def _optimized(self, places: Sequence[int]) -> list[bytes]:
        """The bitcode of the optimized pieces at these places, from the cache or made now."""
        bitcodes = {i: read_cached(self._digests[i]) for i in places}
        missing = [i for i, bitcode in bitcodes.items() if bitcode is None]
        if missing:
            log.info("optimizing %d of %d pieces of machine code", len(missing), len(self._pieces))
            with Optimizer(plainest_processor()) as optimizer:
                for i in missing:
                    piece = self._pieces[i]
                    bitcodes[i] = bitcode = optimizer.optimized(_linked(piece), piece.level, piece.pairs)
                    write_cached(self._digests[i], bitcode)
        return [bitcode for bitcode in bitcodes.values() if bitcode is not None]


def own_target() -> Target:
    """The operating system of this machine, with the plainest processor of its family.

    With glibc it asks for the oldest version of each function, so that the library also loads on systems
    that are older than this one.
    """
    import llvmlite.binding as llvm

    return Target(llvm.get_default_triple(), plainest_processor(), oldest_glibc())


def oldest_glibc() -> str:
    """The version that glibc's first functions have on this processor; empty where there is no glibc."""
    if sys.platform != "linux" or platform.libc_ver()[0] != "glibc":
        return ""
    return {"x86_64": "GLIBC_2.2.5", "aarch64": "GLIBC_2.17"}.get(platform.machine(), "")


def _names(pattern: re.Pattern[str], texts: Sequence[str]) -> set[str]:
    return {name for text in texts for name in pattern.findall(text)}


def _digest_of(*made_of: object) -> str:
    return hashlib.sha256(json.dumps(made_of).encode()).hexdigest()


def _toolchain() -> list[Any]:
    """What the code depends on besides the functions: the compiler, its level, and the code that uses it."""
    used = [sys.modules[function.__module__] for function in (with_sine_pairs, emit_object)]
    modules = [sys.modules[__name__], optimizing, *used]
    return [llvm_versions(), optimizing.LEVEL, *map(digest_of_module, modules)]


@interrupts_held()
def _linked(piece: Piece) -> bytes:
    """The bitcode of a piece; functions that no other object file calls are internal there."""
    import llvmlite.binding as llvm

    module, *others = [llvm.parse_assembly(text) for text in piece.texts]
    for other in others:
        module.link_in(other)
    module.verify()
    shared, hidden, exported = map(set, (piece.shared, piece.hidden, piece.exported))
    for value in [*module.functions, *module.global_variables]:
        if value.name in shared:
            value.name = f"{piece.prefix}.{value.name}"
            value.visibility = llvm.Visibility.hidden
        elif value.name in hidden:
            value.visibility = llvm.Visibility.hidden
        elif not value.is_declaration and value.name not in exported:
            value.linkage = llvm.Linkage.internal
    machine = _machine(llvm.get_default_triple(), plainest_processor(), optimizing.LEVEL)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    bitcode: bytes = module.as_bitcode()
    return bitcode


def _object_file(bitcode: bytes, target: Target) -> bytes:
    """Machine code of an optimized module."""
    import llvmlite.binding as llvm

    module = llvm.parse_bitcode(bitcode)
    open_names = {function.name for function in module.functions if function.is_declaration}
    if "-linux" in target.triple and open_names & C_LIBRARY:
        text = with_sine_pairs(TARGET_LINES.sub("", str(module)))
        versioned = sorted(open_names & C_LIBRARY - {ONE_VERSION}) if target.glibc else []
        lines = [f'module asm ".symver {name}, {name}@{target.glibc}"\n' for name in versioned]
        module = llvm.parse_assembly("".join(lines) + text)
    machine = _machine(target.triple, target.processor, optimizing.LEVEL)
    module.triple, module.data_layout = target.triple, str(machine.target_data)
    return emit_object(module, machine)


@functools.cache
def _machine(triple: str, processor: str, level: int) -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    llvm.initialize_native_asmparser()
    return llvm.Target.from_triple(triple).create_target_machine(
        cpu=processor, opt=level, reloc="pic", codemodel="default"
    )
