"""The meaning of the argument names of a kernel function."""

from __future__ import annotations

import ast
import functools
import hashlib
import operator
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from inspect import signature
from pathlib import Path
from typing import Any

from cosim.component.argument import Argument as Argument
from cosim.component.argument_types import array_of, types_of
from cosim.component.attachment import Offer
from cosim.component.declaration import Declaration
from cosim.component.history import RING
from cosim.component.kernel_function import KernelFunction
from cosim.errors import ContractError, nearest
from cosim_compiler.language.verdict import verdict_on
from cosim_compiler.sources.kept_reading import KeptReading, as_written
from cosim_compiler.sources.kernel_effects import (
    Effects,
    effects_of,
    line_of_returned_value,
    may_raise,
    returns_value,
)
from cosim_compiler.sources.kernel_rules import rule_faults
from cosim_compiler.sources.kernel_source import definition_of, where
from cosim_compiler.sources.recursion import recursion_fault
from cosim_compiler.sources.tree_walk import tree_nodes
from cosim_compiler.sources.views import lines_of_attributes

NEGATIVE = 1 << 30
"""What `kernel_effects` takes a negative index for: nothing counts from the end."""
NAMES_OF_UPDATES = {name: Argument(name, name, name, "", (), "read") for name in ("side", "smoothness")}
FIELDS = operator.attrgetter(*(field.name for field in fields(Argument)))
STATES = {"position": "q", "speed": "u", "auxiliary": "z"}


def known_names(declarations: Mapping[str, Declaration]) -> dict[str, Argument]:
    """Every name that a kernel function of this component may ask for, as if it were only read."""
    arguments: dict[str, Argument] = {"t": Argument("t", "time", "t", "", (), "read")}

    def add(name: str, role: str, of: str, slot: str, shape: tuple[int, ...], is_free: bool = False) -> None:
        arguments[name] = Argument(name, role, of, slot, shape, "read", is_free)

    for name, d in declarations.items():
        is_free = bool(d.free_length)
        if d.kind == "attachment":
            for offered, offer in d.options["attachment"].offered_names(name).items():
                add(offered, "offered", name, offer.slot, d.shape or offer.shape, is_free)
        elif d.kind == "collect":
            add(name, "collected", name, d.options["slot"], ())
        elif d.kind == "history":
            add(name, "history", name, "", (0,))
            add(f"{name}_ring", "ring", name, "", (RING,))
        elif d.kind == "option":
            add(name, "own", name, name, ())
        else:
            add(name, "own", name, name, d.shape, is_free)
            if d.kind in STATES:
                add(f"{name}_dot", "derivative", name, name, d.shape, is_free)
            if d.kind == "input":
                add(f"{name}_dot", "own", f"{name}_dot", f"{name}_dot", d.shape, is_free)
            if d.kind in STATES or d.kind in ("discrete", "integer", "signal"):
                add(f"{name}_next", "next", name, name, d.shape, is_free)
    return arguments


def clashing_names(declarations: Mapping[str, Declaration], owner: str) -> list[str]:
    """A sentence for each name that kernel functions could ask for and that would mean two things."""
    quantity_of: dict[str, str] = {}
    faults = []
    for name, declaration in declarations.items():
        for offered in known_names({name: declaration}):
            if offered != "t" and (other_quantity := quantity_of.setdefault(offered, name)) != name:
                brings, place = other_quantity if offered == name else name, declaration.declared_at or owner
                faults.append(f"{place}: '{brings}' brings the name '{offered}'; choose another one")
    return faults


def switch_argument(name: str) -> Argument:
    """The parameter that turns a component off, as an argument of each of its functions."""
    return Argument(name, "switch", name, name, (), "read")


def resolve(
    kernel: KernelFunction,
    declarations: Mapping[str, Declaration],
    owner: str,
    is_saved: bool = True,
    tables: frozenset[str] = frozenset(),
) -> list[Argument]:
    """The meaning of each argument; `ContractError` with all that breaks a rule, one fault a line.

    `tables` are arguments that arrive by rows and columns in any case: a kink is computed from some lines of
    a function alone.
    """
    function = kernel.function
    available = _available_names(kernel, declarations)
    if kernel.is_python:
        return _resolved(kernel, declarations, owner, is_saved, tables, available)
    described = _described(kernel, declarations, available)
    reading = KeptReading(*as_written(function), "arguments", described, repr((is_saved, sorted(tables))))
    if reading.fact is not None:
        return [
            Argument(name, role, of, slot, tuple(shape), *more)
            for name, role, of, slot, shape, *more in reading.fact
        ]
    if recursion := recursion_fault(function):
        raise ContractError(recursion)
    arguments = _resolved(kernel, declarations, owner, is_saved, tables, available)
    reading.remember([FIELDS(a) for a in arguments])
    return arguments


def _described(
    kernel: KernelFunction, declarations: Mapping[str, Declaration], available: Mapping[str, Argument]
) -> str:
    """All that the meaning of the arguments depends on besides the function itself."""
    asked_for = [available[name] for name in kernel.arguments if name in available]
    of = [declarations.get(a.of) for a in asked_for]
    meanings = [
        (FIELDS(a), d and d.kind, _accumulates(a, d), array_of(a, declarations))
        for a, d in zip(asked_for, of, strict=True)
    ]
    return repr((_readers(), kernel.role, kernel.view, kernel.arguments, sorted(available), meanings))


@functools.cache
def _readers() -> str:
    """The modules that say what arguments mean, as a digest."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _resolved(
    kernel: KernelFunction,
    declarations: Mapping[str, Declaration],
    owner: str,
    is_saved: bool,
    tables: frozenset[str],
    available: Mapping[str, Argument],
) -> list[Argument]:
    """The meaning of each argument, read from the source."""
    function = kernel.function
    faults = [] if kernel.is_python else list(rule_faults(function, frozenset(available)))
    effects = effects_of(function)
    if kernel.role in ("check", "witness", "rate") and (kernel.is_python or not returns_value(function)):
        faults.append(
            f"{where(function)}: a {kernel.role} is a kernel function that returns a number: "
            "def floor(height): return height"
        )
    arguments = []
    defaults = [] if kernel.is_python else _names_with_defaults(function)
    for name in kernel.arguments:
        if kernel.role == "handler" and kernel.is_python and name in ("state", "next_state"):
            continue
        if name not in available:
            if name not in defaults:  # said already
                faults.append(_unknown_argument(kernel, name, available, owner))
            continue
        try:
            argument = _with_effect(kernel, available[name], declarations, effects)
            if not kernel.is_python:
                _check_kind(kernel, argument, effects)
            argument = _as_it_is_indexed(kernel, argument, effects, tables)
            _check_index(kernel, argument, effects)
            arguments.append(argument)
        except ContractError as error:
            if not (kernel.view and available[name].role == "ring"):  # it is said of the history
                faults.append(str(error))
    if not faults and not kernel.is_python:
        faults += _faults_of_results(kernel, arguments, effects, declarations, available)
    if not faults and not kernel.is_python:
        faults += _faults_of_elements(kernel, arguments, declarations, is_saved)
    if faults:
        raise ContractError("\n".join(faults))
    return arguments


def _available_names(kernel: KernelFunction, declarations: Mapping[str, Declaration]) -> dict[str, Argument]:
    """The argument names that a function of this role may have."""
    available = known_names(declarations)
    if kernel.role == "update":
        available |= NAMES_OF_UPDATES
    if kernel.role == "check":
        available = {name: a for name, a in available.items() if _is_constant(a, declarations)}
    return {
        name: a
        for name, a in available.items()
        if a.role != "next" or _may_write_next(kernel, a, declarations)
    }


def _names_with_defaults(function: Callable[..., Any]) -> list[str]:
    """The parameters of a function that have a value of their own."""
    parameters = signature(function).parameters
    return [name for name, parameter in parameters.items() if parameter.default is not parameter.empty]


def _is_constant(argument: Argument, declarations: Mapping[str, Declaration]) -> bool:
    """Whether a check may read an argument: parameters, options, and its own slots to compute in."""
    kinds = ("parameter", "option", "cache")
    return argument.role == "own" and argument.of in declarations and declarations[argument.of].kind in kinds


def _unknown_argument(
    kernel: KernelFunction, name: str, available: Mapping[str, Argument], owner: str
) -> str:
    """The sentence about an argument that neither the class nor its contract has."""
    near = _derivative_of_others(name, available) or nearest(name, available)
    listed = ", ".join(sorted(available))
    lines = lines_of_attributes(kernel.function)
    at = where(kernel.function, lines.get(name))
    return (
        f"{at}: '{kernel.written_name(name)}' is neither declared nor offered by an attachment"
        + (f"; nearest: '{kernel.written_name(near)}'." if near else ".")
        + f" Declare it in the class ({name} = cosim.parameter(…)), or ask for what {owner} has: {listed}"
    )


def _derivative_of_others(name: str, available: Iterable[str]) -> str | None:
    """The derivative that others call ``dx``, ``xdot`` or ``der_x``."""
    spelled = ("d{}", "{}dot", "d{}_dt", "d{}dt", "der_{}", "{}_d", "{}_prime", "delta_{}")
    states = (
        name_of_derivative.removesuffix("_dot")
        for name_of_derivative in available
        if name_of_derivative.endswith("_dot")
    )
    return next((f"{state}_dot" for state in states if name in [s.format(state) for s in spelled]), None)


def _faults_of_results(
    kernel: KernelFunction,
    arguments: list[Argument],
    effects: Effects,
    declarations: Mapping[str, Declaration],
    available: Mapping[str, Argument],
) -> list[str]:
    """The faults of a function whose result is lost: it returns it, or writes it nowhere."""
    function = kernel.function
    possible = [a for a in arguments if may_hold_result(a, declarations)]
    missing = not possible
    if missing:  # that of what it reads comes first
        read = [a.of for a in arguments]
        possible = [a for a in available.values() if may_hold_result(a, declarations)]
        possible.sort(key=lambda a: a.of not in read)
    accumulates = bool(possible) and _accumulates(possible[0], declarations.get(possible[0].of))
    place = _place(kernel, possible[0]) if possible else "result[0]"
    shown = f"write {place} {'+=' if accumulates else '='} …"
    if missing and possible and not kernel.view:
        shown = f"ask for {possible[0].name} in the signature and {shown}"
    kinds = f"attributes of {kernel.view}" if kernel.view else "arguments"
    line = line_of_returned_value(function)
    if kernel.role in ("kernel", "update") and line:
        return [
            f"{where(function, line)}: what a kernel function returns is lost; results are {kinds}: {shown}"
        ]
    touched = effects.writes | effects.adds | effects.passed_on
    unwritten = [a for a in arguments if a.role in ("derivative", "next") and a.name not in touched]
    lines = lines_of_attributes(function)
    if unwritten:
        return [
            f"{where(function, lines.get(a.name))}: {kernel.written_name(a.name)} is a result but never "
            f"written: write {_place(kernel, a)} = …"
            + ("; it cannot be read: compute it here, too, or read a cache_slot" * (a.role == "derivative"))
            for a in unwritten
        ]
    does_something = any(a.effect != "read" for a in arguments) or effects.passed_on or may_raise(function)
    if kernel.role in ("kernel", "update") and not does_something:
        return [f"{where(function)}: nothing that it computes stays; results are {kinds}: {shown}"]
    return []


def _faults_of_elements(
    kernel: KernelFunction, arguments: list[Argument], declarations: Mapping[str, Declaration], is_saved: bool
) -> list[str]:
    """Places that views do not have; results that keep, or go on from, what an earlier evaluation left.

    The slot of a check is memory to compute in: nothing else reads it.
    """
    views = {a.name: a for a in arguments if not (a.is_number or a.is_free or a.role in ("history", "ring"))}
    sizes = {name: a.size for name, a in views.items() if a.role not in ("time", "side", "smoothness")}
    is_result = is_saved and kernel.role != "check"
    results = {
        name: size
        for name, size in sizes.items()
        if is_result and views[name].effect == "write" and views[name].role in ("derivative", "own")
    }
    read_only = frozenset(name for name in sizes if views[name].effect == "read")
    verdict = verdict_on(kernel.function, types_of(arguments, declarations), results, sizes, read_only)

    def shown(name: str, index: int) -> str:
        a = views[name]
        if a.shape == ():
            return _place(kernel, a)
        places = map(str, divmod(index, a.shape[1])) if a.is_table else [str(index)]
        return f"{kernel.written_name(name)}[{', '.join(places)}]"

    def at(line: int) -> str:
        return where(kernel.function, line)

    return [
        *(
            f"{at(line)}: {_changed(kernel, views[name], declarations)}"
            for name, line in verdict.changed.items()
        ),
        *(
            f"{at(access.line)}: {_outside(kernel, views[name], access.place)}"
            for name, access in verdict.outside.items()
        ),
        *(
            f"{at(line)}: {shown(name, i)} is read before it is written, and has the value of an earlier "
            f"evaluation: write {shown(name, i)} = … first"
            for name, (i, line) in verdict.early.items()
        ),
        *(
            f"{at(line)}: {shown(name, i)} may not have been written here, and would keep the value of an "
            f"earlier evaluation: write {shown(name, i)} = … before the branch or the loop"
            for name, (i, line) in verdict.unwritten.items()
        ),
    ]


def _place(kernel: KernelFunction, argument: Argument) -> str:
    """The first element of an argument, as the author writes it: of a view, a number is set by its name."""
    shown = kernel.written_name(argument.name)
    return shown if kernel.view and argument.shape == () and not argument.is_free else f"{shown}[0]"


def _changed(kernel: KernelFunction, argument: Argument, declarations: Mapping[str, Declaration]) -> str:
    """The sentence about a read-only argument that is written under another name."""
    name = kernel.written_name(argument.name)
    if may_hold_result(argument, declarations):
        return f"{name} is written under another name here: write {_place(kernel, argument)} = …, by its own"
    return (
        f"{name} is changed under another name here, and may only be read; a kernel function writes to its "
        "own cache slots, outputs and derivatives and adds to forces"
    )


def _outside(kernel: KernelFunction, argument: Argument, place: tuple[int, ...]) -> str:
    """The sentence about a place that an argument does not have."""
    count = f"{argument.shape[0]} rows" if argument.is_table else f"{argument.size} elements"
    if len(place) == 2:
        count = f"{argument.shape[0]} rows and {argument.shape[1]} columns"
    shown = "a negative index" if min(place) < 0 else f"[{', '.join(map(str, place))}]"
    return f"{kernel.written_name(argument.name)} has {count}, {shown} is outside"


def may_hold_result(argument: Argument, declarations: Mapping[str, Declaration]) -> bool:
    """Whether a kernel function may write or add to it."""
    declaration = declarations.get(argument.of)
    if argument.effect != "read" or _accumulates(argument, declaration):
        return True
    is_slot = declaration is not None and declaration.kind in ("cache", "output")
    return argument.role in ("derivative", "next") or (argument.role == "own" and is_slot)


def _may_write_next(
    kernel: KernelFunction, argument: Argument, declarations: Mapping[str, Declaration]
) -> bool:
    """Event handlers write the next value of anything, auto-updates of discrete variables."""
    if kernel.role == "update":
        return declarations[argument.of].kind in ("discrete", "integer")
    return kernel.role == "handler"


def _with_effect(
    kernel: KernelFunction, argument: Argument, declarations: Mapping[str, Declaration], effects: Effects
) -> Argument:
    name, function, label = argument.name, kernel.function, kernel.written_name(argument.name)
    at = where(function, effects.lines.get(name, function.__code__.co_firstlineno))
    writes, adds = name in effects.writes, name in effects.adds
    declaration = declarations.get(argument.of)
    accumulates = _accumulates(argument, declaration)
    is_slot = argument.role == "own" and declaration is not None and declaration.kind in ("cache", "output")
    is_result = argument.role in ("derivative", "next") or is_slot or accumulates
    if is_result and name in effects.rebinds:
        reason = f"{label} has {argument.size} elements" if kernel.view else "a result is a view"
        raise ContractError(
            f"{where(function, effects.rebinds[name])}: `{label} = …` changes nothing outside; "
            f"{reason}: write {label}[0] {'+=' if accumulates else '='} …"
        )
    if name in effects.rebinds and _is_variable(argument, declaration):
        line = effects.rebinds[name]
        raise ContractError(f"{where(function, line)}: {_lost_value(kernel, name, line)}")
    effect = "read"
    if accumulates:
        if writes and not adds:
            place = _place(kernel, argument)
            raise ContractError(f"{at}: {label} is shared by several writers: only add to it ({place} += …)")
        effect = "add" if adds else "read"
    elif argument.role in ("derivative", "next"):
        effect = "write"
    elif is_slot and (writes or adds) and kernel.role == "handler":
        raise ContractError(f"{at}: an event handler writes to <name>_next of states and discrete variables")
    elif is_slot and (writes or adds):
        if adds and not writes:
            raise ContractError(
                f"{at}: {label} is only added to; declare it with cache_slot(accumulates=True)"
            )
        effect = "write"
    elif argument.role in ("history", "ring") and kernel.role == "update":
        effect = "write"
    elif writes or adds:
        if kernel.view and _is_variable(argument, declaration):
            raise ContractError(
                f"{at}: {label} is the present value, and is read only; {_next(kernel, argument)}"
            )
        raise ContractError(
            f"{at}: {label} may only be read; a kernel function writes to its own cache slots, outputs and "
            "derivatives and adds to forces"
        )
    return replace(argument, effect=effect)


def _is_variable(argument: Argument, declaration: Declaration | None) -> bool:
    """Whether it is the present value of what handlers change."""
    kinds = (*STATES, "discrete", "integer", "signal")
    return argument.role == "own" and declaration is not None and declaration.kind in kinds


def _lost_value(kernel: KernelFunction, name: str, line: int) -> str:
    """A hint for a function that assigns to the name of a variable."""
    assigned = _assignment(kernel.function, name, line)
    first = (
        f"`{name} = {assigned}` changes nothing outside: it is another value with the name of the variable"
    )
    written = f"{name}_next[0] = {assigned}"
    if kernel.role in ("handler", "update"):
        return f"{first}; ask for {name}_next and write {written}, or give a local value a name of its own"
    return (
        f"{first}; variables change in handlers (cosim.on, cosim.every), which ask for {name}_next and write "
        f"{written}; give a local value a name of its own"
    )


def _assignment(function: types.FunctionType, name: str, line: int) -> str:
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


def _next(kernel: KernelFunction, argument: Argument) -> str:
    """The argument by which a kernel function writes the next value of a variable."""
    place = f"{kernel.written_name(f'{argument.name}_next')}{'' if argument.shape == () else '[0]'} = …"
    if kernel.role in ("handler", "update"):
        return f"write {place}"
    return f"variables change in handlers (cosim.on, cosim.every): write {place} there"


def _check_kind(kernel: KernelFunction, argument: Argument, effects: Effects) -> None:
    """A number has no elements, and a view is not a number."""
    name, function, label = argument.name, kernel.function, kernel.written_name(argument.name)
    if argument.role in ("history", "ring"):
        return
    if argument.is_number or argument.role in ("time", "side", "smoothness"):
        if name in effects.subscripts:
            raise ContractError(
                f"{where(function, effects.subscripts[name])}: {label} is a number here: write {label}, "
                f"not {label}[0]; what is only read and declared without a shape has no elements"
            )
    elif name in effects.as_numbers:
        if argument.role == "derivative" and name not in effects.writes | effects.adds | effects.passed_on:
            return  # never written: a sentence of its own
        contents = f"{argument.size} numbers" if argument.size != 1 or argument.is_free else "one number"
        place = ", ".join("0" for _ in argument.shape) or "0"
        raise ContractError(
            f"{where(function, effects.as_numbers[name])}: {label} is a view of "
            f"{'numbers' if argument.is_free else contents}: compute with its elements, {label}[{place}]"
        )


def _check_index(kernel: KernelFunction, argument: Argument, effects: Effects) -> None:
    """A constant index beyond the end would be an unchecked access in compiled code."""
    function, label = kernel.function, kernel.written_name(argument.name)
    index, line = effects.indices.get(argument.name, (-1, 0))
    if argument.role in ("history", "ring") or argument.is_free:
        return
    count, axis_name = (argument.shape[0], "rows") if argument.is_table else (argument.size, "elements")
    if index >= count:
        shown = "a negative index" if index >= NEGATIVE else f"[{index}]"
        raise ContractError(f"{where(function, line)}: {label} has {count} {axis_name}, {shown} is outside")
    for name, place, line in effects.places:
        if name == argument.name and argument.is_table and not _is_inside(place, argument.shape):
            rows, columns = argument.shape
            row, column = ("…" if i is None else i for i in place)
            shown = "a negative index" if NEGATIVE in place else f"[{row}, {column}]"
            raise ContractError(
                f"{where(function, line)}: {label} has {rows} rows and {columns} columns, {shown} is outside"
            )


def _is_inside(place: tuple[int | None, ...], shape: tuple[int, ...]) -> bool:
    """Whether each index that is known is less than the length of its axis."""
    return all(i is None or i < length for i, length in zip(place, shape, strict=True))


def _as_it_is_indexed(
    kernel: KernelFunction, argument: Argument, effects: Effects, tables: frozenset[str]
) -> Argument:
    """Return an argument with two axes as a table where it is indexed by both, else flat."""
    function, label = kernel.function, kernel.written_name(argument.name)
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
        raise ContractError(f"{where(function, line)}: {label} has {axes}: {remedy}")
    return argument


def _accumulates(argument: Argument, declaration: Declaration | None) -> bool:
    if declaration is None:
        return False
    if argument.role == "offered":
        offer: Offer = declaration.options["attachment"].offered_names(argument.of)[argument.name]
        return offer.accumulates
    return argument.role == "own" and declaration.accumulates
