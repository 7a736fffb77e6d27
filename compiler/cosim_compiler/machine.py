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
PICKS = "  switch "
"""What takes an item of a tuple at a place that is computed."""
OF_CODE = 3
"""Level at which machine code is chosen."""
UNOPTIMIZED = "COSIM_UNOPTIMIZED"
"""The variable with which LLVM needs a third of the time, and code runs slower, to the same bytes."""
OF_UNOPTIMIZED_CODE = 1
"""Level for that: at 0 choosing takes less, and a run twice as long."""
FILES_OF_LLVM = "_version.py", "binding/libllvmlite.so"
SIGNS = b"vendor_id", b"cpu family", b"model", b"model name", b"stepping", b"flags"
"""Lines about a processor that say what it can."""
LENGTH_OF_FIRST = 8192
"""More than the system says of one processor."""


@functools.cache
def _llvm() -> Any:
    """llvmlite, made ready for this processor."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


PLAINEST = "COSIM_PLAINEST_PROCESSOR"
"""The variable with which code is made for every processor of this computer's family."""


@functools.cache
def is_for_others() -> bool:
    """Whether code is made that other computers run."""
    return os.environ.get(PLAINEST, "0") not in ("", "0")


@functools.cache
def plainest_processor() -> str:
    """The plainest of this machine's family."""
    return "x86-64" if _llvm().get_default_triple().startswith("x86_64") else "generic"


def _processor_and_features() -> tuple[str, str]:
    llvm = _llvm()
    if is_for_others():
        return plainest_processor(), ""
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def is_optimized() -> bool:
    """Whether code is optimized that is compiled now; code that other computers run always is."""
    return is_for_others() or os.environ.get(UNOPTIMIZED, "0") in ("", "0")


def _machine(level: int = OF_CODE) -> Any:
    """The target machine of this processor, with all its features."""
    cpu, features = _processor_and_features()
    return (
        _llvm()
        .Target.from_default_triple()
        .create_target_machine(cpu=cpu, features=features, opt=level, jit=True)
    )


@functools.cache
def _processor(level: int = OF_CODE) -> Any:
    return _machine(level)


@functools.cache
def llvm_versions() -> str:
    """All that machine code depends on besides the text: LLVM and the processor.

    LLVM names both. Its library takes longer to load than a short run, so its answer is kept.
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
"""What any road calls it; see `code.Coder`."""


def get_ready() -> None:
    """Load LLVM here, where each of the processes that are forked from this one would load it."""
    llvm_versions()
    _processor(OF_CODE if is_optimized() else OF_UNOPTIMIZED_CODE)


def _asked_versions() -> str:
    import llvmlite

    return repr((llvmlite.__version__, sys.platform, platform.machine(), *_processor_and_features()))


def _signs_of_processor() -> str:
    """Features of the processor, and the files of LLVM; empty where the system does not show them."""
    spec = importlib.util.find_spec("llvmlite")
    if sys.platform != "linux" or spec is None or spec.origin is None:
        return ""
    folder = os.path.dirname(spec.origin)
    try:
        files = [os.stat(os.path.join(folder, name)) for name in FILES_OF_LLVM]
        with open("/proc/cpuinfo", "rb") as file:
            lines = file.read(LENGTH_OF_FIRST).partition(b"\n\n")[0].splitlines()
    except OSError:
        return ""
    signs = [line for line in lines if line.partition(b"\t")[0].strip(b" :") in SIGNS]
    if len(signs) < len(SIGNS):
        return ""
    stamps = [(status.st_mtime_ns, status.st_size) for status in files]
    return repr((folder, stamps, platform.machine(), platform.release(), is_for_others(), signs))


def object_of(text: str) -> bytes:
    """The object file of a module for this processor.

    Parameters
    ----------
    text : str
        LLVM's text; operations on reals are neither reordered nor joined.
    """
    llvm, machine = _llvm(), _processor(OF_CODE if is_optimized() else OF_UNOPTIMIZED_CODE)
    module = llvm.parse_assembly(text)
    module.verify()
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    if not is_optimized():
        _run_few_passes(module)
        return emit_object(module, machine)
    _run_passes(module, vectors=True)
    if PICKS in text:  # LLVM has to write out loops before it can tell the items of a tuple apart
        _run_passes_of_functions(module)
    if "@sin(" in text and "@cos(" in text and has_sine_pairs():
        module = llvm.parse_assembly(with_sine_pairs(str(module)))
    return emit_object(module, machine)


_choosing = threading.Lock()
"""Held while machine code is chosen, since LLVM's options hold for all threads."""


def emit_object(module: Any, target_machine: Any) -> bytes:
    """The object file of an optimized module, the same whatever other threads compile."""
    with _choosing, loops_as_they_are():
        return bytes(target_machine.emit_object(module))


NEWEST_TRIED = 22
"""The newest LLVM in which the option of `loops_as_they_are` was tried: an unknown one ends the process."""


@contextmanager
def loops_as_they_are() -> Iterator[None]:
    """Leave out the pass that replaces the indices of loops by addresses, while machine code is chosen.

    It takes a third of that time, and these processors add index and address at no cost. Others in this
    process may compile with LLVM as well: its options hold for all, so the option is taken back.
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

    The passes are those that make it short: whoever links it runs all passes on the whole.
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
    builder = _pass_builder(vectors=False)
    passes = builder.getFunctionPassManager()
    for function in module.functions:
        if not function.is_declaration:
            passes.run(function, builder)


def _pass_builder(vectors: bool) -> Any:
    """Loops over vectors become instructions for vectors; they are short, so no turn is made of several."""
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
    # all sections of an object lie together: apart, a large process would put them out of each other's reach
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine(), use_lmm=True)


_addresses: dict[str, int] = {}
"""Where functions are that were loaded without LLVM."""


def load(code: bytes) -> None:
    """Load an object file; its symbols are those of no other."""
    if object_loader.can_load() and not lines_are_shown():
        with suppress(object_loader.UnknownObjectError):
            _addresses.update(object_loader.load(code, _address_known))
            return
    llvm, engine = _llvm(), _engine()
    for symbol, address in _addresses.items():
        llvm.add_symbol(symbol, address)
    object_file = llvm.ObjectFileRef.from_data(code)
    engine.add_object_file(object_file)
    engine.finalize_object()


def _address_known(symbol: str) -> int:
    """The address of a function of another unit or of a library; 0 if there is none."""
    loaded = _addresses.get(symbol) or object_loader.address_in_process(symbol)
    return loaded or (address_of(symbol) if _engine.cache_info().currsize else 0)


def address_of(symbol: str) -> int:
    """The address of a function of a loaded object."""
    return _addresses.get(symbol) or int(_engine().get_function_address(symbol))
