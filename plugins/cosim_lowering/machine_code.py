"""Lowered functions as one module, and as an object file of this machine."""

from __future__ import annotations

import hashlib
import json
import platform
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import cosim
from cosim.kit import (
    digest_of_module,
    interrupts_held,
    llvm_versions,
    plainest_processor,
    read_cached,
    with_sine_pairs,
    write_cached,
)
from cosim_lowering import optimizer as optimizing
from cosim_lowering.optimizer import Optimizer

INTRINSIC = "llvm."
MATHEMATICS = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs floor "
    "fma fmod frexp hypot ldexp lgamma log log10 log1p log2 memcpy memmove memset modf nearbyint pow "
    "remainder rint round sin sincos sinh sqrt tan tanh tgamma trunc"
)
C_LIBRARY = frozenset(MATHEMATICS.split())
ONE_VERSION = "sincos"
"""A function with one version: if a sanitizer replaces it, GNU ld mislinks a version that is named."""


class MachineCode:
    """Lowered functions linked into one module and optimized as a whole; the outcome is kept.

    No optimization changes a bit of a result: none reorders or joins operations on reals.

    Parameters
    ----------
    texts : iterable of str
        From `cosim.kit.lower`, and what it leaves open.
    visible : iterable of str
        Names of the functions that other object files of the same library call.
    exported : iterable of str
        Names of those that the library offers.

    Raises
    ------
    ContractError
        Something is left open that is not in the C library's mathematics.
    """

    def __init__(
        self,
        texts: Iterable[str],
        visible: Iterable[str],
        exported: Iterable[str] = (),
    ) -> None:
        made_of = [list(texts), sorted(visible), sorted(exported)]
        digest = hashlib.sha256(json.dumps([made_of, _toolchain()]).encode()).hexdigest()
        text = read_cached(digest)
        if text is None:
            text = _optimized(_linked(*made_of)).encode()
            write_cached(digest, text)
        self._text = text.decode()
        self._text_for_linux: str | None = None

    @property
    def externals(self) -> set[str]:
        """Names that it does not define itself."""
        import llvmlite.binding as llvm

        return _externals(llvm.parse_assembly(self._text))

    def __str__(self) -> str:
        """LLVM's text, without a target."""
        return self._text

    def text_for(self, system: str) -> str:
        """LLVM's text for an operating system: ``linux``, or another."""
        if system != "linux":
            return self._text
        if self._text_for_linux is None:
            self._text_for_linux = with_sine_pairs(self._text)
        return self._text_for_linux

    def digest_for(self, system: str) -> str:
        """A digest of what `text_for` gives: of the text, and of what makes that for the system of it."""
        made_by = digest_of_module(sys.modules[with_sine_pairs.__module__])
        return hashlib.sha256(json.dumps([self._text, system, made_by]).encode()).hexdigest()

    def object_file(self) -> bytes:
        """An object file for this machine's operating system and for every processor of its family; kept.

        With glibc it asks for the oldest version of each function, so the library also loads on systems that
        are older than this one.
        """
        import llvmlite.binding as llvm

        version, text = oldest_glibc(), self.text_for(sys.platform)
        made_of = ["object file", text, version, _toolchain()]
        digest = hashlib.sha256(json.dumps(made_of).encode()).hexdigest()
        code = read_cached(digest)
        if code is None:
            versioned = C_LIBRARY - {ONE_VERSION}
            symbols = sorted(_externals(llvm.parse_assembly(text)) & versioned) if version else []
            lines = [f'module asm ".symver {name}, {name}@{version}"\n' for name in symbols]
            llvm.initialize_native_asmparser()
            module = llvm.parse_assembly("".join(lines) + text)
            machine = _machine()
            module.triple, module.data_layout = llvm.get_default_triple(), str(machine.target_data)
            code = bytes(machine.emit_object(module))
            write_cached(digest, code)
        return code


def oldest_glibc() -> str:
    """The version that glibc's first functions have on this processor; empty where there is no glibc."""
    if sys.platform != "linux" or platform.libc_ver()[0] != "glibc":
        return ""
    return {"x86_64": "GLIBC_2.2.5", "aarch64": "GLIBC_2.17"}.get(platform.machine(), "")


def _toolchain() -> list[Any]:
    """Compiler, its level, and machine: on these the code depends besides the functions."""
    modules = [digest_of_module(module) for module in (sys.modules[__name__], optimizing)]
    return [llvm_versions(), optimizing.LEVEL, *modules]


@interrupts_held()
def _linked(texts: Sequence[str], visible: Sequence[str], exported: Sequence[str]) -> Any:
    import llvmlite.binding as llvm

    module, *others = [llvm.parse_assembly(text) for text in texts]
    for other in others:
        module.link_in(other)
    module.verify()
    within, without = set(visible), set(exported)
    for function in module.functions:
        if function.is_declaration or function.name in without:
            continue
        if function.name in within:
            function.visibility = llvm.Visibility.hidden
        else:
            function.linkage = llvm.Linkage.internal
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = llvm.Linkage.internal
    missing = sorted(_externals(module) - C_LIBRARY)
    if missing:
        raise cosim.ContractError(
            f"compiled code needs functions that no C library provides: {', '.join(missing)}"
        )
    return module


def _externals(module: Any) -> set[str]:
    symbols = [*module.functions, *module.global_variables]
    return {v.name for v in symbols if v.is_declaration and not v.name.startswith(INTRINSIC)}


def _optimized(module: Any) -> str:
    """LLVM's text of the optimized module, without a target."""
    import llvmlite.binding as llvm

    machine = _machine()
    module.triple, module.data_layout = llvm.get_default_triple(), str(machine.target_data)
    with Optimizer(plainest_processor()) as optimizer:
        optimized = optimizer.optimized(module.as_bitcode())
    text = str(llvm.parse_bitcode(optimized))
    return re.sub(r"^(target|source_filename|; ModuleID).*\n", "", text, flags=re.MULTILINE)


def _machine() -> Any:
    """The target of this operating system and of every processor of its family."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_triple(llvm.get_default_triple()).create_target_machine(
        cpu=plainest_processor(), opt=optimizing.LEVEL, reloc="pic", codemodel="default"
    )
