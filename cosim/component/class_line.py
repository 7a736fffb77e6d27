"""The line of an author's file in which a name is declared."""

from __future__ import annotations

import sys
from pathlib import Path

from cosim.options import options_checked

_HERE = str(Path(__file__).parent)
_OURS = (options_checked.__code__.co_filename,)


def class_line() -> str:
    """File and line of the class body that declares something now, as ``file.py:12``."""
    frame = sys._getframe()
    while frame.f_back is not None and (
        frame.f_code.co_filename in _OURS or frame.f_code.co_filename.startswith(_HERE)
    ):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
