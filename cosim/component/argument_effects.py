"""What a kernel function does to each of its arguments: reads it, writes it, or adds to it."""

from __future__ import annotations

import ast
import types
from dataclasses import replace

from cosim.component.argument import Argument
from cosim.component.argument_names import is_own_slot, is_variable
from cosim.component.kernel_signature import KernelSignature
from cosim.errors import ContractError
from cosim_compiler.sources.kernel_source import definition_of
from cosim_compiler.sources.tree_walk import tree_nodes


def with_effect(signature: KernelSignature, argument: Argument) -> Argument:
    """The argument with the effect that the function has on it.

    Raises
    ------
    ContractError
        The function may not do that to it.
    """
    _refuse_rebinding(signature, argument)
    return replace(argument, effect=_effect_on(signature, argument))


def _refuse_rebinding(signature: KernelSignature, argument: Argument) -> None:
    """Refuse `name = …` for a result or a variable: it changes nothing outside of the function."""
    rebinds, label = signature.effects.rebinds, signature.label(argument)
    if argument.name not in rebinds:
        return
    line, declaration = rebinds[argument.name], signature.declaration_of(argument)
    accumulates = signature.accumulates(argument)
    if argument.role in ("derivative", "next") or is_own_slot(argument, declaration) or accumulates:
        reason = f"{label} has {argument.size} elements" if signature.kernel.view else "a result is a view"
        raise ContractError(
            f"{signature.line(line)}: `{label} = …` changes nothing outside; "
            f"{reason}: write {label}[0] {'+=' if accumulates else '='} …"
        )
    if is_variable(argument, declaration):
        raise ContractError(f"{signature.line(line)}: {_lost_value(signature, argument.name, line)}")


def _effect_on(signature: KernelSignature, argument: Argument) -> str:
    """The effect, "read", "write" or "add"; `ContractError` where the function may not do that."""
    effects, role = signature.effects, signature.kernel.role
    writes, adds = argument.name in effects.writes, argument.name in effects.adds
    label = signature.label(argument)
    first = signature.kernel.function.__code__.co_firstlineno
    at = signature.line(effects.lines.get(argument.name, first))
    if signature.accumulates(argument):
        if writes and not adds:
            place = signature.place(argument)
            raise ContractError(f"{at}: {label} is shared by several writers: only add to it ({place} += …)")
        return "add" if adds else "read"
    if argument.role in ("derivative", "next"):
        return "write"
    is_changed = writes or adds
    if is_changed and is_own_slot(argument, signature.declaration_of(argument)):
        if role == "handler":
            raise ContractError(
                f"{at}: an event handler writes to <name>_next of states and discrete variables"
            )
        if not writes:
            raise ContractError(
                f"{at}: {label} is only added to; declare it with cache_slot(accumulates=True)"
            )
        return "write"
    if argument.role in ("history", "ring") and role == "update":
        return "write"
    if is_changed:
        raise ContractError(f"{at}: {_only_read(signature, argument)}")
    return "read"


def _only_read(signature: KernelSignature, argument: Argument) -> str:
    """The sentence about an argument that is written and may only be read."""
    label = signature.label(argument)
    if signature.kernel.view and is_variable(argument, signature.declaration_of(argument)):
        return f"{label} is the present value, and is read only; {_next(signature, argument)}"
    return (
        f"{label} may only be read; a kernel function writes to its own cache slots, outputs and "
        "derivatives and adds to forces"
    )


def _next(signature: KernelSignature, argument: Argument) -> str:
    """How a kernel function writes the next value of a variable."""
    following = signature.kernel.written_name(f"{argument.name}_next")
    place = f"{following}{'' if argument.shape == () else '[0]'} = …"
    if signature.kernel.role in ("handler", "update"):
        return f"write {place}"
    return f"variables change in handlers (cosim.on, cosim.every): write {place} there"


def _lost_value(signature: KernelSignature, name: str, line: int) -> str:
    """The sentence about a function that assigns to the name of a variable."""
    assigned = _assigned_text(signature.kernel.function, name, line)
    first = (
        f"`{name} = {assigned}` changes nothing outside: it is another value with the name of the variable"
    )
    written = f"{name}_next[0] = {assigned}"
    if signature.kernel.role in ("handler", "update"):
        return f"{first}; ask for {name}_next and write {written}, or give a local value a name of its own"
    return (
        f"{first}; variables change in handlers (cosim.on, cosim.every), which ask for {name}_next and write "
        f"{written}; give a local value a name of its own"
    )


def _assigned_text(function: types.FunctionType, name: str, line: int) -> str:
    """The text of what is assigned to a name in a line; ``…`` for a loop or several at once."""
    for node in tree_nodes(definition_of(function)):
        if getattr(node, "lineno", 0) != line:
            continue
        if isinstance(node, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == name for t in node.targets
        ):
            return ast.unparse(node.value)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            return ast.unparse(ast.BinOp(node.target, node.op, node.value))
    return "…"
