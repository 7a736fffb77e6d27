"""Machine code of LLVM's text: optimized, as an object file, loaded into this process."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import platform
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from cosim_compiler import kernel_cache, object_loader
from cosim_compiler.debugging import lines_are_shown
from cosim_compiler.sine_pairs import has_sine_pairs, with_sine_pairs

INLINED_BELOW = 225
"""Cost up to which LLVM inlines a function; its own default."""
SWITCH = "  switch "
"""Stands in a text where an item of a tuple is taken at a computed place."""
CODE_LEVEL = 3
"""Optimization level at which LLVM chooses machine instructions; the highest."""
UNOPTIMIZED = "COSIM_UNOPTIMIZED"
"""The variable with which LLVM needs a third of the time, and code runs slower, to the same bytes."""
UNOPTIMIZED_LEVEL = 1
"""Level for that: at 0 choosing takes less, and a run twice as long."""
FILES_OF_LLVM = "_version.py", "binding/libllvmlite.so"
PROCESSOR_LINES = b"vendor_id", b"cpu family", b"model", b"model name", b"stepping", b"flags"
"""Lines of /proc/cpuinfo from which it follows what a processor can do."""
PROCESSOR_TEXT = 8192
"""Bytes of /proc/cpuinfo that hold the first processor's lines and more."""
PLAINEST = "COSIM_PLAINEST_PROCESSOR"
"""The environment variable with which code is made for every processor of this computer's family."""
NEWEST_TRIED = 22
"""The newest LLVM in which the option of `loops_as_they_are` was tried: an unknown one ends the process."""

_choosing = threading.Lock()
"""Held while machine instructions are chosen, since LLVM's options hold for all threads."""
_addresses: dict[str, int] = {}
"""Where functions are that were loaded without LLVM."""


@functools.cache
def _llvm() -> Any:
    """llvmlite, made ready for this processor."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@functools.cache
def is_for_others() -> bool:
    """Whether code is made that other computers run."""
    return os.environ.get(PLAINEST, "0") not in ("", "0")


@functools.cache
def plainest_processor() -> str:
    """LLVM's name of the plainest processor of this machine's family."""
    return "x86-64" if _llvm().get_default_triple().startswith("x86_64") else "generic"


def _processor_and_features() -> tuple[str, str]:
    """The processor that code is made for and its features, as LLVM names them."""
    llvm = _llvm()
    if is_for_others():
        return plainest_processor(), ""
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def is_optimized() -> bool:
    """Whether code is optimized that is compiled now; code that other computers run always is."""
    return is_for_others() or os.environ.get(UNOPTIMIZED, "0") in ("", "0")


def _machine(level: int = CODE_LEVEL) -> Any:
    """The target machine of this processor, with all its features."""
    cpu, features = _processor_and_features()
    return (
        _llvm()
        .Target.from_default_triple()
        .create_target_machine(cpu=cpu, features=features, opt=level, jit=True)
    )


@functools.cache
def _processor(level: int = CODE_LEVEL) -> Any:
    """The target machine that optimizes; an engine owns the machine that it is made with."""
    return _machine(level)


@functools.cache
def llvm_versions() -> str:
    """All that machine code depends on besides the text: LLVM and the processor.

    LLVM names both. Its library takes longer to load than a short run, so its answer is cached under what the
    operating system says of the processor and of LLVM's files.
    """
    signs = _signs_of_processor()
    key = hashlib.sha256(f"versions {signs}".encode()).hexdigest()[:32] if signs else ""
    content = kernel_cache.read_cached(key) if key else None
    if content is not None:
        return content.decode()
    answer = _asked_versions()
    if key:
        kernel_cache.write_cached(key, answer.encode())
    return answer


versions = llvm_versions
"""The name that every `code.Machine` has for it."""


def get_ready() -> None:
    """Load LLVM in this process, so that not each process forked from it has to."""
    llvm_versions()
    _processor(CODE_LEVEL if is_optimized() else UNOPTIMIZED_LEVEL)


def _asked_versions() -> str:
    """The answer of LLVM itself."""
    import llvmlite

    return repr((llvmlite.__version__, sys.platform, platform.machine(), *_processor_and_features()))


def _signs_of_processor() -> str:
    """What the system shows of the processor and of LLVM's files; empty if that is less than is needed."""
    spec = importlib.util.find_spec("llvmlite")
    if sys.platform != "linux" or spec is None or spec.origin is None:
        return ""
    folder = os.path.dirname(spec.origin)
    try:
        files = [os.stat(os.path.join(folder, name)) for name in FILES_OF_LLVM]
        with open("/proc/cpuinfo", "rb") as file:
            lines = file.read(PROCESSOR_TEXT).partition(b"\n\n")[0].splitlines()
    except OSError:
        return ""
    signs = [line for line in lines if line.partition(b"\t")[0].strip(b" :") in PROCESSOR_LINES]
    if len(signs) < len(PROCESSOR_LINES):
        return ""
    stamps = [(status.st_mtime_ns, status.st_size) for status in files]
    return repr((folder, stamps, platform.machine(), platform.release(), is_for_others(), signs))


def object_of(text: str) -> bytes:
    """The object file of a module for this processor.

    Parameters
    ----------
    text : str
        LLVM's text. Operations on reals are neither reordered nor joined.
    """
    llvm, machine = _llvm(), _processor(CODE_LEVEL if is_optimized() else UNOPTIMIZED_LEVEL)
    module = llvm.parse_assembly(text)
    module.verify()
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    if not is_optimized():
        _run_few_passes(module)
        return emit_object(module, machine)
    _run_passes(module, vectors=True)
    if SWITCH in text:  # LLVM can tell the items of a tuple apart only after it has written out loops
        _run_passes_of_functions(module)
    if "@sin(" in text and "@cos(" in text and has_sine_pairs():
        module = llvm.parse_assembly(with_sine_pairs(str(module)))
    return emit_object(module, machine)


def emit_object(module: Any, target_machine: Any) -> bytes:
    """The object file of an optimized module, the same whatever other threads compile."""
    with _choosing, loops_as_they_are():
        return bytes(target_machine.emit_object(module))


@contextmanager
def loops_as_they_are() -> Iterator[None]:
    """A block in which LLVM leaves out the pass that replaces the indices of loops by addresses.

    The pass takes a third of the time in which machine instructions are chosen, and these processors add
    index and address at no cost. LLVM's options hold for everything in this process that compiles with it:
    therefore the option is reset at the end.
    """
    llvm = _llvm()
    has_option = llvm.llvm_version_info[0] <= NEWEST_TRIED
    if has_option:
        llvm.set_option("cosim", "-disable-lsr=true")
    try:
        yield
    finally:
        if has_option:
            llvm.set_option("cosim", "-disable-lsr=false")


def optimized(text: str) -> str:
    """The text of a module with its helpers inlined, for no machine in particular.

    Only passes that shorten it are run, since all passes are run on the program that it is linked into.
    """
    llvm = _llvm()
    module = llvm.parse_assembly(text)
    module.verify()
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_sroa_pass()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.run(module, _pass_builder(vectors=False))
    return re.sub(r"^(target|source_filename|; ModuleID).*\n", "", str(module), flags=re.MULTILINE)


def _run_passes(module: Any, vectors: bool) -> None:
    """Optimize a module as a whole."""
    builder = _pass_builder(vectors)
    builder.getModulePassManager().run(module, builder)


def _run_few_passes(module: Any) -> None:
    """Inline what has to be inlined, hold local variables in registers, and simplify."""
    passes = _llvm().create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_simplify_cfg_pass()
    passes.run(module, _pass_builder(vectors=False))


def _run_passes_of_functions(module: Any) -> None:
    """Optimize each function of a module by itself."""
    builder = _pass_builder(vectors=False)
    passes = builder.getFunctionPassManager()
    for function in module.functions:
        if not function.is_declaration:
            passes.run(function, builder)


def _pass_builder(vectors: bool) -> Any:
    """The passes; with `vectors`, loops over arrays become vector instructions.

    Such loops are short, so turns are not joined (`loop_interleaving`).
    """
    llvm = _llvm()
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    options.loop_vectorization = vectors
    options.slp_vectorization = options.loop_interleaving = False
    options.inlining_threshold = INLINED_BELOW
    return llvm.create_pass_builder(_processor(), options)


@functools.cache
def _engine() -> Any:
    """The engine that holds all code of this process."""
    llvm = _llvm()
    # use_lmm: all sections of an object lie together, since in a large process they might otherwise be out of
    # each other's reach
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine(), use_lmm=True)


def load(code: bytes) -> None:
    """Load an object file, in which no symbol has the name of another object's."""
    if object_loader.can_load() and not lines_are_shown():
        with suppress(object_loader.UnknownObjectError):
            _addresses.update(object_loader.load(code, _known_address))
            return
    llvm, engine = _llvm(), _engine()
    for symbol, address in _addresses.items():
        llvm.add_symbol(symbol, address)
    object_file = llvm.ObjectFileRef.from_data(code)
    engine.add_object_file(object_file)
    engine.finalize_object()


def _known_address(symbol: str) -> int:
    """The address of a function of another unit or of a library; 0 if there is none."""
    loaded = _addresses.get(symbol) or object_loader.address_in_process(symbol)
    return loaded or (address_of(symbol) if _engine.cache_info().currsize else 0)


def address_of(symbol: str) -> int:
    """The address of a function of a loaded object."""
    return _addresses.get(symbol) or int(_engine().get_function_address(symbol))
