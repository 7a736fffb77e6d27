"""Documents that the schemas of the standard accept: faults that other readers forgive are mended."""

from __future__ import annotations

from collections.abc import Callable

from cosim_ssp.read_settings import OURS, OURS_NAMESPACE
from cosim_ssp.schema_tables import (
    ATTRIBUTES,
    BARE,
    BASE,
    KINDS_OF_VERSION_2,
    LISTS,
    META,
    NOT_EMPTY,
    ORDER,
    TYPES_OF_VERSION_2,
)
from cosim_ssp.structure import REALS, TYPES
from cosim_ssp.xml_document import NAMESPACES, Element, add, annotate, child, local_name

MOST_PASSES = 3
"""Passes at most: one may leave an empty list or a wrong order, which the next one mends."""
Say = Callable[[Element, str], None]


def make_strict(root: Element, say: Say) -> bool:
    """Mend what the schemas forbid and readers forgive. Returns whether anything was mended.

    Children are put in order, empty lists are left out, dialects of older tools are put in the words of the
    standard, and attributes that it does not know become an annotation of ours.

    Parameters
    ----------
    root : Element
        Changed in place.
    say : callable
        Takes the element and what was mended.
    """
    passes = 0
    while passes < MOST_PASSES and _mend(root, say):
        passes += 1
    changed = passes > 0
    if root.get("version") == "1.0" and any(_needs_version_2(e) for e in root.iter() if _is_of_ssp(e)):
        root.set("version", "2.0")
        say(root, "the version is 2.0, since it has what version 1.0 does not know")
        changed = True
    return changed


def _mend(root: Element, say: Say) -> bool:
    """Mend all elements in one pass."""
    changed = False
    for element in list(root.iter()):
        if not _is_of_ssp(element) or _is_foreign(element):
            continue
        for mend in (
            _translate_dialect,
            _move_misplaced,
            _move_unknown_attributes,
            _merge_lists,
            _remove_empty_lists,
            _sort_children,
        ):
            text = mend(element)
            if text:
                say(element, text)
                changed = True
    return changed


def _needs_version_2(element: Element) -> bool:
    """Whether an element came with version 2.0."""
    name = local_name(element)
    if _is_foreign(element):
        return False
    if name == "Connector":
        return element.get("kind") in KINDS_OF_VERSION_2
    if name == "Connection":
        return element.get("startIndices") is not None or element.get("endIndices") is not None
    if name == "Component":
        return element.get("source") is None
    return name in TYPES_OF_VERSION_2 or name in ("Dimension", *META)


def _translate_dialect(element: Element) -> str:
    """Write what some tools write otherwise as the schema has it. Returns what was changed."""
    name, mended = local_name(element), ""
    if name == "MappingEntry" and element.get("target") is None and element.get("destination") is not None:
        element.set("target", element.attrib.pop("destination"))
        mended = "'destination' is written as 'target'"
    if name == "Component" and element.get("source", "x").strip() == "":
        element.attrib.pop("source")
        mended = "an empty source is left out"
    if name in ("Connector", "Parameter") and element.get("type", "") in TYPES:
        kind = element.attrib.pop("type")
        typed = any(local_name(c) in TYPES for c in element)
        mended = f"the type is in an element <{kind}>"
        if not typed and name == "Connector":
            element.insert(0, _add_type(element, kind))
    if name in ("SystemStructureDescription", "ParameterSet", "ParameterMapping", "SignalDictionary"):
        is_root = name != "SignalDictionary" or element.getparent() is None
        if is_root and element.get("source") is None and element.get("version") not in ("1.0", "2.0"):
            is_inline = name == "ParameterMapping" and child(element, "MappingEntry") is None
            if not (is_inline and element.getparent() is not None):
                element.set("version", "2.0")
                mended = "the version is written as 2.0"
    return mended


def _add_type(element: Element, kind: str) -> Element:
    typed = add(element, f"ssc:{kind}")
    if kind in REALS and element.get("unit"):
        typed.set("unit", element.attrib.pop("unit"))
    return typed


def _move_misplaced(element: Element) -> str:
    """Elements of the standard in a place that it does not have for them."""
    name = local_name(element)
    allowed = LISTS.get(name) or ORDER.get(name)
    if allowed is None:
        return ""
    odd = [
        misplaced for misplaced in element if _is_of_ssp(misplaced) and local_name(misplaced) not in allowed
    ]
    holder = element.getparent() if name in LISTS else element
    if not odd or holder is None:
        return ""
    for misplaced in odd:
        element.remove(misplaced)
        annotate(holder, OURS, "cosim:Elements", OURS_NAMESPACE).append(misplaced)
    names = ", ".join(dict.fromkeys(map(local_name, odd)))
    return f"what has no place here is in an annotation: {names}"


def _move_unknown_attributes(element: Element) -> str:
    """Move attributes that the schema lacks into an annotation. Returns which."""
    name = local_name(element)
    allowed = BARE[name] if name in BARE else (*ATTRIBUTES.get(name, element.attrib), *BASE)
    odd = [name for name in element.attrib if name not in allowed]
    holder = element.getparent() if name in BARE else element
    if not odd or holder is None:
        return ""
    annotation = annotate(holder, OURS, "cosim:Attributes", OURS_NAMESPACE)
    for name in odd:
        annotation.set(name, element.attrib.pop(name))
    return f"attributes that the standard does not know are in an annotation: {', '.join(odd)}"


def _merge_lists(element: Element) -> str:
    """Merge several lists of a kind into one."""
    first: dict[str, Element] = {}
    twice = []
    for listed in [c for c in element if local_name(c) in NOT_EMPTY and _is_of_ssp(c)]:
        first_list = first.setdefault(listed.tag, listed)
        if first_list is not listed:
            for inner in list(listed):
                first_list.append(inner)
            element.remove(listed)
            twice.append(local_name(listed))
    return f"several lists in one: {', '.join(dict.fromkeys(twice))}" if twice else ""


def _remove_empty_lists(element: Element) -> str:
    lists = [c for c in element if local_name(c) in NOT_EMPTY and _is_of_ssp(c)]
    empty = [listed for listed in lists if not len(listed) and not listed.attrib]
    for listed in empty:
        element.remove(listed)
    return f"left out, as nothing is in it: {', '.join(map(local_name, empty))}" if empty else ""


def _sort_children(element: Element) -> str:
    """Children in order; comments stay before the element that they stand before."""
    order = ORDER.get(local_name(element))
    if order is None:
        return ""
    groups: list[tuple[float, list[Element]]] = []
    waiting: list[Element] = []
    for inner in element:
        waiting.append(inner)
        name = local_name(inner)
        if name:
            is_clock = name == "Clock" and inner.get("name") is not None
            rank = order.index("Dimension") + 0.5 if is_clock else order.index(name) if name in order else -1
            groups.append((rank, waiting))
            waiting = []
    ranks = [rank for rank, _ in groups]
    if ranks == sorted(ranks) or -1 in ranks:
        return ""
    ordered = [inner for _, group in sorted(groups, key=lambda item: item[0]) for inner in group] + waiting
    for inner in ordered:
        element.append(inner)
    return "its children are in the order of the schema"


def _is_of_ssp(element: Element) -> bool:
    tag = element.tag
    return isinstance(tag, str) and tag[1:].partition("}")[0] in NAMESPACES.values()


def _is_foreign(element: Element) -> bool:
    """Whether an element is inside an annotation or other foreign content."""
    return any(local_name(above) in ("Annotation", "Content") for above in element.iterancestors())
