"""Groups the scalars of an exported FMU into arrays, the variables of FMI 3.0."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cosim_export.interface.exported_interface import ExportedInterface
from cosim_export.interface.fmu_variable import FmuVariable

ELEMENT = re.compile(r"(?P<der>der\()?(?P<base>.+)\[(?P<index>\d+(,\d+)*)\](?P<end>\)?)")


@dataclass(frozen=True)
class FmuArray:
    """A variable of FMI 3.0: a scalar, or all elements of an array, rows first.

    Attributes
    ----------
    name : str
        Without subscripts: ``rubber.position``.
    reference : int
        Its value reference: the place of its first element among the scalars of the FMU.
    dimensions : tuple of int
        Empty for a scalar.
    elements : tuple of FmuVariable
    """

    name: str
    reference: int
    dimensions: tuple[int, ...]
    elements: tuple[FmuVariable, ...]

    @property
    def description(self) -> str:
        """The common part of the elements' descriptions, then the differences: ``position along x, y, z``."""
        texts = list(dict.fromkeys(v.description for v in self.elements))
        if len(texts) == 1 or not all(texts):
            return texts[0]
        if self.elements[0].derivative_of:
            return f"rate of {_array_name(self.elements[0].derivative_of)}"
        heads, _, tails = zip(*(text.rpartition(" ") for text in texts), strict=True)
        return f"{heads[0]} {', '.join(tails)}" if len(set(heads)) == 1 else texts[0]


def arrays_of(variables: Sequence[FmuVariable]) -> list[FmuArray]:
    """The variables of FMI 3.0, arrays or scalars, for the scalars of an FMU, in their order.

    Neighbours form an array if their names are those of all its elements, ``x[1]`` to ``x[n]`` or ``x[1,1]``
    to ``x[m,n]``, and if all attributes are equal that a description gives once for an array: causality,
    unit, bounds … Others stay scalars, such as the stiffnesses of a bushing, half of which are in N.m/rad.

    Examples
    --------
    >>> common = ("c", 0, 3, "Real", "output", "continuous", "calculated")
    >>> names = ["a", "x[1]", "x[2]", "y[2]"]
    >>> scalars = [FmuVariable(name, name, *common) for name in names]
    >>> [(v.name, v.reference, v.dimensions) for v in arrays_of(scalars)]
    [('a', 0, ()), ('x', 1, (2,)), ('y[2]', 3, ())]
    """
    arrays, at = [], 0
    for name, group in _runs(variables):
        dimensions = _dimensions(group) if name else None
        if dimensions is None:
            arrays += [FmuArray(v.name, at + i, (), (v,)) for i, v in enumerate(group)]
        else:
            arrays.append(FmuArray(name, at, dimensions, tuple(group)))
        at += len(group)
    return [part for array in arrays for part in _with_its_rates(array, arrays)]


def variables_of(interface: ExportedInterface) -> list[FmuArray]:
    """The variables of an FMU in FMI 3.0; without arrays each scalar is a variable."""
    if interface.has_arrays:
        return arrays_of(interface.variables)
    return [FmuArray(v.name, i, (), (v,)) for i, v in enumerate(interface.variables)]


def _with_its_rates(array: FmuArray, listed: Sequence[FmuArray]) -> list[FmuArray]:
    """An array, or its elements if it holds states whose rates do not form an array, or the reverse."""
    own_names = tuple(v.name for v in array.elements)
    states: tuple[str, ...] = ()
    rates: tuple[str, ...] = ()
    if array.elements[0].derivative_of:
        states = tuple(v.derivative_of for v in array.elements)
    else:
        rates = tuple(v.name for a in listed for v in a.elements if v.derivative_of in own_names)
    groups = {tuple(v.name for v in a.elements) for a in listed}
    if not array.dimensions or {states, rates} <= {(), *groups}:
        return [array]
    return [FmuArray(v.name, array.reference + i, (), (v,)) for i, v in enumerate(array.elements)]


def _runs(variables: Sequence[FmuVariable]) -> Iterator[tuple[str, list[FmuVariable]]]:
    """Runs of neighbours with equal `_common_attributes`, and their array's name; "" if they form none."""
    names = {v.name for v in variables}
    sizes = Counter(_array_name(v.name) for v in variables)
    for key, run in itertools.groupby(variables, key=_common_attributes):
        group, name = list(run), str(key[0])
        yield ("" if name in names or sizes[name] != len(group) else name), group


def _array_name(name: str) -> str:
    """``x`` for ``x[1]``, ``der(x)`` for ``der(x[1])``; empty for what is not an element."""
    match = ELEMENT.fullmatch(name)
    if match is None or bool(match["der"]) != bool(match["end"]):
        return ""
    return f"{match['der'] or ''}{match['base']}{match['end']}"


def _common_attributes(variable: FmuVariable) -> tuple[object, ...]:
    """The name of the array, and the attributes that all its elements have in common."""
    name = _array_name(variable.name)
    if not name:
        return ("", variable.name)
    return (
        name,
        *(variable.causality, variable.variability, variable.initial, variable.type),
        *(variable.unit, variable.display_unit, variable.lower_bound, variable.maximum, variable.nominal),
        variable.items,
        _array_name(variable.derivative_of),
    )


def _dimensions(group: Sequence[FmuVariable]) -> tuple[int, ...] | None:
    """The shape of the array if the group has all its elements, rows first; None otherwise."""
    subscripts = []
    for variable in group:
        match = ELEMENT.fullmatch(variable.name)
        assert match is not None
        subscripts.append(tuple(map(int, match["index"].split(","))))
    shape = subscripts[-1]
    is_whole = len(group) > 1 and subscripts == list(
        itertools.product(*(range(1, size + 1) for size in shape))
    )
    is_in_order = not group[0].derivative_of or all(
        v.offset == group[0].offset + i for i, v in enumerate(group)
    )
    return shape if is_whole and is_in_order else None
