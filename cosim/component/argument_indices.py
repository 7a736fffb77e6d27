"""How a kernel function indexes each of its arguments: not at all, by an element, by row and column."""

from __future__ import annotations

from dataclasses import replace

from cosim.component.argument import Argument
from cosim.component.kernel_signature import KernelSignature
from cosim.errors import ContractError

NEGATIVE = 1 << 30
"""What `kernel_effects` takes a negative index for: nothing counts from the end."""


def check_kind(signature: KernelSignature, argument: Argument) -> None:
    """Refuse elements of a number, and a view that is computed with as if it were a number."""
    effects, label = signature.effects, signature.label(argument)
    if argument.role in ("history", "ring"):
        return
    if argument.is_number or argument.role in ("time", "side", "smoothness"):
        if argument.name in effects.subscripts:
            raise ContractError(
                f"{signature.line(effects.subscripts[argument.name])}: {label} is a number here: write "
                f"{label}, not {label}[0]; what is only read and declared without a shape has no elements"
            )
    elif argument.name in effects.as_numbers:
        if argument.role == "derivative" and not signature.is_written(argument):
            return  # never written: a sentence of its own
        contents = f"{argument.size} numbers" if argument.size != 1 or argument.is_free else "one number"
        place = ", ".join("0" for _ in argument.shape) or "0"
        raise ContractError(
            f"{signature.line(effects.as_numbers[argument.name])}: {label} is a view of "
            f"{'numbers' if argument.is_free else contents}: compute with its elements, {label}[{place}]"
        )


def as_indexed(signature: KernelSignature, argument: Argument, tables: frozenset[str]) -> Argument:
    """The argument as a table where it has two axes and is indexed by both, or is one of `tables`.

    Raises
    ------
    ContractError
        It is indexed by two axes and has not two.
    """
    effects, label = signature.effects, signature.label(argument)
    if argument.name not in effects.tables | tables:
        return argument
    if len(argument.shape) == 2 and not argument.is_free:
        return replace(argument, is_table=True)
    line = next((line for name, _, line in effects.places if name == argument.name), 0)
    if line and (argument.shape or not argument.is_number):
        axes, remedy = "one axis", f"write {label}[i]"
        if argument.is_free:
            axes, remedy = "a shape that each part brings", f"write {label}[i * columns + j]"
        elif len(argument.shape) > 2:
            axes, remedy = f"{len(argument.shape)} axes", f"write {label}[i], row by row"
        raise ContractError(f"{signature.line(line)}: {label} has {axes}: {remedy}")
    return argument


def check_index(signature: KernelSignature, argument: Argument) -> None:
    """Refuse a constant index beyond the end: an unchecked access in compiled code."""
    effects, label = signature.effects, signature.label(argument)
    index, line = effects.indices.get(argument.name, (-1, 0))
    if argument.role in ("history", "ring") or argument.is_free:
        return
    count, axis = (argument.shape[0], "rows") if argument.is_table else (argument.size, "elements")
    if index >= count:
        shown = "a negative index" if index >= NEGATIVE else f"[{index}]"
        raise ContractError(f"{signature.line(line)}: {label} has {count} {axis}, {shown} is outside")
    for name, place, line in effects.places:
        if name == argument.name and argument.is_table and not _is_inside(place, argument.shape):
            rows, columns = argument.shape
            row, column = ("…" if i is None else i for i in place)
            shown = "a negative index" if NEGATIVE in place else f"[{row}, {column}]"
            raise ContractError(
                f"{signature.line(line)}: {label} has {rows} rows and {columns} columns, {shown} is outside"
            )


def _is_inside(place: tuple[int | None, ...], shape: tuple[int, ...]) -> bool:
    """Whether each index that is known is less than the length of its axis."""
    return all(i is None or i < length for i, length in zip(place, shape, strict=True))
