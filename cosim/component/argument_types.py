"""In which array an argument of a kernel function lies, and of which type it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cosim.component.argument import Argument
from cosim.component.attachment import Attachment
from cosim.component.declaration import Declaration
from cosim_compiler.language.types import REAL, WHOLE, Type, View

OWN_ARRAYS = {
    "parameter": "p",
    "option": "p",
    "position": "y",
    "speed": "y",
    "auxiliary": "y",
    "discrete": "d",
    "integer": "k",
    "signal": "k",
}
OF_ROLES = {"time": "t", "history": "h", "ring": "k", "switch": "p"}


def array_of(argument: Argument, declarations: Mapping[str, Declaration]) -> str:
    """The array in which an argument lies: the same for all instances of a class."""
    if argument.role in OF_ROLES:
        return OF_ROLES[argument.role]
    if argument.role == "own" and argument.of in declarations:
        return OWN_ARRAYS.get(declarations[argument.of].kind, "c")
    if argument.role == "offered":
        kind: Attachment = declarations[argument.of].options["attachment"]
        return kind.offered_names(argument.of)[argument.name].array
    return "c"


def types_of(arguments: Sequence[Argument], declarations: Mapping[str, Declaration]) -> tuple[Type, ...]:
    """The types of the arguments of a kernel function, as its author sees them."""
    types: list[Type] = []
    for argument in arguments:
        array = array_of(argument, declarations)
        if argument.role == "switch":
            continue
        number = WHOLE if array == "k" else REAL
        shape = argument.shape if argument.is_table else None
        is_number = argument.is_number or array == "t"
        types.append(number if is_number else View(number, 2 if shape else 1, shape))
    return tuple(types)
