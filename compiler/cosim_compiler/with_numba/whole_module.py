"""Numba compiles a function with its helpers to one module, of which machine code is made once.

Left to itself numba optimizes each helper and makes machine code of it as well. Here that waits until a
module is complete: helpers are called from inside it alone, and their own addresses are never asked for.
Each is made simpler before it is inlined; loops are written out once, where all is known that they work on.
The module itself is optimized when machine code or text of it is wanted; what an optimizer of its own works
on is not.
"""

from __future__ import annotations

import contextlib
import functools
import weakref
from collections.abc import Iterator
from typing import Any

from cosim_compiler.with_numba.front_end import without_repetition


@contextlib.contextmanager
def as_one_module() -> Iterator[None]:
    """What numba compiles meanwhile stays LLVM's text; see `finish`."""
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.registry import cpu_target

    codegen = cpu_target.target_context.codegen()
    with global_compiler_lock, without_repetition():
        changes = {"_library_class": _library(), "_add_module": _nothing, "set_env": _nothing}
        codegen.__dict__.update(changes)
        try:
            yield
        finally:
            for name in changes:
                del codegen.__dict__[name]


def finish(result: Any) -> Any:
    """The outcome of a compilation `as_one_module`, with machine code that this process can call."""
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.registry import cpu_target

    with global_compiler_lock:
        result.library.finish()
        target = cpu_target.target_context
        return result._replace(
            entry_point=target.get_executable(result.library, result.fndesc, result.environment)
        )


def _nothing(*_: Any) -> None:
    pass


@functools.cache
def _library() -> type:
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler_lock import global_compiler_lock

    class Whole(JITCodeLibrary):
        """A module that becomes machine code when it is told to, or never."""

        _is_optimized = _is_finished = False

        def get_pointer_to_function(self, name: str) -> int:
            if self._is_finished:
                return int(super().get_pointer_to_function(name))
            self._ensure_finalized()
            return 0

        def _finalize_specific(self) -> None:
            if self._is_finished:
                super()._finalize_specific()

        def _optimize_functions(self, ll_module: Any) -> None:
            """As numba does, but for what is only declared; it makes a list of passes for each."""
            ll_module.data_layout = self._codegen._data_layout
            passes, builder = self._codegen._function_pass_manager()
            for function in ll_module.functions:
                if not function.is_declaration:
                    passes.run(function, builder)

        def _optimize_final_module(self) -> None:
            """Inlining alone."""
            codegen = self._codegen
            passes, builder = codegen._module_pass_manager(
                loop_vectorize=codegen._loopvect, slp_vectorize=False, opt=codegen._opt_level, cost="cheap"
            )
            passes.run(self._final_module, builder)

        def optimize(self) -> None:
            """What numba does behind inlining, once."""
            with global_compiler_lock:
                if not self._is_optimized:
                    self._is_optimized = True
                    passes, builder = self._codegen._module_pass_manager()
                    passes.run(self._final_module, builder)

        def finish(self) -> None:
            self.optimize()
            self._is_finished = True
            cleanup = self._codegen._add_module(self._final_module)
            if cleanup:
                weakref.finalize(self, cleanup)
            self._finalize_specific()

    return Whole
