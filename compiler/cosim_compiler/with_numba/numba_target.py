"""numba's target: what it compiles for, made ready."""

from __future__ import annotations

import functools
from typing import Any


@functools.cache
def numba_target() -> Any:
    """The target context of this processor.

    Making it ready, numba imports SciPy's linear algebra, to find out whether there is a BLAS; that takes
    longer than all the rest. What needs a BLAS asks again.
    """
    import numba.np.linalg as linear_algebra
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.registry import cpu_target

    with global_compiler_lock:
        asked_for, linear_algebra.ensure_blas = linear_algebra.ensure_blas, _there_is_no_blas
        try:
            cpu_target.target_context.refresh()
        finally:
            linear_algebra.ensure_blas = asked_for
    return cpu_target.target_context


def get_ready() -> None:
    """What the compiler does ahead of the first function."""
    from numba.core.registry import cpu_target

    numba_target()
    cpu_target.typing_context.refresh()


def versions() -> tuple[Any, ...]:
    """Of what compiles, and the processor that is compiled for."""
    import llvmlite
    import numba
    import numpy
    from numba.core.registry import cpu_target

    programs = [numba.__version__, llvmlite.__version__, numpy.__version__]
    return *programs, cpu_target.target_context.codegen().magic_tuple()


def _there_is_no_blas() -> None:
    raise ImportError
