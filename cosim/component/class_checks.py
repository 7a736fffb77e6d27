"""Checks of a component's class: what functions and signals mention exists, and has one writer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cosim.component.argument_names import known_names
from cosim.component.declaration import Declaration
from cosim.component.kernel_function import KernelFunction
from cosim.component.unit_rules import check_unit
from cosim.errors import ContractError, nearest
from cosim.stage import Stage
from cosim_compiler.sources.kernel_source import where

ComponentClass = Any
"""A `Component`, whose module imports this one."""
OF_STATE = "_state"  # <source>_state: whether the source is one


def check_signals(cls: ComponentClass) -> None:
    """`ContractError` for a name of an element that is not declared, or has no unit."""
    for alias, (slot, index, unit, *_) in cls.signals.items():
        if slot not in cls.declarations or not 0 <= index < cls.declarations[slot].size:
            raise ContractError(
                f"{cls.__name__}: signal '{alias}' names {slot}[{index}], which is not declared"
            )
        check_unit(unit, f"{cls.__name__}: signal '{alias}'")


def check_names(cls: ComponentClass) -> None:
    """Options and parameters that functions and handlers mention by name exist."""
    for kernel in cls.kernels.values():
        if isinstance(kernel.stage, str):
            _check_stage(cls, kernel)
        for name in filter(None, (kernel.when, kernel.unless)):
            is_of_source = _is_derivative(cls.declarations, name)
            is_of_source = is_of_source or names_state_of_source(cls.declarations, name)
            if name not in cls.conditions and not is_of_source and not _is_offered(cls.declarations, name):
                _check_name(cls, name, "option", f"{kernel.name}() is switched by '{name}'")
    for declared in cls.declarations.values():
        if declared.kind == "history":
            for relation, name in (
                ("of", declared.options["of"]),
                ("kept for", declared.options["keep"]),
            ):
                _check_name(cls, name, "quantity", f"the history '{declared.name}' is {relation} '{name}'")
        if isinstance(declared.invalidates, str):
            mention = f"{declared.name} invalidates '{declared.invalidates}'"
            _check_name(cls, declared.invalidates, "option", mention)
    for handler in cls.handlers.values():
        for value in (handler.period, handler.offset):
            if isinstance(value, str):
                at = where(handler.function.function)
                _check_name(cls, value, "parameter", f"{handler.name}() comes every '{value}'", at)


def _check_stage(cls: ComponentClass, kernel: KernelFunction) -> None:
    """A stage that is text is the name of an option."""
    if kernel.stage not in [n for n, d in cls.declarations.items() if d.kind == "option"]:
        name = str(kernel.stage).upper()
        remedy = f"stage=cosim.Stage.{name}" if name in Stage.__members__ else "a member of cosim.Stage"
        raise ContractError(
            f"{where(kernel.function)}: stage is '{kernel.stage}', which is not an "
            f"option of the class: write {remedy}"
        )


def _is_derivative(declarations: Mapping[str, Declaration], name: str) -> bool:
    """Whether it is ``<source>_dot``."""
    declared = declarations.get(name.removesuffix("_dot"))
    return declared is not None and declared.options.get("provides") == "source"


def _is_offered(declarations: Mapping[str, Declaration], name: str) -> bool:
    """Whether it is a name that an attachment offers."""
    argument = known_names(declarations).get(name)
    return argument is not None and argument.role == "offered"


def names_state_of_source(declarations: Mapping[str, Declaration], name: str) -> bool:
    """Whether a name is ``<source>_state``: whether the source is a state."""
    declared = declarations.get(name.removesuffix(OF_STATE)) if name.endswith(OF_STATE) else None
    return declared is not None and declared.options.get("provides") == "source"


def _check_name(cls: ComponentClass, name: str, kind: str, mention: str, at: str = "") -> None:
    """Refuse a name that stands for nothing of this kind in the class; `mention` says where it is used."""
    declared = [n for n, d in cls.declarations.items() if kind in (d.kind, "quantity")]
    if name not in declared:
        near = nearest(name, declared)
        hint = f"; nearest: '{near}'" if near else ""
        raise ContractError(f"{at or cls.__name__}: {mention}, but it has no {kind} of that name{hint}")


def check_writers(cls: ComponentClass) -> None:
    """Two kernel functions may write one slot only where an option chooses between them."""
    writers: dict[str, KernelFunction] = {}
    for name, kernel in cls.kernels.items():
        for argument in cls.arguments[name]:
            if argument.effect != "write" or argument.role in ("history", "ring"):
                continue
            writer = writers.setdefault(argument.name, kernel)
            exclusive = (kernel.when and kernel.when == writer.unless) or (
                writer.when and writer.when == kernel.unless
            )
            if writer is not kernel and not exclusive:
                raise ContractError(
                    f"{where(kernel.function)}: both {writer.name}() and {name}() write {argument.name}; "
                    "only one kernel function may"
                )
