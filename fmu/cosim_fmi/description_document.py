"""The XML of a model description: parsed without document types, entities and deep nesting."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from xml.etree.ElementTree import Element, ParseError, fromstring
from xml.parsers import expat

DEEPEST = 200
"""Elements in elements; the deepest of the standards have about ten."""
ROOT = "fmiModelDescription"


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pause the search for cycles of garbage, which takes half of the time in which a large tree is built."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _RootReachedError(Exception):
    """Raised at the first element: a document type would stand before it."""


def parse_description(document: bytes) -> Element:
    """The root element of a model description.

    Parameters
    ----------
    document : bytes
        It is not trusted.

    Returns
    -------
    xml.etree.ElementTree.Element
        Without comments and processing instructions.

    Raises
    ------
    ValueError
        With a sentence: a document type, another root, elements that are nested too deeply, an unknown
        encoding, no XML.

    Examples
    --------
    >>> parse_description(b"<a/>")
    Traceback (most recent call last):
        ...
    ValueError: its root is <a>, not <fmiModelDescription>
    """
    try:
        with collection_paused():
            root = None if _declares_document_type(document) else fromstring(document)
    except (ParseError, expat.ExpatError) as error:
        raise ValueError(f"it is not well-formed XML: {error}") from None
    except (LookupError, ValueError) as error:
        raise ValueError(f"its encoding cannot be read ({error}), needs UTF-8") from None
    if root is None:
        raise ValueError("it declares a document type (<!DOCTYPE …>), which no FMU needs: refused")
    if root.tag != ROOT:
        raise ValueError(f"its root is <{root.tag}>, not <{ROOT}>")
    _refuse_deep_nesting(root)
    return root


def _declares_document_type(document: bytes) -> bool:
    found: list[object] = []

    def stop(*element: object) -> None:
        raise _RootReachedError

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler, parser.StartElementHandler = lambda *declaration: found.append(1), stop
    with suppress(_RootReachedError):
        parser.Parse(document, True)
    return bool(found)


def _refuse_deep_nesting(root: Element) -> None:
    level: Sequence[Element] = [root]
    depth = 0
    while level:
        if depth > DEEPEST:
            raise ValueError(f"elements are nested more than {DEEPEST} deep: refused")
        level = [child for element in level for child in element]
        depth += 1
