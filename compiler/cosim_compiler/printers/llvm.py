"""The typed form as LLVM's text.

Local names are variables in the frame, which LLVM's first pass puts into registers. A function that may raise
returns a status together with its result; each caller returns a status that is not 0 to its own caller.
Functions outside the module call through wrappers (`llvm_entries`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from cosim_compiler.debugging import lines_are_shown
from cosim_compiler.errors import NUMBERED
from cosim_compiler.language.program import Program
from cosim_compiler.language.typed_form import (
    Assign,
    Break,
    Constant,
    Continue,
    Evaluate,
    Expression,
    For,
    Function,
    If,
    Once,
    Pick,
    Raise,
    RaiseAgain,
    Return,
    Statement,
    Store,
    Try,
    Variable,
    While,
    parts,
    walk,
)
from cosim_compiler.language.types import NOTHING, WHOLE
from cosim_compiler.printers import llvm_arithmetic
from cosim_compiler.printers.llvm_copies import Copy, copy_of
from cosim_compiler.printers.llvm_inlining import FunctionSize, inlined_symbols, is_never_inlined, is_rare
from cosim_compiler.printers.llvm_lines import DebugMetadata
from cosim_compiler.printers.llvm_types import STATUS, alignment, llvm_type, returned, zero_of
from cosim_compiler.printers.llvm_values import ValueWriter

X86 = ("x86_64", "AMD64")
MOVE = "llvm.memmove.p0.p0.i64"
MANY = 64
"""From so many numbers on, a copy by a call of the C library is faster than a loop."""
NUMBER = 8
"""Bytes of a number."""
MOST_TURNS = 12
"""A loop over the items of tuples is written out turn by turn up to this number of turns."""


class Jumps(NamedTuple):
    """The labels to which `break` and `continue` in a loop jump."""

    at_break: str
    at_continue: str


class Handler(NamedTuple):
    """The handler of a `try`: the variable for the number of what is caught, and the label."""

    name: str
    label: str


class Module:
    """The parts of a module: declarations, lines for debuggers, functions."""

    def __init__(self) -> None:
        self.declared: dict[str, str] = {}
        self.lines = DebugMetadata(lines_are_shown())
        self.functions: list[str] = []

    def text(self, processor: str = "") -> str:
        """LLVM's text, for no machine in particular, or for one with this kind of processor."""
        declared = dict(self.declared)
        if llvm_arithmetic.WHOLE_OF_REAL in declared and processor in X86:
            declared[llvm_arithmetic.WHOLE_OF_REAL] = llvm_arithmetic.IN_X86
        return "\n".join(
            [
                *declared.values(),
                "",
                *self.functions,
                *llvm_arithmetic.ATTRIBUTES,
                *self.lines.text(),
                "",
            ]
        )


def module_of(program: Program) -> Module:
    """The module of a program, in which all its functions are internal."""
    module = Module()
    add_functions(module, [FunctionWriter(module, function) for function in program.functions])
    return module


def add_functions(module: Module, writers: Sequence[FunctionWriter]) -> None:
    """Write functions, each behind those that it calls."""
    for writer in writers:
        writer.write()
    inlined = inlined_symbols(
        [
            FunctionSize(writer.function, len(writer.lines) - writer.packing, writer.called)
            for writer in writers
        ]
    )
    module.functions += [writer.text(writer.function.symbol in inlined) for writer in writers]


def _names_assigned(body: Sequence[Statement]) -> Counter[str]:
    """How many of these statements, and of those inside them, assign each name."""
    names: Counter[str] = Counter()
    unvisited = list(body)
    while unvisited:
        statement = unvisited.pop()
        if isinstance(statement, (Assign, For, Try)):
            names[statement.name] += 1
        unvisited += [part for part in parts(statement) if isinstance(part, Statement)]
    return names


class FunctionWriter(ValueWriter):
    """Writes one function."""

    def __init__(self, module: Module, function: Function) -> None:
        super().__init__(module.declared)
        self.function, self.of_line = function, module.lines.of_line
        self.mark = module.lines.of_function(function)
        self.location = self.of_line(function, function.author.__code__.co_firstlineno)
        self.parameters: list[str] = []
        self.loops: list[Jumps] = []  # of the loops around the present statement
        self.assigned: Counter[str] = Counter()  # how many statements assign each name
        self.scopes: list[list[str]] = []  # for each block around the statement: the names bound in it
        self.tries: list[Handler] = []  # of the `try` around it

    def write(self) -> None:
        """Write the body of the function."""
        function = self.function
        self.assigned = _names_assigned(function.body)
        for name, type_ in function.parameters:
            value, words = self.together(type_, f"%{name}")
            self.parameters += words
            value = self.converted(type_, function.variables[name], value)
            if self.assigned[name]:
                self.set_variable(name, value)
            else:
                self.bound[name] = value
        self.assigned.update(name for name, _ in function.parameters)
        self.block(function.body)
        if self.is_live:
            self.write_return(None)
        self.drop_variables()

    def text(self, is_inlined: bool) -> str:
        """The text of the definition, after `write`."""
        function, inline = self.function, " alwaysinline" if is_inlined else ""
        if is_rare(function):
            inline = " cold noinline"
        elif is_never_inlined(function):
            inline = " noinline"
        return "\n".join(
            [
                f"define internal {returned(function)} @{function.symbol}({', '.join(self.parameters)}) "
                f"nounwind{inline}{self.mark} {{",
                *self.head,
                "  br label %.start",
                ".start:",
                *self.lines,
                "}",
                "",
            ]
        )

    # the ends of a function

    def write_return(self, value: str | None) -> None:
        """Write the return of a result; of zero if there is none."""
        function = self.function
        if function.result is NOTHING:
            self.line(f"ret {STATUS} 0" if function.raises else "ret void")
        else:
            kind = llvm_type(function.result)
            result = zero_of(function.result) if value is None else self.whole(function.result, value)
            if function.raises:
                self.line(
                    f"ret {returned(function)} {self.result_with_status(returned(function), kind, result)}"
                )
            else:
                self.line(f"ret {kind} {result}")
        self.is_live = False

    def result_with_status(self, kind: str, result: str, value: str) -> str:
        """A result together with the status 0."""
        return self.value(f"insertvalue {kind} zeroinitializer, {result} {value}, 1")

    def return_status(self, status: str) -> None:
        """Pass a status that is not 0 to the `except` around it, else to the caller."""
        function = self.function
        if self.tries:
            handler = self.tries[-1]
            number = self.value(f"sub i64 {self.value(f'sext {STATUS} {status} to i64')}, {NUMBERED}")
            self.line(f"store i64 {number}, ptr %{handler.name}.a")
            self.branch(handler.label)
            return
        if function.result is NOTHING:
            self.line(f"ret {STATUS} {status}")
        else:
            kind = returned(function)
            failure = self.value(f"insertvalue {kind} zeroinitializer, {STATUS} {status}, 0")
            self.line(f"ret {kind} {failure}")
        self.is_live = False

    # statements

    def block(self, body: Sequence[Statement], counter: tuple[str, str] | None = None) -> None:
        """Write statements; of the body of a loop, `counter` is the loop's variable and its value."""
        self.scopes.append([])
        if counter is not None:
            self.bind(*counter)
        for statement in body:
            if not self.is_live:
                break
            self.statement(statement)
        for name in self.scopes.pop():
            del self.bound[name]

    def bind(self, name: str, value: str) -> None:
        """Use a value for a variable up to the end of the block, if no other statement assigns it."""
        if self.assigned[name] == 1:
            self.bound[name] = value
            self.scopes[-1].append(name)

    def statement(self, statement: Statement) -> None:
        """Write a statement."""
        self.location = self.of_line(self.function, statement.line)
        if isinstance(statement, Assign):
            self.assign(statement.name, statement.value)
        elif isinstance(statement, Store):
            kind = statement.place.type
            value = self.whole(kind, self.of(statement.value))
            place = self.place(statement.place)
            self.line(f"store {llvm_type(kind)} {value}, ptr {place}{alignment(kind)}")
        elif isinstance(statement, Evaluate):
            self.of(statement.value)
        elif isinstance(statement, Return):
            self.write_return(None if statement.value is None else self.of(statement.value))
        elif isinstance(statement, Raise):
            self.return_status(str(statement.number))
        elif isinstance(statement, RaiseAgain):
            self.raise_again(statement.name)
        elif isinstance(statement, Try):
            self.write_try(statement)
        elif isinstance(statement, Break):
            self.branch(self.loops[-1].at_break)
        elif isinstance(statement, Continue):
            self.branch(self.loops[-1].at_continue)
        elif isinstance(statement, If):
            self.write_if(statement)
        elif isinstance(statement, While):
            self.write_while(statement)
        elif isinstance(statement, For):
            self.write_for(statement)
        elif isinstance(statement, Once):
            self.write_once(statement)
        else:
            raise TypeError(statement)

    def raise_again(self, name: str) -> None:
        """Pass on the status of a caught exception, whose number a variable holds."""
        status = self.value(f"add i64 {self.value(f'load i64, ptr %{name}.a')}, {NUMBERED}")
        self.return_status(self.value(f"trunc i64 {status} to {STATUS}"))

    def write_try(self, statement: Try) -> None:
        """Write a ``try``: a status in its range goes to the handler, any other to the caller."""
        caught, handler, uncaught, end = (self.label() for _ in range(4))
        self.loaded.add(statement.name)
        self.tries.append(Handler(statement.name, caught))
        self.block(statement.body)
        self.tries.pop()
        is_reached = self.is_live
        self.branch(end)
        self.at(caught)
        number = self.value(f"load i64, ptr %{statement.name}.a")
        low = self.value(f"icmp sge i64 {number}, {statement.lowest}")
        high = self.value(f"icmp sle i64 {number}, {statement.highest}")
        self.line(f"br i1 {self.value(f'and i1 {low}, {high}')}, label %{handler}, label %{uncaught}")
        self.at(uncaught)
        self.raise_again(statement.name)
        self.at(handler)
        self.block(statement.handler)
        is_reached = is_reached or self.is_live
        self.branch(end)
        if is_reached:
            self.at(end)

    def write_if(self, statement: If) -> None:
        """Write both branches of an ``if``."""
        yes, no, end = self.label(), self.label(), self.label()
        self.decide(statement.condition, yes, no)
        is_reached = False
        for label, body in ((yes, statement.body), (no, statement.orelse)):
            self.at(label)
            self.block(body)
            is_reached = is_reached or self.is_live
            self.branch(end)
        if is_reached:
            self.at(end)

    def decide(self, condition: Expression, yes: str, no: str) -> None:
        """Jump to one of two labels."""
        self.line(f"br i1 {self.of(condition)}, label %{yes}, label %{no}")
        self.is_live = False

    def write_while(self, statement: While) -> None:
        """Write a loop with a condition."""
        test, body, orelse, end = (self.label() for _ in range(4))
        self.branch(test)
        self.at(test)
        if isinstance(statement.condition, Constant):
            self.branch(body)
        else:
            self.decide(statement.condition, body, orelse)
        self.write_turn(body, statement.body, Jumps(end, test))
        if not isinstance(statement.condition, Constant):
            self.at(orelse)
            self.block(statement.orelse)
            self.branch(end)
        self.at(end)

    def write_turn(self, label: str, body: Sequence[Statement], jumps: Jumps) -> None:
        """Write the body of a loop at a label, and the jump to the next turn."""
        self.at(label)
        self.loops.append(jumps)
        self.block(body)
        self.loops.pop()
        self.branch(jumps.at_continue)

    def write_for(self, statement: For) -> None:
        """Write a loop over whole numbers; some loops turn by turn, and some as a copy."""
        if counts := self.counts_written_out(statement):
            self.write_out(statement, counts)
            return
        test, body, step, orelse, end = (self.label() for _ in range(5))
        counter = self.room("i64")
        first, last, by = self.of(statement.first), self.of(statement.last), self.of(statement.step)
        self.line(f"store i64 {first}, ptr {counter}")
        if copy := copy_of(statement):
            self.write_copy(statement, copy, last, test, orelse)
        else:
            self.branch(test)
        self.at(test)
        count = self.value(f"load i64, ptr {counter}")
        self.line(f"br i1 {self.continues(statement.step, by, count, last)}, label %{body}, label %{orelse}")
        self.at(body)
        kind = self.function.variables[statement.name]
        value = self.converted(statement.first.type, kind, count)
        self.set_variable(statement.name, value)
        is_natural = self.counts_from_0_on(statement)
        if is_natural:
            self.counts.add(statement.name)
        self.loops.append(Jumps(end, step))
        self.block(statement.body, (statement.name, value))
        if is_natural:
            self.counts.discard(statement.name)
        self.loops.pop()
        self.branch(step)
        self.at(step)
        count = self.value(f"load i64, ptr {counter}")
        self.line(f"store i64 {self.value(f'add i64 {count}, {by}')}, ptr {counter}")
        self.line(f"br label %{test}, {llvm_arithmetic.SHORT}")
        self.at(orelse)
        self.block(statement.orelse)
        self.branch(end)
        self.at(end)

    def counts_from_0_on(self, statement: For) -> bool:
        """Whether the variable of a loop is never negative inside it."""
        step = self.number(statement.step)
        if step is None or self.assigned[statement.name] != 1:
            return False
        last = self.number(statement.last)
        return self.is_natural(statement.first) if step > 0 else last is not None and last >= -1

    def counts_written_out(self, statement: For) -> range | None:
        """The counts of a loop that is written out turn by turn: all are known, and index tuples.

        LLVM would write out such a loop, too, but it would have to find the parts of each tuple again.
        """
        bounds = statement.first, statement.last, statement.step
        numbers = [self.number(bound) for bound in bounds]
        if not self.function.picks or None in numbers or self.function.variables[statement.name] is not WHOLE:
            return None
        counts = range(*numbers)  # type: ignore[arg-type]
        if len(counts) > MOST_TURNS or statement.name in _names_assigned(statement.body):
            return None
        picks = (node for node in walk(*statement.body) if isinstance(node, Pick))
        indices = (index for node in picks for index in walk(node.index))
        takes_items = any(isinstance(index, Variable) and index.name == statement.name for index in indices)
        return counts if takes_items else None

    def write_out(self, statement: For, counts: range) -> None:
        """Write a loop turn by turn."""
        end = self.label()
        for count in counts:
            next_turn = self.label()
            self.set_variable(statement.name, str(count))
            self.numbers[statement.name] = count
            self.loops.append(Jumps(end, next_turn))
            self.block(statement.body)
            self.loops.pop()
            self.branch(next_turn)
            self.at(next_turn)
        self.numbers.pop(statement.name, None)
        self.block(statement.orelse)
        self.branch(end)
        self.at(end)

    def write_copy(self, statement: For, copy: Copy, count: str, loop: str, end: str) -> None:
        """Write a copy of many numbers at once, and a jump to the loop for few numbers.

        The loop also does it if it would read numbers that it has written before.
        """
        at_once = self.label()
        target, source = self.of(copy.target), self.of(copy.source)
        to = self.part(llvm_type(copy.target.type), target, 0)
        out_of = self.part(llvm_type(copy.source.type), source, 0)
        size = self.value(f"mul i64 {count}, {NUMBER}")
        behind = self.value(f"getelementptr i8, ptr {out_of}, i64 {size}")
        ahead, after = self.value(f"icmp ule ptr {to}, {out_of}"), self.value(f"icmp uge ptr {to}, {behind}")
        may = self.value(f"or i1 {ahead}, {after}")
        may = self.value(f"and i1 {may}, {self.value(f'icmp sge i64 {count}, {MANY}')}")
        self.line(f"br i1 {may}, label %{at_once}, label %{loop}")
        self.at(at_once)
        self.declare(MOVE, f"declare void @{MOVE}(ptr, ptr, i64, i1)")
        self.line(f"call void @{MOVE}(ptr {to}, ptr {out_of}, i64 {size}, i1 false)")
        kind = self.function.variables[statement.name]
        newest = self.converted(statement.first.type, kind, self.value(f"sub i64 {count}, 1"))
        self.set_variable(statement.name, newest)
        self.is_live = True
        self.branch(end)

    def continues(self, step: Expression, by: str, count: str, last: str) -> str:
        """Whether a loop has another turn; it may count upward or downward."""
        if isinstance(step, Constant):
            return self.value(f"icmp {'slt' if step.value > 0 else 'sgt'} i64 {count}, {last}")
        up, down = self.value(f"icmp slt i64 {count}, {last}"), self.value(f"icmp sgt i64 {count}, {last}")
        upward, downward = self.value(f"icmp sgt i64 {by}, 0"), self.value(f"icmp slt i64 {by}, 0")
        up, down = self.value(f"and i1 {up}, {upward}"), self.value(f"and i1 {down}, {downward}")
        return self.value(f"or i1 {up}, {down}")

    def write_once(self, statement: Once) -> None:
        """Write the turns of a written-out loop."""
        end = self.label()
        for body in statement.turns:
            next_turn = self.label()
            self.loops.append(Jumps(end, next_turn))
            self.block(body)
            self.loops.pop()
            self.branch(next_turn)
            self.at(next_turn)
        self.block(statement.orelse)
        self.branch(end)
        self.at(end)

    def assign(self, name: str, value: Expression) -> None:
        """Write an assignment."""
        kind = self.function.variables[name]
        text = self.converted(value.type, kind, self.of(value))
        self.set_variable(name, text)
        self.bind(name, text)
