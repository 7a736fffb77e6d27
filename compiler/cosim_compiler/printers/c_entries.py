"""Entry points of a file of C: functions that code outside of the file calls."""

from __future__ import annotations

from cosim_compiler.convention import FOR_C
from cosim_compiler.language.typed_form import Function
from cosim_compiler.language.types import NOTHING, Number, Type, View, types_of
from cosim_compiler.printers.c99 import Module
from cosim_compiler.printers.c_names import words_of


def add_entry(module: Module, symbol: str, function: Function, signature: str) -> None:
    """Add the functions through which others call a function by a symbol."""
    argument_types, result = types_of(signature)
    module.functions.append(_by_address(module, symbol, function, argument_types, result))
    if all(isinstance(kind, Number) for kind in argument_types):
        module.functions.append(_for_c(module, symbol, argument_types, result))


def _by_address(
    module: Module, symbol: str, function: Function, argument_types: tuple[Type, ...], result: Type
) -> str:
    """The entry point for machine code: it returns a status, and writes the result to an address."""
    types = module.types
    heads, passed = ["void *result"], []
    for i, kind in enumerate(argument_types):
        words = words_of(kind, types)
        names = [f"a{i}"] if len(words) == 1 else [f"a{i}_{j}" for j in range(len(words))]
        heads += [f"{word} {name}" for word, name in zip(words, names, strict=True)]
        passed.append(f"({types[kind]}){{{', '.join(names)}}}" if isinstance(kind, View) else names[0])
    name = module.names[function.symbol]
    lines = []
    if function.raises:
        room = [] if function.result is NOTHING else ["&value"]
        if room:
            lines.append(f"    {types[function.result]} value;")
        lines.append(f"    int32_t status = {name}({', '.join([*passed, *room])});")
        if room and result is not NOTHING:
            lines.append(f"    if (status == 0) *({types[result]} *)result = ({types[result]})value;")
        lines.append("    return status;")
    else:
        call = f"{name}({', '.join(passed)})"
        assigned = "" if result is NOTHING else f"*({types[result]} *)result = ({types[result]})"
        lines.append(f"    {assigned}{call};")
        lines.append("    return 0;")
    if result is NOTHING:
        lines.insert(0, "    (void)result;")
    return "\n".join([f"int32_t {symbol}({', '.join(heads)}) {{", *lines, "}", ""])


def _for_c(module: Module, symbol: str, argument_types: tuple[Type, ...], result: Type) -> str:
    """The entry point for C, of a function of numbers: it returns the result."""
    kinds = [module.types[kind] for kind in argument_types]
    heads = ", ".join(f"{kind} a{i}" for i, kind in enumerate(kinds)) or "void"
    passed = ", ".join(["&value", *(f"a{i}" for i in range(len(kinds)))])
    kind = "int64_t" if result is NOTHING else module.types[result]
    lines = [f"    {kind} value = 0;", f"    {symbol}({passed});"]
    if result is not NOTHING:
        lines.append("    return value;")
    head = f"{module.types[result]} {symbol}{FOR_C}({heads})"
    return "\n".join([f"{head} {{", *lines, "}", ""])
