"""From the names in a kernel function's signature to what they mean."""

from __future__ import annotations

import math
import types
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from cosim.component.attachment import Offer
from cosim.component.declarations import RING, Declaration
from cosim.component.kernel_function import KernelFunction
from cosim.component.kernel_rules import Effects, check_rules, effects_of, returns_value, where
from cosim.errors import ContractError, nearest

STATES = {"position": "q", "speed": "u", "auxiliary": "z"}


@dataclass(frozen=True)
class Argument:
    """One argument of a kernel function.

    Attributes
    ----------
    name : str
    role : str
        "time", "side" or "smoothness" (what an update is told), "own" (a declared quantity), "derivative"
        (of a state), "next" (of a state or discrete variable), "offered" (through an attachment),
        "collected", "history", "ring", or "switch" (the parameter that turns the component off; the
        function itself does not see it).
    of : str
        Name of the declaration: the quantity itself, the state, or the attachment.
    slot : str
        For "offered": the name at the provider.
    shape : tuple of int
    effect : str
        "read", "write" or "add".
    is_free : bool
        Whether its size is that of what each instance was given; `shape` has a 0 then.
    """

    name: str
    role: str
    of: str
    slot: str
    shape: tuple[int, ...]
    effect: str
    is_free: bool = False

    @property
    def is_number(self) -> bool:
        """Scalars that are read arrive as numbers, everything else as a view."""
        return self.shape == () and self.effect == "read"

    @cached_property
    def size(self) -> int:
        return math.prod(self.shape)


def known_names(declarations: Mapping[str, Declaration]) -> dict[str, Argument]:
    """Every name that a kernel function of this component may ask for, as if it were only read."""
    known: dict[str, Argument] = {"t": Argument("t", "time", "t", "", (), "read")}

    def add(name: str, role: str, of: str, slot: str, shape: tuple[int, ...], is_free: bool = False) -> None:
        known[name] = Argument(name, role, of, slot, shape, "read", is_free)

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
    return known


def switch_argument(name: str) -> Argument:
    """The parameter that turns a component off, as an argument of each of its functions."""
    return Argument(name, "switch", name, name, (), "read")


def resolve(kernel: KernelFunction, declarations: Mapping[str, Declaration], owner: str) -> list[Argument]:
    """What each argument means; `ContractError` with the line for what breaks a rule."""
    function = kernel.function
    if not kernel.is_python:
        check_rules(function)
    effects = effects_of(function)
    known = known_names(declarations)
    if kernel.role in ("witness", "rate") and (kernel.is_python or not returns_value(function)):
        raise ContractError(
            f"{where(function, function.__code__.co_firstlineno)}: a {kernel.role} is a kernel function that "
            "returns a number: def floor(height): return height"
        )
    if kernel.role == "update":
        known["side"] = Argument("side", "side", "side", "", (), "read")
        known["smoothness"] = Argument("smoothness", "smoothness", "smoothness", "", (), "read")
    found = []
    known = {n: a for n, a in known.items() if a.role != "next" or _may_write_next(kernel, a, declarations)}
    for name in kernel.arguments:
        if kernel.role == "handler" and kernel.is_python and name in ("state", "next_state"):
            continue
        if name not in known:
            raise ContractError(
                f"{where(function, function.__code__.co_firstlineno)}: nobody provides '{name}'"
                f"{_suggest(name, known)} A kernel function of {owner} may ask for: "
                f"{', '.join(sorted(known))}"
            )
        found.append(_with_effect(kernel, known[name], declarations, effects))
    return found


def _may_write_next(
    kernel: KernelFunction, argument: Argument, declarations: Mapping[str, Declaration]
) -> bool:
    """Event handlers write the next value of anything, auto-updates of discrete variables."""
    if kernel.role == "update":
        return declarations[argument.of].kind in ("discrete", "integer")
    return kernel.role == "handler"


def _suggest(name: str, known: Mapping[str, Argument]) -> str:
    near = nearest(name, known)
    return f"; nearest: '{near}'." if near else "."


def _with_effect(
    kernel: KernelFunction, argument: Argument, declarations: Mapping[str, Declaration], effects: Effects
) -> Argument:
    name, function = argument.name, kernel.function
    at = where(function, effects.lines.get(name, function.__code__.co_firstlineno))
    writes, adds = name in effects.writes, name in effects.adds
    declaration = declarations.get(argument.of)
    accumulates = _accumulates(argument, declaration)
    is_slot = argument.role == "own" and declaration is not None and declaration.kind in ("cache", "output")
    is_result = argument.role in ("derivative", "next") or is_slot or accumulates
    if is_result and name in effects.rebinds:
        raise ContractError(
            f"{where(function, effects.rebinds[name])}: `{name} = …` changes nothing outside; "
            f"a result is a view: write {name}[0] = …"
        )
    _check_index(argument, effects, function)
    effect = "read"
    if accumulates:
        if writes and not adds:
            raise ContractError(f"{at}: {name} is shared by several writers: only add to it ({name}[0] += …)")
        effect = "add" if adds else "read"
    elif argument.role in ("derivative", "next"):
        effect = "write"
    elif is_slot and (writes or adds) and kernel.role == "handler":
        raise ContractError(f"{at}: an event handler writes to <name>_next of states and discrete variables")
    elif is_slot and (writes or adds):
        if adds and not writes:
            raise ContractError(
                f"{at}: {name} is only added to; declare it with cache_slot(accumulates=True)"
            )
        effect = "write"
    elif argument.role in ("history", "ring") and kernel.role == "update":
        effect = "write"
    elif writes or adds:
        raise ContractError(
            f"{at}: {name} may be read only; a kernel function writes to its own cache slots, outputs and "
            "derivatives and adds to forces"
        )
    return replace(argument, effect=effect)


def _check_index(argument: Argument, effects: Effects, function: types.FunctionType) -> None:
    """A constant index beyond the end would be an unchecked access in compiled code."""
    index, line = effects.indices.get(argument.name, (-1, 0))
    if argument.role not in ("history", "ring") and not argument.is_free and index >= argument.size:
        shown = "a negative index" if index >= 1 << 30 else f"[{index}]"
        raise ContractError(
            f"{where(function, line)}: {argument.name} has {argument.size} elements, {shown} is outside"
        )


def _accumulates(argument: Argument, declaration: Declaration | None) -> bool:
    if declaration is None:
        return False
    if argument.role == "offered":
        offer: Offer = declaration.options["attachment"].offered_names(argument.of)[argument.name]
        return offer.accumulates
    return argument.role == "own" and declaration.accumulates
