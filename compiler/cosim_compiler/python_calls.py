"""Calls of kernel functions from Python: compiled, or in plain Python without its warnings."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from cosim_compiler.called import Called
from cosim_compiler.native import compile_function, is_plain


def compiled(function: Any, signature: str) -> Callable[..., Any]:
    """The compiled function; in plain Python, one in which overflow and 0/0 are as silent as compiled."""
    callable_ = compile_function(function, signature)
    return np.errstate(all="ignore")(callable_) if is_plain() else callable_


def prepared_call(function: Any, signature: str, *arguments: Any) -> Callable[[], Any]:
    """The call of a compiled function with these arguments, as `Called.prepared`."""
    callable_ = compiled(function, signature)
    return callable_.prepared(*arguments) if isinstance(callable_, Called) else partial(callable_, *arguments)
