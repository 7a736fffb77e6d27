"""Executing Python source in such a way that the source of its functions can be read later."""

from __future__ import annotations

import itertools
import linecache
from typing import Any

_numbers = itertools.count(1)


def run_source(text: str, namespace: dict[str, Any] | None = None, label: str = "source") -> dict[str, Any]:
    """Run Python text as ``exec`` does, and store it, so that kernel functions in it can be read.

    The text stays in `linecache` as long as the process lives.

    Parameters
    ----------
    text : str
        Trusted, as any program: it is run.
    namespace : dict, optional
        Namespace of the execution; a new one by default.
    label : str
        Name shown in error messages.

    Returns
    -------
    dict
        The namespace after the execution.

    Examples
    --------
    >>> run_source("x = 2.0")["x"]
    2.0
    """
    name = f"<{label} {next(_numbers)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space = {} if namespace is None else namespace
    space.setdefault("__name__", "__main__")
    exec(compile(text, name, "exec"), space)  # noqa: S102
    return space
