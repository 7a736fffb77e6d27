"""Adapters: from an author's kernel function to a block of the schedule."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Sequence
from typing import Any

from cosim.component.arguments import Argument
from cosim.component.attachment import Attachment
from cosim.component.declaration import Declaration
from cosim.component.kernel_function import KernelFunction
from cosim_compiler.checked_view import checked_view
from cosim_compiler.debugging import is_debugging
from cosim_compiler.sources.kernel_effects import returns_value

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


def array_of(argument: Argument, declarations: dict[str, Declaration]) -> str:
    """The array in which an argument lies: the same for all instances of a class."""
    if argument.role == "time":
        return "t"
    if argument.role == "history":
        return "h"
    if argument.role == "ring":
        return "k"
    if argument.role == "switch":
        return "p"
    if argument.role == "own" and argument.of in declarations:
        return OWN_ARRAYS.get(declarations[argument.of].kind, "c")
    if argument.role == "offered":
        kind: Attachment = declarations[argument.of].options["attachment"]
        return kind.offered_names(argument.of)[argument.name].array
    return "c"


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
        kernel.function.__dict__["__inline__"] = True
        namespace: dict[str, Any] = {"_kernel": kernel.function, "__name__": "cosim.system.adapter"}
        if is_debugging():
            namespace["_checked"] = checked_view
        source = block_source(cls, kernel, arguments)
        exec(compile(source, f"<adapter of {cls.__qualname__}.{name}>", "exec"), namespace)  # noqa: S102
        block: types.FunctionType = namespace["block"]
        block.__qualname__ = block.__name__ = f"{cls.__name__}_{name}"
        block.__dict__["__row__"] = row_width(kernel, arguments)
        _adapters[key] = block
    return _adapters[key]


def block_source(cls: Any, kernel: KernelFunction, arguments: Sequence[Argument]) -> str:
    """The text of the adapter; made from names of ours alone, nothing that comes from outside."""
    place = {a.name: i for i, a in enumerate(columns(arguments))}
    width = row_width(kernel, arguments)
    size_of = _size_texts(arguments, place)
    call = []
    for argument in arguments:
        array = array_of(argument, cls.declarations)
        if argument.role == "switch":
            continue
        if array in "th":
            call.append(array)
            continue
        at = f"ints[r + {place[argument.name]}]"
        if argument.is_number:
            call.append(f"{array}[{at}]")
            continue
        view = f"{array}[{at}:{at} + {size_of[argument.name]}]"
        is_read = argument.effect == "read"
        call.append(f"_checked({view}, {argument.name!r}, {is_read})" if is_debugging() else view)
    result = f"c[ints[r + {width - 1}]] = " if has_result(kernel) else ""
    condition = " else -1.0" if kernel.is_condition else ""
    result += "1.0 if " if condition else ""
    return (
        "def block(t, y, p, d, k, h, c, ints, first, count):\n"
        "    for i in range(count):\n"
        f"        r = first + {width} * i\n"
        f"{_switched_off(arguments, place, size_of)}"
        f"        {result}_kernel({', '.join(call)}){condition}\n"
        f"{_refused(width) if kernel.role == 'check' else ''}"
    )


def _refused(width: int) -> str:
    """The lines that end the walk where a check refuses values; its number stays in the cache."""
    return (
        f"        if c[ints[r + {width - 1}]] != 0.0:\n"
        '            raise ValueError("the values of parameters do not fit together")\n'
    )


def _size_texts(arguments: Sequence[Argument], place: dict[str, int]) -> dict[str, str]:
    """How the adapter writes the size of each argument: a number, or a place in the row."""
    sizes = {a.name: str(a.size) for a in arguments}
    for i, argument in enumerate(lengths(arguments)):
        sizes[argument.name] = f"ints[r + {len(place) + i}]"
    return sizes


def _switched_off(arguments: Sequence[Argument], place: dict[str, int], size_of: dict[str, str]) -> str:
    """The lines that leave zeros in place of results where the component is turned off."""
    switch = next((a for a in arguments if a.role == "switch"), None)
    if switch is None:
        return ""
    lines = [f"        if p[ints[r + {place[switch.name]}]] == 0.0:"]
    for argument in arguments:
        if argument.effect == "write":
            lines.append(f"            for j in range({size_of[argument.name]}):")
            lines.append(f"                c[ints[r + {place[argument.name]}] + j] = 0.0")
    return "\n".join([*lines, "            continue", ""])


def python_block(
    cls: Any, kernel: KernelFunction, arguments: Sequence[Argument], instances: list[Any]
) -> Callable[..., None]:
    """The block of a plain-Python method; the last integer of a row is the index of its instance."""
    readers = []
    place = {a.name: i for i, a in enumerate(columns(arguments))}
    switch = next((place[a.name] for a in arguments if a.role == "switch"), None)
    free = {a.name: len(place) + i for i, a in enumerate(lengths(arguments))}
    results = [(place[a.name], a.size, free.get(a.name)) for a in arguments if a.effect == "write"]
    for argument in arguments:
        if argument.role == "switch":
            continue
        array = array_of(argument, cls.declarations)
        size = argument.size
        column = place.get(argument.name, 0)
        readers.append((array, column, size, free.get(argument.name), argument.is_number))
    width = row_width(kernel, arguments)
    function = kernel.function

    def block(t, y, p, d, k, h, c, ints, first, count):
        arrays = {"y": y, "p": p, "d": d, "k": k, "c": c}
        for i in range(count):
            r = first + width * i
            if switch is not None and p[ints[r + switch]] == 0.0:
                for column, size, length in results:
                    size = size if length is None else ints[r + length]
                    c[ints[r + column] : ints[r + column] + size] = 0.0
                continue
            values = []
            for array, column, size, length, is_number in readers:
                size = size if length is None else ints[r + length]
                if array == "t":
                    values.append(t)
                elif array == "h":
                    values.append(h)
                else:
                    at = ints[r + column]
                    values.append(arrays[array][at] if is_number else arrays[array][at : at + size])
            function(instances[ints[r + width - 1]], *values)

    functools.update_wrapper(block, function)
    return block
