"""Adapters: blocks of the schedule that call authors' kernel functions."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Sequence
from typing import Any

from cosim.component.argument import Argument
from cosim.component.argument_types import array_of
from cosim.component.kernel_function import KernelFunction
from cosim_compiler.checked_view import checked_view
from cosim_compiler.debugging import is_debugging
from cosim_compiler.record import rows_of
from cosim_compiler.sources.kernel_returns import returns_value
from cosim_compiler.sources.run_source import run_source
from cosim_compiler.tables import as_table


def columns(arguments: Sequence[Argument]) -> list[Argument]:
    """The arguments that have an offset in a row."""
    return [a for a in arguments if a.role not in ("time", "history")]


def lengths(arguments: Sequence[Argument]) -> list[Argument]:
    """The arguments whose length stands in a row, after all offsets."""
    return [a for a in arguments if a.is_free]


def has_result(kernel: KernelFunction) -> bool:
    """Whether the function returns a value (a witness always, a handler that answers a status)."""
    return returns_value(kernel.function)


def row_width(kernel: KernelFunction, arguments: Sequence[Argument]) -> int:
    """Integers in a row: offsets, free lengths, one more for a result or for a Python method's instance."""
    width = len(columns(arguments)) + len(lengths(arguments))
    return width + (1 if kernel.is_python or has_result(kernel) else 0)


_adapters: dict[tuple[type, str], types.FunctionType] = {}


def block_function(
    cls: type, name: str, kernel: KernelFunction, arguments: Sequence[Argument]
) -> types.FunctionType:
    """The block of a kernel function: a loop over rows that calls it with numbers and views.

    The author's function is inlined into it; helpers are not (nothing is gained and it takes longer).
    """
    key = (cls, name)
    if key not in _adapters:
        namespace = {
            "_kernel": kernel.function,
            "_checked": checked_view,
            "_as_table": as_table,
            "_rows_of": rows_of,
            "__name__": "cosim.system.adapter",
        }
        block = _write_block(cls, kernel, arguments, namespace)
        block.__qualname__ = block.__name__ = f"{cls.__name__}_{name}"
        block.__dict__["__row__"] = row_width(kernel, arguments)
        _adapters[key] = block
    return _adapters[key]


def _write_block(
    cls: type, kernel: KernelFunction, arguments: Sequence[Argument], namespace: dict[str, Any]
) -> types.FunctionType:
    """The block function of a kernel function, made of the text of its adapter."""
    source, label = block_source(cls, kernel, arguments), f"{cls.__qualname__}.{kernel.function.__name__}"
    run_source(source, namespace, f"adapter of {label}")
    block: types.FunctionType = namespace["block"]
    return block


def block_source(cls: Any, kernel: KernelFunction, arguments: Sequence[Argument]) -> str:
    """The text of the adapter, which contains no text from outside of this package."""
    place = {a.name: i for i, a in enumerate(columns(arguments))}
    width = row_width(kernel, arguments)
    size_of = _size_texts(arguments, place)
    call = [f"_instances[row[{width - 1}]]"] if kernel.is_python else []
    for argument in arguments:
        array = array_of(argument, cls.declarations)
        if argument.role == "switch":
            continue
        if array in "th":
            call.append(array)
            continue
        kind = "int" if array == "k" else "float"
        view = f"_rows_of({kind}, {array}, row[{place[argument.name]}], {size_of[argument.name]})"
        if argument.is_number:
            call.append(f"{view}[0]")
            continue
        if argument.is_table:
            view = f"_as_table({view}, {argument.shape[0]}, {argument.shape[1]})"
        is_checked, is_read = is_debugging() and not kernel.is_python, argument.effect == "read"
        shown = kernel.written_name(argument.name)
        call.append(f"_checked({view}, {shown!r}, {is_read})" if is_checked else view)
    result = condition = passed = refused = ""
    if not kernel.is_python:  # what a method returns is not used
        result = f"_rows_of(float, c, row[{width - 1}], 1)[0] = " if has_result(kernel) else ""
        condition = " else -1.0" if kernel.is_condition else ""
        result += "1.0 if " if condition else ""
        passed, refused = _passed_and_refused(width) if kernel.role == "check" else ("", "")
    return (
        "def block(t, y, p, d, k, h, c, ints, first, count):\n"
        "    for i in range(count):\n"
        f"        row = _rows_of(int, ints, first + {width} * i, {width})\n"
        f"{_switched_off(arguments, place, size_of)}"
        f"{passed}"
        f"        {result}_kernel({', '.join(call)}){condition}\n"
        f"{refused}"
    )


UNCHECKED = -1.0
"""Number of a check by which a host turns it off: differences need values slightly outside the allowed ones
(of a mass at a point, the inertia alone differs)."""


def _passed_and_refused(width: int) -> tuple[str, str]:
    """The lines before a check and those after it, which end the walk if it fails."""
    number = f"_rows_of(float, c, row[{width - 1}], 1)[0]"
    return (
        f"        if {number} == {UNCHECKED}:\n            continue\n",
        f"        if {number} != 0.0:\n"
        '            raise ValueError("the values of parameters do not fit together")\n',
    )


def _size_texts(arguments: Sequence[Argument], place: dict[str, int]) -> dict[str, str]:
    """The text of the size of each argument in the adapter: a number, or a place in the row."""
    sizes = {a.name: str(a.size) for a in arguments}
    for i, argument in enumerate(lengths(arguments)):
        sizes[argument.name] = f"row[{len(place) + i}]"
    return sizes


def _switched_off(arguments: Sequence[Argument], place: dict[str, int], size_of: dict[str, str]) -> str:
    """The lines that write zeros as results of a component that is turned off."""
    switch = next((a for a in arguments if a.role == "switch"), None)
    if switch is None:
        return ""
    lines = [f"        if _rows_of(float, p, row[{place[switch.name]}], 1)[0] == 0.0:"]
    for argument in arguments:
        if argument.effect == "write":
            size = size_of[argument.name]
            lines.append(f"            off = _rows_of(float, c, row[{place[argument.name]}], {size})")
            lines.append(f"            for j in range({size}):")
            lines.append("                off[j] = 0.0")
    return "\n".join([*lines, "            continue", ""])


def python_block(
    cls: type, kernel: KernelFunction, arguments: Sequence[Argument], instances: list[Any]
) -> Callable[..., None]:
    """The block of a plain-Python method; the last integer of a row is the index of its instance."""
    namespace: dict[str, Any] = {
        "_kernel": kernel.function,
        "_as_table": as_table,
        "_rows_of": rows_of,
        "_instances": instances,
    }
    block = _write_block(cls, kernel, arguments, namespace)
    functools.update_wrapper(block, kernel.function)
    return block
