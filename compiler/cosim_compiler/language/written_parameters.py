"""The parameters in which a kernel function stores something, also through local views and helpers."""

from __future__ import annotations

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.name_sources import NameSources
from cosim_compiler.language.typed_form import Expression, Function, parts
from cosim_compiler.language.types import Group, Record, RecordRows, Tuple, Type, View

CALLS = (form.Call, form.CallLinked, form.CallAddress)


def parameters_written(function: Function) -> frozenset[str]:
    """The parameters in which a function, or what it calls, stores something; found once."""
    if function.written is None:
        function.written = _find_written(function)
    return function.written


def _find_written(function: Function) -> frozenset[str]:
    """`parameters_written`, from the body of the function."""
    views = _view_sources(function)
    written: set[str] = set()
    for node in form.walk(*function.body):
        if isinstance(node, form.Store):
            written |= {name for name, _ in views.read(memory_of(node.place))}
        elif isinstance(node, CALLS):
            written |= {name for name, _ in views.read_all(views_written(node))}
    return frozenset(name for name, kind in function.parameters if name in written and has_memory(kind))


def _view_sources(function: Function) -> NameSources:
    """The parameters whose memory each local view may show."""
    views = NameSources(function)
    size = -1
    while size != views.size:  # a loop may read a name above the line that assigns it
        size = views.size
        for node in form.walk(*function.body):
            if isinstance(node, (form.Assign, form.Let)) and has_memory(node.value.type):
                views.add(node.name, views.read(node.value))
    return views


def views_written(call: Expression) -> list[Expression]:
    """The arguments of a call into which it may store: all with memory, of a function not in the program."""
    if isinstance(call, form.Call):
        written = parameters_written(call.function)
        pairs = zip(call.function.parameters, call.arguments, strict=True)
        arguments = [argument for (name, _), argument in pairs if name in written]
    else:
        arguments = [part for part in parts(call) if isinstance(part, Expression)]
    return [argument for argument in arguments if has_memory(argument.type)]


def memory_of(place: Expression) -> Expression:
    """The view or the record in which a place lies."""
    return place.view if isinstance(place, form.Element) else place.record  # type: ignore[attr-defined]


def has_memory(kind: Type) -> bool:
    """Whether a value of this type shows memory that others see."""
    if isinstance(kind, Tuple):
        return any(map(has_memory, kind.items))
    return isinstance(kind, (View, Group, Record, RecordRows))
