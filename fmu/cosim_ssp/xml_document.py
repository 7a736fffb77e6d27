"""XML of SSP: read without entities, network and document types; small offences are mended and reported."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

LARGEST_DOCUMENT = 64 * 2**20
"""Bytes."""
NAMESPACES = {
    "ssd": "http://ssp-standard.org/SSP1/SystemStructureDescription",
    "ssc": "http://ssp-standard.org/SSP1/SystemStructureCommon",
    "ssv": "http://ssp-standard.org/SSP1/SystemStructureParameterValues",
    "ssm": "http://ssp-standard.org/SSP1/SystemStructureParameterMapping",
    "ssb": "http://ssp-standard.org/SSP1/SystemStructureSignalDictionary",
}
OTHERS = {
    "osp": "http://opensimulationplatform.com/SSP/OSPAnnotations",
    "oms": "https://raw.githubusercontent.com/OpenModelica/OMSimulator/master/schema/oms.xsd",
    "xsi": "http://www.w3.org/2001/XMLSchema-instance",
}
"""Of annotations in use; a prefix that is used without being declared is taken for the one here."""
UNDECLARED = re.compile(r"Namespace prefix (\S+) (?:on|for) .* is not defined")
MOST_PREFIXES = 100
DECLARATION = re.compile(rb"""xmlns(?::[\w.-]+)?\s*=\s*(["'])([^"']*)\1""")
LIKE_OURS = re.compile(
    r"/(?:SSP\d*/(?:SystemStructure)?|SystemStructure)"
    r"(Description|Common|ParameterValues|ParameterMapping|SignalDictionary)(?:Draft\d*)?(?:\.xsd)?/?$",
)
"""Namespaces of drafts and of tools that write other words for those of the standard."""

Element = Any
"""An element of lxml."""
Say = Callable[[str, str], None]
"""Takes a place (``file:line``) and a sentence."""


def parse_document(data: bytes, name: str, say: Say) -> Element:
    """The root element of a document.

    Parameters
    ----------
    data : bytes
    name : str
        The name of the file, for messages.
    say : callable
        Takes what was mended.

    Raises
    ------
    ValueError
        With a place and a sentence: no XML, a document type or entities, too large, nested too deeply.
    """
    from lxml import etree

    if len(data) > LARGEST_DOCUMENT:
        size, limit = len(data) / 2**20, LARGEST_DOCUMENT / 2**20
        raise ValueError(f"{name}: has {size:.0f} MiB; at most {limit:.0f} MiB are accepted")
    data = _with_namespaces(data, name, say)
    declared: dict[str, str] = {}
    while True:
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_blank_text=False
        )
        try:
            root = etree.fromstring(_with_prefixes(data, declared), parser)
        except etree.XMLSyntaxError as error:
            line, text = error.lineno, error.msg or "cannot be read"
            missing = {p: at for p, at in _undeclared(parser.error_log).items() if p not in declared}
            if not missing or len(declared) > MOST_PREFIXES:
                raise ValueError(f"{name}:{line}: is not well-formed XML: {text}") from None
            for prefix, at in missing.items():
                declared[prefix] = _meaning(prefix)
                say(f"{name}:{at}", f"the prefix {prefix}: is not declared; taken for {declared[prefix]}")
            continue
        except ValueError as error:  # the document names an encoding that does not exist
            raise ValueError(f"{name}: is not well-formed XML: {error}") from None
        info = root.getroottree().docinfo
        if info.internalDTD is not None or info.doctype:
            raise ValueError(f"{name}: declares a document type (<!DOCTYPE …>), which no SSP needs: refused")
        return root


def local_name(element: Element) -> str:
    """The name of an element without its namespace; "" for comments and processing instructions."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def children(element: Element | None, name: str) -> list[Element]:
    """Children of a name, whatever their namespace: files in use mix up ssd and ssc."""
    return [] if element is None else [child for child in element if local_name(child) == name]


def child(element: Element | None, name: str) -> Element | None:
    """The first child of a name."""
    return next(iter(children(element, name)), None)


def first_child(element: Element | None) -> Element | None:
    """The first child that is an element."""
    return next((c for c in element if local_name(c)), None) if element is not None else None


def new_root(tag: str, prefixes: Mapping[str, str], **attributes: str) -> Element:
    """A root element; `tag` is ``prefix:Name``."""
    from lxml import etree

    namespaces = {**NAMESPACES, **prefixes}
    prefix, _, name = tag.partition(":")
    used = {p: namespaces[p] for p in dict.fromkeys([prefix, "ssc", *prefixes])}
    return etree.Element(f"{{{namespaces[prefix]}}}{name}", dict(attributes), used)


def add(parent: Element, tag: str, **attributes: str) -> Element:
    """A new last child; `tag` is ``prefix:Name`` with a prefix that the parent knows."""
    from lxml import etree

    prefix, _, name = tag.partition(":")
    namespace = parent.nsmap.get(prefix) or NAMESPACES[prefix]
    return etree.SubElement(parent, f"{{{namespace}}}{name}", dict(attributes))


def child_or_new(parent: Element, tag: str) -> Element:
    """The first child of a name, or a new last one; `tag` as for `add`."""
    first = child(parent, tag.partition(":")[2])
    return add(parent, tag) if first is None else first


def annotate(holder: Element, kind: str, tag: str, namespace: str, **attributes: str) -> Element:
    """The only element of a new annotation of an element; `tag` is ``prefix:Name``."""
    notes = child(holder, "Annotations")
    if notes is None:
        notes = holder.makeelement(f"{holder.tag.partition('}')[0]}}}Annotations")
        holder.append(notes)
    note = add(notes, "ssc:Annotation", type=kind)
    prefix, _, name = tag.partition(":")
    annotation = note.makeelement(f"{{{namespace}}}{name}", attributes, {prefix: namespace})
    note.append(annotation)
    return annotation


def to_bytes(root: Element, *, pretty: bool = False) -> bytes:
    """The document as UTF-8, as SSP asks for."""
    from lxml import etree

    tree = root.getroottree()
    return bytes(etree.tostring(tree, xml_declaration=True, encoding="UTF-8", pretty_print=pretty))


def _undeclared(log: Any) -> dict[str, int]:
    """Prefixes that were used without being declared, and where first."""
    lines: dict[str, int] = {}
    for entry in log:
        match = UNDECLARED.search(entry.message)
        if match:
            lines.setdefault(match[1], entry.line)
    return lines


def _meaning(prefix: str) -> str:
    return {**NAMESPACES, **OTHERS}.get(prefix, f"urn:undeclared:{prefix}")


def _with_namespaces(data: bytes, name: str, say: Say) -> bytes:
    """The document with the namespaces of the standard in place of those that are like them."""
    by_name = {meaning.rpartition("SystemStructure")[2].lower(): meaning for meaning in NAMESPACES.values()}
    parts, done = [], 0
    for declaration in DECLARATION.finditer(data):
        namespace = declaration[2].decode("utf-8", "replace")
        match = None if namespace in NAMESPACES.values() else LIKE_OURS.search(namespace)
        if match is not None:
            meaning = by_name[match[1].lower()]
            line = data.count(b"\n", 0, declaration.start()) + 1
            say(
                f"{name}:{line}", f"the namespace {namespace} is not one of the standard; taken for {meaning}"
            )
            parts += [data[done : declaration.start(2)], meaning.encode()]
            done = declaration.end(2)
    return b"".join([*parts, data[done:]])


def _with_prefixes(data: bytes, declared: Mapping[str, str]) -> bytes:
    """The document with declarations in its first tag, on the same line."""
    if not declared:
        return data
    at = 0
    while True:  # to the first "<" that begins neither a processing instruction nor a comment
        at = data.find(b"<", at)
        if data.startswith(b"<?", at):
            at = data.find(b"?>", at)
        elif data.startswith(b"<!--", at):
            at = data.find(b"-->", at)
        else:
            break
        if at < 0:
            return data
    match = re.compile(rb"<[^\s/>]+").match(data, max(at, 0))
    if match is None:
        return data
    words = "".join(f' xmlns:{prefix}="{meaning}"' for prefix, meaning in declared.items())
    return data[: match.end()] + words.encode() + data[match.end() :]
