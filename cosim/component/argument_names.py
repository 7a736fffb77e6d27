"""The argument names that a kernel function may have, and what each of them means."""

from __future__ import annotations

from collections.abc import Mapping

from cosim.component.argument import Argument
from cosim.component.attachment import Offer
from cosim.component.declaration import Declaration
from cosim.component.history import RING
from cosim.component.kernel_function import KernelFunction

NAMES_OF_UPDATES = {name: Argument(name, name, name, "", (), "read") for name in ("side", "smoothness")}
STATES = {"position": "q", "speed": "u", "auxiliary": "z"}
VARIABLES = (*STATES, "discrete", "integer", "signal")
"""Kinds of declarations whose values handlers change."""
CONSTANTS = ("parameter", "option", "cache")
"""Kinds of declarations that a check may read: its own slots are memory to compute in."""


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
            if d.kind in VARIABLES:
                add(f"{name}_next", "next", name, name, d.shape, is_free)
    return arguments


def available_names(kernel: KernelFunction, declarations: Mapping[str, Declaration]) -> dict[str, Argument]:
    """The names that a kernel function of this role may ask for, as if they were only read."""
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


def may_hold_result(argument: Argument, declarations: Mapping[str, Declaration]) -> bool:
    """Whether a kernel function may write or add to it."""
    declaration = declarations.get(argument.of)
    if argument.effect != "read" or accumulates(argument, declaration):
        return True
    return argument.role in ("derivative", "next") or is_own_slot(argument, declaration)


def is_own_slot(argument: Argument, declaration: Declaration | None) -> bool:
    """Whether it is a cache slot or an output of the component itself."""
    return argument.role == "own" and declaration is not None and declaration.kind in ("cache", "output")


def is_variable(argument: Argument, declaration: Declaration | None) -> bool:
    """Whether it is the present value of what handlers change."""
    return argument.role == "own" and declaration is not None and declaration.kind in VARIABLES


def accumulates(argument: Argument, declaration: Declaration | None) -> bool:
    """Whether several components add to it."""
    if declaration is None:
        return False
    if argument.role == "offered":
        offer: Offer = declaration.options["attachment"].offered_names(argument.of)[argument.name]
        return offer.accumulates
    return argument.role == "own" and declaration.accumulates


def _is_constant(argument: Argument, declarations: Mapping[str, Declaration]) -> bool:
    is_own = argument.role == "own" and argument.of in declarations
    return is_own and declarations[argument.of].kind in CONSTANTS


def _may_write_next(
    kernel: KernelFunction, argument: Argument, declarations: Mapping[str, Declaration]
) -> bool:
    """Whether a function may ask for a next value: handlers for any, updates for discrete variables."""
    if kernel.role == "update":
        return declarations[argument.of].kind in ("discrete", "integer")
    return kernel.role == "handler"
