"""Import of libraries that are not always installed."""

from __future__ import annotations

import importlib
from typing import Any

import cosim


def import_optional(module: str, use: str, extra: str, name: str = "") -> Any:
    """Import a module of another library; a `CosimError` says how to install a missing one.

    Parameters
    ----------
    module : str
        The module.
    use : str
        The purpose, as the beginning of the message.
    extra : str
        The extra of this distribution that installs it.
    name : str, optional
        The name of the library, if its module has another one.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        text = f"{use} needs {name or module}, which is not installed: pip install 'cosim-framework[{extra}]'"
        raise cosim.CosimError(text) from None


def pandas() -> Any:
    """The library for tables."""
    return import_optional("pandas", "a table", "table")
