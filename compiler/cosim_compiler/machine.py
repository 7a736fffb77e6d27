"""Machine code of LLVM's text: optimized, as an object file, loaded into this process."""

from __future__ import annotations

import functools
import platform
import re
import sys
from typing import Any

INLINED_BELOW = 225
"""Cost up to which LLVM inlines a function; its own default."""
OF_CODE = 3
"""Level at which machine code is chosen."""
PLAINEST = {"x86_64": "x86-64", "AMD64": "x86-64"}
"""What LLVM calls the plainest processor of a kind; ``generic`` where nothing is named."""


@functools.cache
def _llvm() -> Any:
    """llvmlite, made ready for this processor."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


def _machine() -> Any:
    """What makes code for this processor, with all that it can."""
    llvm = _llvm()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=OF_CODE, jit=True
    )


@functools.cache
def _processor() -> Any:
    return _machine()


@functools.cache
def _plainest() -> Any:
    """What makes code for every processor of this platform."""
    llvm = _llvm()
    name = PLAINEST.get(platform.machine(), "generic")
    return llvm.Target.from_default_triple().create_target_machine(cpu=name, opt=OF_CODE, jit=True)


@functools.cache
def versions() -> str:
    """What machine code depends on besides the text: LLVM and the processor."""
    import llvmlite

    llvm = _llvm()
    features = sorted(llvm.get_host_cpu_features().items())
    return repr((llvmlite.__version__, sys.platform, platform.machine(), llvm.get_host_cpu_name(), features))


def object_of(text: str, passes: int = 1, is_for_all: bool = False) -> bytes:
    """The object file of a module.

    Parameters
    ----------
    text : str
        LLVM's text; operations on reals are neither reordered nor joined.
    passes : int
        How often LLVM's passes run: twice where loops have to be written out before tuples can be told apart.
    is_for_all : bool
        Whether it is for every processor of this platform, not for this one.
    """
    llvm, machine = _llvm(), _plainest() if is_for_all else _processor()
    module = llvm.parse_assembly(text)
    module.verify()
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    for _ in range(passes):
        _run_passes(module, machine, vectors=True)
    found: bytes = machine.emit_object(module)
    return found


def optimized(text: str) -> str:
    """The text of a module with its helpers inlined, for no machine in particular."""
    llvm = _llvm()
    module = llvm.parse_assembly(text)
    module.verify()
    _run_passes(module, _processor(), vectors=False)
    return re.sub(r"^(target|source_filename|; ModuleID).*\n", "", str(module), flags=re.MULTILINE)


def _run_passes(module: Any, machine: Any, vectors: bool) -> None:
    """Loops over vectors become instructions for vectors; they are short, so no turn is made of several."""
    llvm = _llvm()
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    options.loop_vectorization = vectors
    options.slp_vectorization = options.loop_interleaving = False
    options.inlining_threshold = INLINED_BELOW
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


@functools.cache
def _engine() -> Any:
    """What holds all code of this process."""
    llvm = _llvm()
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())


def load(code: bytes) -> None:
    """Load an object file; its symbols are those of no other."""
    llvm, engine = _llvm(), _engine()
    object_file = llvm.ObjectFileRef.from_data(code)
    engine.add_object_file(object_file)
    engine.finalize_object()


def address_of(symbol: str) -> int:
    """Where a function of a loaded object starts."""
    return int(_engine().get_function_address(symbol))
