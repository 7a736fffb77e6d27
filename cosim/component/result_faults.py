"""Faults of a kernel function in what it does with its results: lost, unwritten, read too early."""

from __future__ import annotations

from collections.abc import Sequence

from cosim.component.argument import Argument
from cosim.component.argument_names import may_hold_result
from cosim.component.argument_types import types_of
from cosim.component.kernel_signature import KernelSignature
from cosim_compiler.language.verdict import find_faults
from cosim_compiler.sources.kernel_returns import line_of_returned_value, may_raise
from cosim_compiler.sources.views import lines_of_attributes


def faults_of_results(signature: KernelSignature, arguments: Sequence[Argument]) -> list[str]:
    """The faults of a function whose result is lost: it returns it, or writes it nowhere."""
    kernel, effects = signature.kernel, signature.effects
    computes = kernel.role in ("kernel", "update")
    line = line_of_returned_value(kernel.function)
    if computes and line:
        remedy = _result_remedy(signature, arguments)
        return [f"{signature.line(line)}: what a kernel function returns is lost; {remedy}"]
    unwritten = [a for a in arguments if a.role in ("derivative", "next") and not signature.is_written(a)]
    if unwritten:
        lines = lines_of_attributes(kernel.function)
        return [
            f"{signature.line(lines.get(a.name))}: {signature.label(a)} is a result but never written: "
            f"write {signature.place(a)} = …"
            + ("; it cannot be read: compute it here, too, or read a cache_slot" * (a.role == "derivative"))
            for a in unwritten
        ]
    has_effect = any(a.effect != "read" for a in arguments) or effects.passed_on
    if computes and not has_effect and not may_raise(kernel.function):
        remedy = _result_remedy(signature, arguments)
        return [f"{signature.line()}: nothing that it computes stays; {remedy}"]
    return []


def _result_remedy(signature: KernelSignature, arguments: Sequence[Argument]) -> str:
    """The sentence that says what to write instead of a result that is lost."""
    view, declarations = signature.kernel.view, signature.declarations
    possible = [a for a in arguments if may_hold_result(a, declarations)]
    is_missing = not possible
    if is_missing:  # the results of what the function reads come first
        read = [a.of for a in arguments]
        possible = [a for a in signature.available.values() if may_hold_result(a, declarations)]
        possible.sort(key=lambda a: a.of not in read)
    adds = bool(possible) and signature.accumulates(possible[0])
    place = signature.place(possible[0]) if possible else "result[0]"
    shown = f"write {place} {'+=' if adds else '='} …"
    if is_missing and possible and not view:
        shown = f"ask for {possible[0].name} in the signature and {shown}"
    return f"results are {f'attributes of {view}' if view else 'arguments'}: {shown}"


def faults_of_elements(
    signature: KernelSignature, arguments: Sequence[Argument], is_saved: bool
) -> list[str]:
    """Faults of single elements, by the typed form of the function.

    Places that views do not have; results that keep the value of an earlier evaluation, or are computed from
    it. The slot of a check is memory to compute in: nothing else reads it.
    """
    kernel, declarations = signature.kernel, signature.declarations
    views = {a.name: a for a in arguments if not (a.is_number or a.is_free or a.role in ("history", "ring"))}
    sizes = {name: a.size for name, a in views.items() if a.role not in ("time", "side", "smoothness")}
    is_result = is_saved and kernel.role != "check"
    results = {
        name: size
        for name, size in sizes.items()
        if is_result and views[name].effect == "write" and views[name].role in ("derivative", "own")
    }
    read_only = frozenset(name for name in sizes if views[name].effect == "read")
    verdict = find_faults(kernel.function, types_of(arguments, declarations), results, sizes, read_only)

    def shown(name: str, index: int) -> str:
        return _element(signature, views[name], index)

    return [
        *(
            f"{signature.line(line)}: {_changed(signature, views[name])}"
            for name, line in verdict.changed.items()
        ),
        *(
            f"{signature.line(access.line)}: {_outside(signature, views[name], access.place)}"
            for name, access in verdict.out_of_bounds.items()
        ),
        *(
            f"{signature.line(line)}: {shown(name, i)} is read before it is written, and has the value of an "
            f"earlier evaluation: write {shown(name, i)} = … first"
            for name, (i, line) in verdict.read_before_written.items()
        ),
        *(
            f"{signature.line(line)}: {shown(name, i)} may not have been written here, and would keep the "
            f"value of an earlier evaluation: write {shown(name, i)} = … before the branch or the loop"
            for name, (i, line) in verdict.unwritten.items()
        ),
    ]


def _element(signature: KernelSignature, argument: Argument, index: int) -> str:
    """An element of an argument, by its number in memory, as the author writes it."""
    if argument.shape == ():
        return signature.place(argument)
    places = map(str, divmod(index, argument.shape[1])) if argument.is_table else [str(index)]
    return f"{signature.label(argument)}[{', '.join(places)}]"


def _changed(signature: KernelSignature, argument: Argument) -> str:
    """The sentence about a read-only argument that is written under another name."""
    name = signature.label(argument)
    if may_hold_result(argument, signature.declarations):
        place = signature.place(argument)
        return f"{name} is written under another name here: write {place} = …, by its own"
    return (
        f"{name} is changed under another name here, and may only be read; a kernel function writes to its "
        "own cache slots, outputs and derivatives and adds to forces"
    )


def _outside(signature: KernelSignature, argument: Argument, place: tuple[int, ...]) -> str:
    """The sentence about a place that an argument does not have."""
    count = f"{argument.shape[0]} rows" if argument.is_table else f"{argument.size} elements"
    if len(place) == 2:
        count = f"{argument.shape[0]} rows and {argument.shape[1]} columns"
    shown = "a negative index" if min(place) < 0 else f"[{', '.join(map(str, place))}]"
    return f"{signature.label(argument)} has {count}, {shown} is outside"
