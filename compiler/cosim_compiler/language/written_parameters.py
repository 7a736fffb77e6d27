"""The parameters in which a kernel function, or a function that it calls, stores something."""

from __future__ import annotations

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.read_elements import ReadElements
from cosim_compiler.language.typed_form import Expression, Function, parts
from cosim_compiler.language.types import Group, Record, RecordRows, Tuple, Type, View

CALLS = (form.Call, form.CallLinked, form.CallAddress)


def parameters_written(function: Function) -> frozenset[str]:
    """The parameters in which a function, or what it calls, stores something."""
    if function.written is None:
        views = _followed_views(function)
        stored: set[str] = set()
        for node in form.walk(*function.body):
            stored |= {name for place in _stored_into(node) for name, _ in views.of(place)}
        function.written = frozenset(
            name for name, kind in function.parameters if name in stored and has_memory(kind)
        )
    return function.written


def _followed_views(function: Function) -> ReadElements:
    """The parameters that each local view may show; the function is walked through until nothing is new."""
    views = ReadElements(function)
    count = -1
    while count != views.count:
        count = views.count
        for node in form.walk(*function.body):
            if isinstance(node, (form.Assign, form.Let)) and has_memory(node.value.type):
                views.assign(node.name, views.of(node.value))
    return views


def _stored_into(node: object) -> list[Expression]:
    """The views and records into which a statement or a call may store."""
    if isinstance(node, form.Store):
        return [memory_of(node.place)]
    if isinstance(node, CALLS):
        return [argument for argument in arguments_written(node) if has_memory(argument.type)]
    return []


def memory_of(place: Expression) -> Expression:
    """The view or the record in which a place lies."""
    return place.view if isinstance(place, form.Element) else place.record  # type: ignore[attr-defined]


def arguments_written(node: Expression) -> list[Expression]:
    """The arguments into which a call may store; of a function that is not in the program, all of them."""
    if not isinstance(node, form.Call):
        return [part for part in parts(node) if isinstance(part, Expression)]
    written = parameters_written(node.function)
    pairs = zip(node.function.parameters, node.arguments, strict=True)
    return [argument for (name, _), argument in pairs if name in written]


def has_memory(kind: Type) -> bool:
    """Whether a value of this type shows memory that the caller sees, too."""
    if isinstance(kind, Tuple):
        return any(map(has_memory, kind.items))
    return isinstance(kind, (View, Group, Record, RecordRows))
