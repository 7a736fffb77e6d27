"""Where numba keeps the code of a compiled function: in the folder that `kernel_cache` names."""

from __future__ import annotations

import functools
import logging
import shutil
from pathlib import Path
from typing import Any

log = logging.getLogger("cosim.native")


@functools.cache
def cache_class() -> Any:
    """The class of such a cache, for one function."""
    from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

    class Locator(_CacheLocator):
        """Numba asks where to keep things; the answer is the folder of the digest."""

        def __init__(self, path: Path) -> None:
            self.path = path

        def get_cache_path(self) -> str:
            return str(self.path)

        def get_source_stamp(self) -> str:
            return self.path.name

        def get_disambiguator(self) -> str:
            return ""

        @classmethod
        def from_function(cls, py_func: Any, py_file: Any) -> Any:
            return cls(py_func.__cosim_entry__)

    class Impl(CompileResultCacheImpl):
        _locator_classes = [Locator]

    class KernelCache(FunctionCache):
        """Falls back to compiling when an entry is damaged, and to not saving when it cannot save."""

        _impl_class = Impl

        def __init__(self, function: Any, entry: Path) -> None:
            function.__cosim_entry__ = entry
            self.missed = False
            super().__init__(function)

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            try:
                found = super().load_overload(sig, target_context)
            except Exception as error:
                log.warning("damaged kernel %s is compiled again: %r", self.cache_path, error)
                shutil.rmtree(self.cache_path, ignore_errors=True)  # numba does not save over a bad index
                found = None
            if found is None:
                if not self.missed:
                    log.info("compiling")
                self.missed = True
            return found

        def _index_key(self, sig: Any, codegen: Any) -> Any:
            # Numba's own key has the closure in it, in which dispatchers are new in each process; the name
            # of the folder stands for everything that the code depends on.
            return sig, codegen.magic_tuple()

        def save_overload(self, sig: Any, data: Any) -> None:
            try:
                super().save_overload(sig, data)
            except Exception as error:
                log.warning("kernel is not kept: %s: %s", self.cache_path, error)

    return KernelCache
