"""The element of a connection in an SSP, with its transformation."""

from __future__ import annotations

from typing import Any

import cosim
from cosim_master.coupling.link import Link
from cosim_master.coupling.unit_conversion import conversion_of
from cosim_ssp.write_parameters import number_text, typed_text
from cosim_ssp.xml_document import Element, add


def add_connection(connections: Element, link: Link, loop: Any) -> None:
    """Append a connection; with a transformation, unless the conversion of units is all that it does.

    Raises
    ------
    ValueError
        SSP cannot express the transformation.
    """
    ends = {}
    for side, (participant, variable) in (("start", link.start), ("end", link.end)):
        connector, indices = _connector(loop, participant, variable)
        ends[f"{side}Element"], ends[f"{side}Connector"] = participant, connector
        if indices:
            ends[f"{side}Indices"] = indices
    element = add(connections, "ssd:Connection", **ends)
    output = loop.descriptions[link.source].variables[link.output]
    input = loop.descriptions[link.target].variables[link.input]
    if link.table is not None:
        _add_mapping(element, link, output.type, input.type)
    elif input.type == "real" and (link.factor, link.offset) != _unit_conversion(link, loop):
        _add_linear(element, link.factor, link.offset)


def _connector(loop: Any, participant: str, variable: str) -> tuple[str, str]:
    """Connector and indices of a scalar; the indices are empty unless it is an element of an array."""
    for array, (_, elements) in loop.descriptions[participant].arrays.items():
        if variable in elements:
            return array, variable[len(array) + 1 : -1].replace(",", " ")
    return variable, ""


def _unit_conversion(link: Link, loop: Any) -> tuple[float, float]:
    """Factor and offset that readers of the SSP apply themselves, since the units of the variables differ."""
    source, target = loop.descriptions[link.source], loop.descriptions[link.target]
    output, input = source.variables[link.output], target.variables[link.input]
    if output.type != "real":
        return 1.0, 0.0
    try:
        return conversion_of(output.unit, source, input.unit, target)
    except cosim.UnitError:
        return 0.0, 0.0


def _add_mapping(element: Element, link: Link, output_type: str, input_type: str) -> None:
    """A table; if one side is boolean and the other is not, a table of integers, with 0 and 1."""
    assert link.table is not None
    is_whole = all(float(value).is_integer() for value in link.table.values())
    if is_whole and (link.factor, link.offset) == (1.0, 0.0):
        kind, number_type = ("Boolean", bool) if output_type == input_type == "boolean" else ("Integer", int)
        table = add(element, f"ssc:{kind}MappingTransformation")
        for source, target in link.table.items():
            _, source_text = typed_text(number_type(source))
            _, target_text = typed_text(number_type(target))
            add(table, "ssc:MapEntry", source=source_text, target=target_text)
    elif output_type == "boolean":
        at_false, at_true = link.convert(False), link.convert(True)
        _add_linear(element, at_true - at_false, at_false)
    else:
        raise ValueError(
            f"{link} maps {output_type} values to numbers that are not whole, which SSP cannot say"
        )


def _add_linear(element: Element, factor: float, offset: float) -> None:
    """A linear transformation in place of the conversion of units."""
    element.set("suppressUnitConversion", "true")
    add(element, "ssc:LinearTransformation", factor=number_text(factor), offset=number_text(offset))
