"""The code of a compiled function as bytes that `cosim_compiler.kernel_cache` keeps, and back."""

from __future__ import annotations

import logging
import pickle
from typing import Any

from cosim_compiler import kernel_cache

log = logging.getLogger("cosim.native")


def kept_code(digest: str) -> Any:
    """What numba made of the function of this digest once, or None."""
    from numba.core.compiler import CompileResult
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.registry import cpu_target

    content = kernel_cache.kept(digest)
    if content is None:
        return None
    target = cpu_target.target_context  # not made ready for compiling, which takes longer than to load this
    try:
        with global_compiler_lock:
            result = CompileResult._rebuild(target, *pickle.loads(content))  # noqa: S301
            target.insert_user_function(result.entry_point, result.fndesc, [result.library])
    except Exception as error:
        log.warning("kernel %s cannot be loaded and is compiled again: %r", digest, error)
        return None
    return result


def keep_code(digest: str, result: Any) -> None:
    """Keep what numba made, unless it holds addresses of this process."""
    from numba.core.serialize import dumps

    if result.library.has_dynamic_globals or result.lifted:
        return
    try:
        content = dumps(result._reduce())
    except Exception as error:
        log.warning("kernel is not kept: %s: %s", result.fndesc.qualname, error)
        return
    kernel_cache.keep(digest, content)
