"""Doctests in docstrings become blocks of code: as text, brackets on two lines are a broken link."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension

DOCTEST = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)
EXAMPLES = re.compile(r"^Examples\n-{3,}", re.MULTILINE)


def fenced(text: str) -> str:
    """A docstring with its doctests, each up to an empty line, as fenced blocks."""
    return DOCTEST.sub(lambda match: f"```pycon\n{match.group()}\n```", text)


class DoctestBlocks(Extension):
    """The extension of griffe that mkdocs.yml names."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Fence the doctests of an object, unless a section of examples does it."""
        if obj.docstring is not None and not EXAMPLES.search(obj.docstring.value):
            obj.docstring.value = fenced(obj.docstring.value)
