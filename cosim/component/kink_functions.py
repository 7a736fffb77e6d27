"""The kinks of a component: what `abs`, `max` and `min` in its kernel functions bring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cosim.component.argument import Argument
from cosim.component.declaration import Declaration
from cosim.component.kernel_function import KernelFunction
from cosim_compiler.sources.kernel_sides import sides_of

CONSTANT = ("parameter", "option", "discrete", "integer", "signal")
ROLES = ("time", "own", "offered", "derivative", "switch")
SIDE_OF_KINK = "side_of_kink"
"""Cache slots of this name hold a number whose sign changes where a component has a kink."""


def kinks_of(
    kernels: Mapping[str, KernelFunction],
    arguments: Mapping[str, Sequence[Argument]],
    declarations: Mapping[str, Declaration],
) -> dict[str, KernelFunction]:
    """Functions whose results change their sign at kinks, by name, made from the sources of others."""
    kinks: dict[str, KernelFunction] = {}
    for name, kernel in kernels.items():
        if not has_known_kinks(kernel, arguments[name], declarations):
            continue
        sides = sides_of(kernel.function, _constant(arguments[name], declarations)).functions
        for i, function in enumerate(sides):
            kink = f"{name}_kink_{i}"
            kinks[kink] = replace(kernel, function=function, role="side", name=kink, kink_of=name)
    return kinks


def missed_kinks(
    kernels: Mapping[str, KernelFunction],
    arguments: Mapping[str, Sequence[Argument]],
    declarations: Mapping[str, Declaration],
) -> list[str]:
    """Lines, ``function:line``, with kinks at which no step ends, since their sources do not tell them."""
    return [
        f"{name}:{line}"
        for name, kernel in kernels.items()
        if _may_have_kinks(kernel)
        for line in _missed(kernel, arguments[name], declarations)
    ]


def _missed(
    kernel: KernelFunction, arguments: Sequence[Argument], declarations: Mapping[str, Declaration]
) -> tuple[int, ...]:
    sides = sides_of(kernel.function, _constant(arguments, declarations))
    return sides.missed if has_known_kinks(kernel, arguments, declarations) else sides.lines


def has_known_kinks(
    kernel: KernelFunction, arguments: Sequence[Argument], declarations: Mapping[str, Declaration]
) -> bool:
    """Whether its source shows its kinks: not of methods, and of what has many rows a part."""
    if not _may_have_kinks(kernel):
        return False
    each = [declarations[a.of].options.get("each") for a in arguments if a.role == "offered"]
    return not any(each) and all(a.role in ROLES for a in arguments)


def _may_have_kinks(kernel: KernelFunction) -> bool:
    """Whether it is computed inside steps; what tells a kink has none."""
    return kernel.role == "kernel" and not kernel.is_python and SIDE_OF_KINK not in kernel.arguments


def _constant(arguments: Sequence[Argument], declarations: Mapping[str, Declaration]) -> frozenset[str]:
    declared = [a for a in arguments if a.role == "own" and a.of in declarations]
    return frozenset(a.name for a in declared if declarations[a.of].kind in CONSTANT)
