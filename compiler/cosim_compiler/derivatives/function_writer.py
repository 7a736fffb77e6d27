"""Writing the tangent of one function: its head, and its statements."""

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
    """Writes one tangent.

    Parameters
    ----------
    writer : TangentWriter
    function : Function
        In typed form.
    given : Varying
        What varies of the arguments.
    known, result
        What is known to vary of its names and of its result, from the writing before.

    Attributes
    ----------
    result : Varying
    parameters : list of str
    """

    def __init__(
        self, writer: Any, function: Function, given: Varying, known: dict[str, Varying], result: Varying
    ) -> None:
        super().__init__(writer, function, known)
        self.given, self.result = given, result
        self.parameters: list[str] = []

    # the function

    def write(self) -> list[str]:
        """The lines of the body; `parameters` then has the head: the values, behind them their tangents."""
        function = self.function
        passed = self.given if isinstance(self.given, tuple) else ()
        tangents: list[str] = []
        for (name, kind), varying in zip(function.parameters, passed, strict=True):
            self.grow(name, varying, function.variables.get(name, kind))
            self.parameters.append(self.identifier(name))
            tangents += [text for group in self.leaf_names(name, varying) for text in group]
        self.parameters += tangents
        for (name, _), varying in zip(function.parameters, passed, strict=True):
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
        """Numbers for the names that turns of loops over tuples assign: a turn that follows may read them.

        Such a loop becomes one with an `if` for each turn (`turns`), so the compiler sees a name that no
        earlier statement assigns.
        """
        zero = {REAL: "0.0", WHOLE: "0", TRUTH: "False"}
        passed = {name for name, _ in self.function.parameters}
        loops = [node for node in walk(*self.function.body) if isinstance(node, form.Once)]
        inside = [node for loop in loops if any(map(_leaves_turn, loop.turns)) for node in walk(loop)]
        for name in dict.fromkeys(node.name for node in inside if isinstance(node, (form.Assign, form.For))):
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
        with self.indented():
            self.block(statements)

    def refused(self, node: Statement) -> None:
        raise self.refuse(f"a {type(node).__name__.lower()} statement is not differentiated")

    def assign(self, node: form.Assign) -> None:
        self.set_name(node.name, node.value)

    def store(self, node: form.Store) -> None:
        place = node.place
        if isinstance(place, form.Field):
            owner, owners = self.dual(place.record)
            target, targets = f"{owner}.{place.name}", each(owners, lambda x: f"{x}.{place.name}")
        else:
            owner, owners = self.dual(place.view)
            at = ", ".join(self.atom(index) for index in place.indices)
            target, targets = f"{owner}[{at}]", each(owners, lambda x: f"{x}[{at}]")
        text, tangents = self.dual(node.value)
        if place.type is REAL:
            if isinstance(targets, list):
                values = tangents if isinstance(tangents, list) else ["0.0"] * self.writer.directions
                for one, value in zip(targets, values, strict=True):
                    self.emit(f"{one} = {value}")
            elif isinstance(tangents, list):
                raise self.refuse("a value that varies is written to a place without a tangent")
        self.emit(f"{target} = {text}")

    def evaluate(self, node: form.Evaluate) -> None:
        text, _ = self.dual(node.value)
        if not text.isidentifier():
            self.emit(text)

    def end(self, node: form.Return) -> None:
        if node.value is None:
            self.emit("return")
            return
        text, tangents = self.dual(node.value)
        self.result = joined(self.result, varying_of(tangents))
        parts = [v for _, value in self.filled(self.result, tangents, node.value.type) for v in value]
        self.emit(f"return {', '.join([text, *parts])}")

    def fail(self, node: form.Raise) -> None:
        self.flush()
        kind: type[BaseException]
        arguments: tuple[object, ...]
        if node.number > NUMBERED:
            kind, arguments = NumberedError.numbered[node.number - NUMBERED], ()
        else:
            kind, arguments = self.writer.program.failures[node.number - 1]
        name = self.writer.names.name(kind, "error")
        self.emit(f"raise {name}({', '.join(map(repr, arguments))})")

    def branch(self, node: form.If) -> None:
        self.emit(f"if {self.condition(node.condition)}:")
        self.inner(node.body)
        if node.orelse:
            self.emit("else:")
            self.inner(node.orelse)

    def repeat(self, node: form.While) -> None:
        self.flush()
        if self.is_plain(node.condition) or (node.orelse and self.is_same_at_points(node.condition)):
            self._add_notes(node.condition)
            self.emit(f"while {self.pure.text(node.condition)}:")
            self.inner(node.body)
            if node.orelse:
                self.emit("else:")
                self.inner(node.orelse)
            return
        if node.orelse:
            raise self.refuse("a while loop whose condition calls a function has an else")
        self.emit("while True:")
        with self.indented():
            self.emit(f"if not {self.condition(node.condition)}:")
            self.emit("    break")
            self.block(node.body)

    def count(self, node: form.For) -> None:
        bounds = ", ".join(self.value(x) for x in (node.first, node.last, node.step))
        self.grow(node.name, False, WHOLE)
        self.flush()
        self.emit(f"for {self.identifier(node.name)} in range({bounds}):")
        self.inner(node.body)
        if node.orelse:
            self.emit("else:")
            self.inner(node.orelse)

    def leave(self, node: form.Break) -> None:
        self.flush()
        self.emit("break")

    def go_on(self, node: form.Continue) -> None:
        self.flush()
        self.emit("continue")

    def turns(self, node: form.Once) -> None:
        """A loop that was written out: one turn behind the other, or one for each number."""
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
        if node.orelse:
            self.emit("else:")
            self.inner(node.orelse)


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
    form.Assign: FunctionWriter.assign,
    form.Store: FunctionWriter.store,
    form.Evaluate: FunctionWriter.evaluate,
    form.Return: FunctionWriter.end,
    form.Raise: FunctionWriter.fail,
    form.If: FunctionWriter.branch,
    form.While: FunctionWriter.repeat,
    form.For: FunctionWriter.count,
    form.Break: FunctionWriter.leave,
    form.Continue: FunctionWriter.go_on,
    form.Once: FunctionWriter.turns,
}
