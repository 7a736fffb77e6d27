"""Writing the tangent of one function: its parameters and its statements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cosim_compiler.derivatives.expression_writer import ExpressionWriter
from cosim_compiler.derivatives.tangent_values import NO_TANGENT, Varying, each, joined, leaves, varying_of
from cosim_compiler.errors import NUMBERED, NumberedError
from cosim_compiler.language import typed_form as form
from cosim_compiler.language.control_flow import ends
from cosim_compiler.language.typed_form import Function, Statement, walk
from cosim_compiler.language.types import NOTHING, REAL, TRUTH, WHOLE


class FunctionWriter(ExpressionWriter):
    """Writes the tangent of one function.

    Parameters
    ----------
    writer : TangentWriter
    function : Function
        In typed form.
    arguments : Varying
        What varies of the arguments.
    names : dict of str to Varying
        What the writing before has found to vary of the local names.
    result : Varying
        The same of the result.

    Attributes
    ----------
    result : Varying
        What is found to vary of the result.
    parameters : list of str
        Those of the tangent: first the values, behind them their tangents.
    """

    def __init__(
        self, writer: Any, function: Function, arguments: Varying, names: dict[str, Varying], result: Varying
    ) -> None:
        super().__init__(writer, function, names)
        self.arguments = arguments if isinstance(arguments, tuple) else ()
        self.result = result
        self.parameters: list[str] = []

    def write(self) -> list[str]:
        """The lines of the body; also fills `parameters` and `result`."""
        function = self.function
        tangents: list[str] = []
        for (name, kind), varying in zip(function.parameters, self.arguments, strict=True):
            self.grow(name, varying, function.variables.get(name, kind))
            self.parameters.append(self.identifier(name))
            tangents += [dot for dots in self.leaf_names(name, varying) for dot in dots]
        self.parameters += tangents
        for (name, _), varying in zip(function.parameters, self.arguments, strict=True):
            self._start_missing_tangents(name, varying)
        self._start_values()
        self.block(function.body)
        if not ends(function.body) and function.result is NOTHING:
            self.emit("return")
        return self._lines

    def _start_missing_tangents(self, name: str, passed: Varying) -> None:
        """Zero tangents for the reals of a parameter that vary once they are assigned, but not as passed."""
        passed_places = {place for place, is_on in leaves(passed) if is_on}
        stem = self.identifier(name)
        for place, is_on in leaves(self.varying[name]):
            if is_on and place not in passed_places:
                for k in range(self.writer.directions):
                    self.emit(f"_{stem}_{place}_d{k} = 0.0")

    def _start_values(self) -> None:
        """Assign zero to the names that turns of written-out loops assign.

        Such a loop becomes one with an `if` for each turn (`write_once`). A later turn may read what an
        earlier one has assigned, but the compiler cannot tell that the earlier one has run.
        """
        zero = {REAL: "0.0", WHOLE: "0", TRUTH: "False"}
        passed = {name for name, _ in self.function.parameters}
        loops = [node for node in walk(*self.function.body) if isinstance(node, form.Once)]
        nodes = [node for loop in loops if any(map(_leaves_turn, loop.turns)) for node in walk(loop)]
        for name in dict.fromkeys(node.name for node in nodes if isinstance(node, (form.Assign, form.For))):
            kind = self.function.variables.get(name)
            if name not in passed and kind in zero:
                self.emit(f"{self.identifier(name)} = {zero[kind]}")
                self.set_tangents(name, self.varying.get(name, False), NO_TANGENT, kind)

    # statements

    def block(self, statements: Sequence[Statement]) -> None:
        if not statements:
            self.emit("pass")
        for statement in statements:
            self._line = statement.line or self._line
            write = STATEMENTS.get(type(statement), FunctionWriter.refused)
            getattr(self, write.__name__)(statement)  # by name: a subclass may write it in its own way

    def inner(self, statements: Sequence[Statement]) -> None:
        """Write an indented block."""
        with self.indented():
            self.block(statements)

    def write_else(self, statements: Sequence[Statement]) -> None:
        """Write an ``else`` unless it is empty."""
        if statements:
            self.emit("else:")
            self.inner(statements)

    def refused(self, node: Statement) -> None:
        raise self.refuse(f"a {type(node).__name__.lower()} statement is not differentiated")

    def write_assign(self, node: form.Assign) -> None:
        self.set_name(node.name, node.value)

    def write_store(self, node: form.Store) -> None:
        place = node.place
        if isinstance(place, form.Field):
            record, record_tangents = self.dual(place.record)
            target = f"{record}.{place.name}"
            target_dots = each(record_tangents, lambda x: f"{x}.{place.name}")
        else:
            view, view_tangents = self.dual(place.view)
            at = ", ".join(self.atom(index) for index in place.indices)
            target, target_dots = f"{view}[{at}]", each(view_tangents, lambda x: f"{x}[{at}]")
        text, tangents = self.dual(node.value)
        if place.type is REAL:
            if isinstance(target_dots, list):
                dots = tangents if isinstance(tangents, list) else ["0.0"] * self.writer.directions
                for target_dot, dot in zip(target_dots, dots, strict=True):
                    self.emit(f"{target_dot} = {dot}")
            elif isinstance(tangents, list):
                raise self.refuse("a value that varies is written to a place without a tangent")
        self.emit(f"{target} = {text}")

    def write_evaluate(self, node: form.Evaluate) -> None:
        text, _ = self.dual(node.value)
        if not text.isidentifier():
            self.emit(text)

    def write_return(self, node: form.Return) -> None:
        if node.value is None:
            self.emit("return")
            return
        text, tangents = self.dual(node.value)
        self.result = joined(self.result, varying_of(tangents))
        dots = [dot for leaf in self.filled(self.result, tangents, node.value.type) for dot in leaf]
        self.emit(f"return {', '.join([text, *dots])}")

    def write_raise(self, node: form.Raise) -> None:
        self.flush()
        kind: type[BaseException]
        arguments: tuple[object, ...]
        if node.number > NUMBERED:
            kind, arguments = NumberedError.numbered[node.number - NUMBERED], ()
        else:
            kind, arguments = self.writer.program.failures[node.number - 1]
        name = self.writer.names.name(kind, "error")
        self.emit(f"raise {name}({', '.join(map(repr, arguments))})")

    def write_if(self, node: form.If) -> None:
        self.emit(f"if {self.condition(node.condition)}:")
        self.inner(node.body)
        self.write_else(node.orelse)

    def write_while(self, node: form.While) -> None:
        self.flush()
        if self.is_plain(node.condition) or (node.orelse and self.is_same_at_points(node.condition)):
            self.add_notes(node.condition)
            self.emit(f"while {self.pure.text(node.condition)}:")
            self.inner(node.body)
            self.write_else(node.orelse)
            return
        if node.orelse:
            raise self.refuse("a while loop whose condition calls a function has an else")
        self.emit("while True:")
        with self.indented():
            self.emit(f"if not {self.condition(node.condition)}:")
            self.emit("    break")
            self.block(node.body)

    def write_for(self, node: form.For) -> None:
        bounds = ", ".join(self.value(x) for x in (node.first, node.last, node.step))
        self.grow(node.name, False, WHOLE)
        self.flush()
        self.emit(f"for {self.identifier(node.name)} in range({bounds}):")
        self.inner(node.body)
        self.write_else(node.orelse)

    def write_break(self, node: form.Break) -> None:
        self.flush()
        self.emit("break")

    def write_continue(self, node: form.Continue) -> None:
        self.flush()
        self.emit("continue")

    def write_once(self, node: form.Once) -> None:
        """Write the turns of a written-out loop, in a loop of their own if one of them may leave it."""
        if not any(_leaves_turn(turn) for turn in node.turns):
            for turn in node.turns:
                if turn:
                    self.block(turn)
            if node.orelse:
                self.block(node.orelse)
            return
        turn_name = self.new()
        self.flush()
        self.emit(f"for {turn_name} in range({len(node.turns)}):")
        with self.indented():
            for i, turn in enumerate(node.turns):
                self.emit(f"{'el' if i else ''}if {turn_name} == {i}:")
                self.inner(turn)
        self.write_else(node.orelse)


def _leaves_turn(body: Sequence[Statement]) -> bool:
    """Whether a break or a continue among statements belongs to the loop around them."""
    for node in body:
        if isinstance(node, (form.Break, form.Continue)):
            return True
        if isinstance(node, form.If) and (_leaves_turn(node.body) or _leaves_turn(node.orelse)):
            return True
        if isinstance(node, (form.For, form.While, form.Once)) and _leaves_turn(node.orelse):
            return True
    return False


STATEMENTS: dict[type, Callable[[FunctionWriter, Any], None]] = {
    form.Assign: FunctionWriter.write_assign,
    form.Store: FunctionWriter.write_store,
    form.Evaluate: FunctionWriter.write_evaluate,
    form.Return: FunctionWriter.write_return,
    form.Raise: FunctionWriter.write_raise,
    form.If: FunctionWriter.write_if,
    form.While: FunctionWriter.write_while,
    form.For: FunctionWriter.write_for,
    form.Break: FunctionWriter.write_break,
    form.Continue: FunctionWriter.write_continue,
    form.Once: FunctionWriter.write_once,
}
