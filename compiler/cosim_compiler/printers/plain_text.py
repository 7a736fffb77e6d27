"""The typed form as text for readers: what the compiler has understood, and the type of each name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.typed_form import Expression, Function, Statement
from cosim_compiler.language.types import Group, Number, Record, RecordRows, Tuple, Type, View

NUMBERS = {"a number": "real", "a whole number": "whole", "true or false": "truth", "nothing": "nothing"}


def type_name(type_: Type) -> str:
    """A type in a word."""
    if isinstance(type_, Number):
        return NUMBERS[type_.name]
    if isinstance(type_, View):
        size = "" if type_.shape is None else f" {' by '.join(map(str, type_.shape))}"
        return f"{'view' if type_.axes == 1 else 'table'}{size} of {NUMBERS[type_.item.name]}"
    if isinstance(type_, Group):
        return f"group {type_.of.__name__}"
    if isinstance(type_, Record):
        return type_.of.__name__
    if isinstance(type_, RecordRows):
        return f"rows of {type_.of.__name__}"
    assert isinstance(type_, Tuple)
    return f"({', '.join(map(type_name, type_.items))})"


def shown(function: Function) -> str:
    r"""A function in typed form.

    Examples
    --------
    >>> from cosim_compiler.language.program import Program
    >>> from cosim_compiler.sources.run_source import run_source
    >>> f = run_source("def f(x, out):\n    y = 1\n    y = y + x\n    out[0] = y")["f"]
    >>> print(shown(Program().root(f, "fF>v")))
    f(x: real, out: view of real) -> nothing
        y: whole
        y_2: real
        y = 1
        y_2 = (real(y) + x)
        out[0] = y_2
    """
    heads = ", ".join(f"{name}: {type_name(kind)}" for name, kind in function.parameters)
    raises = ", may raise" if function.raises else ""
    parameters = dict(function.parameters)
    lines = [f"{function.author.__name__}({heads}) -> {type_name(function.result)}{raises}"]
    lines += [
        f"    {name}: {type_name(kind)}"
        for name, kind in function.variables.items()
        if parameters.get(name) != kind
    ]
    return "\n".join([*lines, *_block(function.body, 1)])


def _block(body: Sequence[Statement], indent: int) -> Iterator[str]:
    """The lines of a list of statements."""
    pad = "    " * indent
    for statement in body:
        if isinstance(statement, form.Assign):
            yield f"{pad}{statement.name} = {text_of(statement.value)}"
        elif isinstance(statement, form.Store):
            yield f"{pad}{text_of(statement.place)} = {text_of(statement.value)}"
        elif isinstance(statement, form.Evaluate):
            yield f"{pad}{text_of(statement.value)}"
        elif isinstance(statement, form.Return):
            yield f"{pad}return{'' if statement.value is None else ' ' + text_of(statement.value)}"
        elif isinstance(statement, form.Try):
            yield f"{pad}try:"
            yield from _block(statement.body, indent + 1)
            yield f"{pad}except {statement.lowest} … {statement.highest} as {statement.name}:"
            yield from _block(statement.handler, indent + 1)
        elif isinstance(statement, form.RaiseAgain):
            yield f"{pad}raise {statement.name}"
        elif isinstance(statement, form.Raise):
            yield f"{pad}raise failure {statement.number}"
        elif isinstance(statement, (form.Break, form.Continue)):
            yield f"{pad}{type(statement).__name__.lower()}"
        elif isinstance(statement, form.If):
            yield f"{pad}if {text_of(statement.condition)}:"
            yield from _block(statement.body, indent + 1)
            yield from _orelse(statement.orelse, indent)
        elif isinstance(statement, form.While):
            yield f"{pad}while {text_of(statement.condition)}:"
            yield from _block(statement.body, indent + 1)
            yield from _orelse(statement.orelse, indent)
        elif isinstance(statement, form.For):
            bounds = ", ".join(map(text_of, (statement.first, statement.last, statement.step)))
            yield f"{pad}for {statement.name} in range({bounds}):"
            yield from _block(statement.body, indent + 1)
            yield from _orelse(statement.orelse, indent)
        elif isinstance(statement, form.Once):
            for turn in statement.turns:
                yield f"{pad}turn:"
                yield from _block(turn, indent + 1)
            yield from _orelse(statement.orelse, indent)
        else:
            raise TypeError(statement)


def _orelse(body: Sequence[Statement], indent: int) -> Iterator[str]:
    if body:
        yield f"{'    ' * indent}else:"
        yield from _block(body, indent + 1)


def text_of(node: Expression) -> str:
    """An expression as text for people."""
    if isinstance(node, form.Constant):
        return repr(node.value)
    if isinstance(node, form.Variable):
        return node.name
    if isinstance(node, form.Element):
        return f"{text_of(node.view)}[{', '.join(map(text_of, node.indices))}]"
    if isinstance(node, form.Section):
        ends = ("" if end is None else text_of(end) for end in (node.first, node.last))
        return f"{text_of(node.view)}[{':'.join(ends)}]"
    if isinstance(node, (form.Binary, form.Compare, form.Logic)):
        return f"({text_of(node.left)} {node.operator} {text_of(node.right)})"
    if isinstance(node, form.Unary):
        return f"({node.operator} {text_of(node.operand)})"
    if isinstance(node, form.Choice):
        return f"({text_of(node.yes)} if {text_of(node.condition)} else {text_of(node.no)})"
    if isinstance(node, form.Convert):
        return f"{type_name(node.type)}({text_of(node.operand)})"
    if isinstance(node, form.MakeTuple):
        return f"({', '.join(map(text_of, node.items))})"
    if isinstance(node, form.Item):
        return f"{text_of(node.tuple)}[{node.index}]"
    if isinstance(node, form.Field):
        return f"{text_of(node.record)}.{node.name}"
    if isinstance(node, form.RecordAt):
        return f"{text_of(node.rows)}[{text_of(node.index)}]"
    if isinstance(node, form.Member):
        return f"{text_of(node.group)}.{node.name}"
    if isinstance(node, form.Let):
        return f"[{node.name} = {text_of(node.value)}; {text_of(node.body)}]"
    if isinstance(node, form.Mathematics):
        return f"{node.name}({', '.join(map(text_of, node.arguments))})"
    if isinstance(node, form.Call):
        return f"{node.function.author.__name__}({', '.join(map(text_of, node.arguments))})"
    if isinstance(node, form.Zeros):
        return f"zeros({form.view_type(node).shape})"
    inner = ", ".join(map(text_of, form.parts(node)))
    return f"{type(node).__name__.lower()}({inner})"
