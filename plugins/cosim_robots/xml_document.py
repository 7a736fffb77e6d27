"""XML of robots: read without entities, network and document types; faults are collected with their lines."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cosim

LARGEST_DOCUMENT = 64 * 2**20
"""Bytes."""
MOST_SHOWN = 8
"""Lines that a remark lists."""

FILE = "{http://www.w3.org/XML/1998/namespace}base"
"""Attribute with the file of an element that was included."""

Element = Any
"""Of lxml."""


class XmlDocument:
    """An XML file: its elements, the faults found in it, and what of it was not read.

    Parameters
    ----------
    path : Path

    Attributes
    ----------
    root : element
    problems : list of Problem

    Raises
    ------
    ModelError
        When it cannot be read, is not XML, is too large or declares a document type.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[cosim.Problem] = []
        self._left_out: dict[str, list[str]] = {}
        self.root = self.parse(path)

    @staticmethod
    def parse(path: Path) -> Element:
        """The root of a file; raises `ModelError` as the class does."""
        from lxml import etree

        try:
            if path.stat().st_size > LARGEST_DOCUMENT:
                raise cosim.ModelError.of(
                    str(path), f"is larger than {LARGEST_DOCUMENT // 2**20} MiB, which are read at most"
                )
            data = path.read_bytes()
        except OSError as error:
            raise cosim.ModelError.of(str(path), f"cannot be read: {error.strerror}") from None
        parser = etree.XMLParser(
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
        )
        try:
            root = etree.fromstring(data, parser)
        except etree.XMLSyntaxError as error:
            where = f"{path}:{error.lineno or 1}"
            raise cosim.ModelError.of(where, f"is not well-formed XML: {error.msg}") from None
        except ValueError as error:  # an encoding that is none
            raise cosim.ModelError.of(str(path), f"is not well-formed XML: {error}") from None
        info = root.getroottree().docinfo
        if info.internalDTD is not None or info.doctype:
            text = "declares a document type (<!DOCTYPE …>), which no robot needs: refused"
            raise cosim.ModelError.of(str(path), text)
        return root

    def check(self) -> None:
        """Raise `ModelError` with every fault that was found."""
        if self.problems:
            raise cosim.ModelError(self.problems)

    def place(self, element: Element) -> str:
        """File and line of an element."""
        return f"{self._file(element) or self.path}:{element.sourceline}"

    @staticmethod
    def set_file(element: Element, path: Path) -> None:
        """Note the file of an element that is not from the main one."""
        if element.get(FILE) is None:
            element.set(FILE, str(path))

    @staticmethod
    def _file(element: Element) -> str:
        while element is not None:
            if element.get(FILE) is not None:
                return str(element.get(FILE))
            element = element.getparent()
        return ""

    def fault(self, element: Element, text: str) -> None:
        """Record a fault."""
        self.problems.append(cosim.Problem(self.place(element), text))

    def leave_out(self, element: Element, element_kind: str) -> None:
        """Record what the model does not have; the same words at several places make one remark."""
        file = self._file(element)
        line = f"{Path(file).name}:{element.sourceline}" if file else str(element.sourceline)
        self._left_out.setdefault(element_kind, []).append(line)

    def remarks(self) -> list[str]:
        """The elements that were left out, with lines."""
        return [f"{element} ({_lines(lines)})" for element, lines in self._left_out.items()]

    def children(self, element: Element | None, name: str | None = None) -> Iterator[Element]:
        """Children, those of one name."""
        for child in () if element is None else element:
            if isinstance(child.tag, str) and name in (None, child.tag):
                yield child

    def child(self, element: Element, name: str) -> Element | None:
        """The child of a name; a second one is a fault."""
        first, *others = [*self.children(element, name), None]
        for other in others:
            if other is not None:
                self.fault(other, f"a second <{name}> in <{element.tag}>: leave one")
        return first

    def name(self, element: Element) -> str:
        """The attribute ``name``; a fault where it is missing or empty."""
        name: str = element.get("name", "")
        if not name.strip():
            self.fault(element, f"<{element.tag}> has no name")
        return name

    def number(self, element: Element | None, attribute: str, default: float = 0.0) -> float:
        """A finite number; the default where it is not there."""
        return self.numbers(element, attribute, (default,))[0]

    def numbers(
        self, element: Element | None, attribute: str, default: tuple[float, ...], count: int | None = None
    ) -> tuple[float, ...]:
        """Finite numbers, as many as the default has (or `count`); the default where they are not there."""
        text = None if element is None else element.get(attribute)
        if text is None:
            return default
        needed = len(default) if count is None else count
        try:
            values = tuple(float(word) for word in text.split())
        except ValueError:
            values = ()
        if len(values) != needed or not all(map(math.isfinite, values)):
            wanted = "a finite number" if needed == 1 else f"{needed} finite numbers"
            self.fault(element, f"<{element.tag} {attribute}>: is {text!r}, needs {wanted}")  # type: ignore[union-attr]
            return default
        return values


def _lines(lines: list[str]) -> str:
    shown = ", ".join(lines[:MOST_SHOWN])
    word = "line" if len(lines) == 1 else "lines"
    more = f" and {len(lines) - MOST_SHOWN} more" if len(lines) > MOST_SHOWN else ""
    return f"{word} {shown}{more}"
