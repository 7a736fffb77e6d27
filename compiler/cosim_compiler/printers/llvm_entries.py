"""Wrappers through which code outside of a module calls a function in it.

The wrapper that is called by address is ``int32_t f(void *result, …)``. It takes a view as its address and
its lengths, writes the result to an address, and returns a status, 0 unless an exception was raised. The
wrapper for C, of functions of numbers alone, returns the result.
"""

from __future__ import annotations

from cosim_compiler.convention import FOR_C
from cosim_compiler.language.typed_form import Function
from cosim_compiler.language.types import NOTHING, Number, Type, types_of
from cosim_compiler.printers.llvm import Module
from cosim_compiler.printers.llvm_types import STATUS, llvm_type, returned, words_of, zero_of
from cosim_compiler.printers.llvm_values import ValueWriter


def add_entry(module: Module, symbol: str, function: Function, signature: str) -> None:
    """Add the wrappers of a function, under a symbol."""
    argument_types, result = types_of(signature)
    module.functions.append(by_address(module, symbol, function, signature))
    if all(isinstance(kind, Number) for kind in argument_types):
        module.functions.append(_for_c(module, symbol, argument_types, result))


def by_address(module: Module, symbol: str, function: Function, signature: str) -> str:
    """The wrapper that is called by address, or from another module by its symbol."""
    _, result = types_of(signature)
    out = ValueWriter(module.declared)
    out.location = module.lines.of_line(function, function.author.__code__.co_firstlineno, symbol)
    names: list[str] = []
    for i, (_, kind) in enumerate(function.parameters):
        names += [f"{word} %a{i}.{j}" for j, word in enumerate(words_of(kind))]
    call = f"call {returned(function)} @{function.symbol}({', '.join(names)})"
    status = "0"
    if function.result is NOTHING:
        if function.raises:
            status = out.value(call)
        else:
            out.line(call)
    else:
        returned_value = out.value(call)
        if function.raises:
            status = out.value(f"extractvalue {returned(function)} {returned_value}, 0")
            returned_value = out.value(f"extractvalue {returned(function)} {returned_value}, 1")
        if result is not NOTHING:
            returned_value = out.converted(function.result, result, returned_value)
            out.line(f"store {llvm_type(result)} {out.whole(result, returned_value)}, ptr %result")
    out.line(f"ret {STATUS} {status}")
    mark = module.lines.of_function(function, symbol)
    return _definition(out, f"{STATUS} @{symbol}({', '.join(['ptr %result', *names])})", mark)


def _for_c(module: Module, symbol: str, argument_types: tuple[Type, ...], result: Type) -> str:
    """The wrapper for C."""
    out = ValueWriter(module.declared)
    kinds = [llvm_type(kind) for kind in argument_types]
    room = out.room("i64" if result is NOTHING else llvm_type(result))
    passed = ", ".join([f"ptr {room}", *(f"{kind} %a{i}" for i, kind in enumerate(kinds))])
    if result is NOTHING:
        out.line(f"call {STATUS} @{symbol}({passed})")
        out.line("ret void")
    else:
        out.line(f"store {llvm_type(result)} {zero_of(result)}, ptr {room}")
        out.line(f"call {STATUS} @{symbol}({passed})")
        out.line(f"ret {llvm_type(result)} {out.value(f'load {llvm_type(result)}, ptr {room}')}")
    heads = ", ".join(f"{kind} %a{i}" for i, kind in enumerate(kinds))
    return _definition(out, f"{llvm_type(result)} @{symbol}{FOR_C}({heads})")


def _definition(out: ValueWriter, head: str, mark: str = "") -> str:
    return "\n".join([f"define {head} nounwind{mark} {{", *out.head, *out.lines, "}", ""])
