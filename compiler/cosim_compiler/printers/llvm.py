"""The typed form as LLVM's text.

Local names live in the frame; LLVM's first pass puts them into registers. A function that may raise returns a
status ahead of its result, which every caller hands on. Around each function that others call stand wrappers
(`llvm_entries`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

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
from cosim_compiler.printers.llvm_inlining import is_never_inlined, is_rare, written_out
from cosim_compiler.printers.llvm_lines import DebugMetadata
from cosim_compiler.printers.llvm_types import STATUS, alignment, llvm_type, returned, zero_of
from cosim_compiler.printers.llvm_values import ValueWriter

X86 = ("x86_64", "AMD64")
MOVE = "llvm.memmove.p0.p0.i64"
MANY = 64
"""Numbers that are worth a call of the C library."""
NUMBER = 8
"""Bytes."""
MOST_TURNS = 12
"""Turns of a loop that are written out, where each takes another item of a tuple."""


class Module:
    """The parts of a module."""

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
    """All functions of a program, internal to the module."""
    module = Module()
    add_functions(module, [FunctionWriter(module, function) for function in program.functions])
    return module


def add_functions(module: Module, writers: Sequence[FunctionWriter]) -> None:
    """Write functions, each behind those that it calls."""
    for writer in writers:
        writer.write()
    inlined = written_out(
        [(writer.function, len(writer.lines) - writer.packing, writer.called) for writer in writers]
    )
    module.functions += [writer.text(writer.function.symbol in inlined) for writer in writers]


def _names_assigned(body: Sequence[Statement]) -> Counter[str]:
    """The names that statements assign, and how many do; any other name has the value of its parameter."""
    names: Counter[str] = Counter()
    left = list(body)
    while left:
        statement = left.pop()
        if isinstance(statement, (Assign, For, Try)):
            names[statement.name] += 1
        left += [part for part in parts(statement) if isinstance(part, Statement)]
    return names


class FunctionWriter(ValueWriter):
    """Writes one function."""

    def __init__(self, module: Module, function: Function) -> None:
        super().__init__(module.declared)
        self.function, self.of_line = function, module.lines.of_line
        self.mark = module.lines.of_function(function)
        self.location = self.of_line(function, function.author.__code__.co_firstlineno)
        self.parameters: list[str] = []
        self.loops: list[tuple[str, str]] = []  # labels of break and continue
        self.assigned: Counter[str] = Counter()  # how many statements assign a name
        self.scopes: list[list[str]] = []  # of each list of statements: the names bound inside it
        self.tries: list[tuple[str, str]] = []  # of each try: the variable of the number, and the label

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
            self.returns(None)
        self.drop_variables()

    def text(self, is_inlined: bool) -> str:
        """The definition, once it is written."""
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

    def returns(self, value: str | None) -> None:
        """Return a result; without one, zero."""
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
        """A result together with a status of 0."""
        return self.value(f"insertvalue {kind} zeroinitializer, {result} {value}, 1")

    def fails(self, status: str) -> None:
        """Pass a status that is not 0 to the `except` around it, else to the caller."""
        function = self.function
        if self.tries:
            name, label = self.tries[-1]
            number = self.value(f"sub i64 {self.value(f'sext {STATUS} {status} to i64')}, {NUMBERED}")
            self.line(f"store i64 {number}, ptr %{name}.a")
            self.branch(label)
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
        """Print statements; inside a loop, `counter` is its variable and the value of this turn."""
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
        """Remember the value of a variable up to the end of these statements, if no others assign it."""
        if self.assigned[name] == 1:
            self.bound[name] = value
            self.scopes[-1].append(name)

    def statement(self, statement: Statement) -> None:
        """Print a statement."""
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
            self.returns(None if statement.value is None else self.of(statement.value))
        elif isinstance(statement, Raise):
            self.fails(str(statement.number))
        elif isinstance(statement, RaiseAgain):
            self.fails_again(statement.name)
        elif isinstance(statement, Try):
            self.attempt(statement)
        elif isinstance(statement, Break):
            self.branch(self.loops[-1][0])
        elif isinstance(statement, Continue):
            self.branch(self.loops[-1][1])
        elif isinstance(statement, If):
            self.branches(statement)
        elif isinstance(statement, While):
            self.loop_while(statement)
        elif isinstance(statement, For):
            self.loop_over(statement)
        elif isinstance(statement, Once):
            self.turns(statement)
        else:
            raise TypeError(statement)

    def fails_again(self, name: str) -> None:
        """Hand on what was caught."""
        status = self.value(f"add i64 {self.value(f'load i64, ptr %{name}.a')}, {NUMBERED}")
        self.fails(self.value(f"trunc i64 {status} to {STATUS}"))

    def attempt(self, statement: Try) -> None:
        """Print a ``try``: a status in its range goes to the handler, any other to the caller."""
        caught, handler, uncaught, end = (self.label() for _ in range(4))
        self.loaded.add(statement.name)
        self.tries.append((statement.name, caught))
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
        self.fails_again(statement.name)
        self.at(handler)
        self.block(statement.handler)
        is_reached = is_reached or self.is_live
        self.branch(end)
        if is_reached:
            self.at(end)

    def branches(self, statement: If) -> None:
        """Print both branches of an ``if``."""
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
        self.line(f"br i1 {self.of(condition)}, label %{yes}, label %{no}")
        self.is_live = False

    def loop_while(self, statement: While) -> None:
        """Print a loop with a condition."""
        test, body, orelse, end = (self.label() for _ in range(4))
        self.branch(test)
        self.at(test)
        if isinstance(statement.condition, Constant):
            self.branch(body)
        else:
            self.decide(statement.condition, body, orelse)
        self.turn(body, statement.body, end, test)
        if not isinstance(statement.condition, Constant):
            self.at(orelse)
            self.block(statement.orelse)
            self.branch(end)
        self.at(end)

    def turn(self, label: str, body: Sequence[Statement], end: str, next_turn: str) -> None:
        """Print one turn of a loop and the branch to the next one."""
        self.at(label)
        self.loops.append((end, next_turn))
        self.block(body)
        self.loops.pop()
        self.branch(next_turn)

    def loop_over(self, statement: For) -> None:
        """Print a loop over whole numbers; some are written out, some copy at once."""
        if counts := self.counts_written_out(statement):
            self.write_out(statement, counts)
            return
        test, body, step, orelse, end = (self.label() for _ in range(5))
        counter = self.room("i64")
        first, last, by = self.of(statement.first), self.of(statement.last), self.of(statement.step)
        self.line(f"store i64 {first}, ptr {counter}")
        if copy := copy_of(statement):
            self.copies(statement, copy, last, test, orelse)
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
        self.loops.append((end, step))
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
        """The counts of a loop whose turns take items of tuples by them, if all are known.

        LLVM writes such loops out as well, and then has to find out again what each tuple consists of.
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
        """Print a loop turn by turn."""
        end = self.label()
        for count in counts:
            next_turn = self.label()
            self.set_variable(statement.name, str(count))
            self.numbers[statement.name] = count
            self.loops.append((end, next_turn))
            self.block(statement.body)
            self.loops.pop()
            self.branch(next_turn)
            self.at(next_turn)
        self.numbers.pop(statement.name, None)
        self.block(statement.orelse)
        self.branch(end)
        self.at(end)

    def copies(self, statement: For, copy: Copy, count: str, loop: str, end: str) -> None:
        """Copy many numbers at once; few, or what the loop would read after writing it, turn by turn."""
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
        """Whether a loop has another turn; which way it counts may be known at the end alone."""
        if isinstance(step, Constant):
            return self.value(f"icmp {'slt' if step.value > 0 else 'sgt'} i64 {count}, {last}")
        up, down = self.value(f"icmp slt i64 {count}, {last}"), self.value(f"icmp sgt i64 {count}, {last}")
        upward, downward = self.value(f"icmp sgt i64 {by}, 0"), self.value(f"icmp slt i64 {by}, 0")
        up, down = self.value(f"and i1 {up}, {upward}"), self.value(f"and i1 {down}, {downward}")
        return self.value(f"or i1 {up}, {down}")

    def turns(self, statement: Once) -> None:
        """Print the turns of a loop that was written out."""
        end = self.label()
        for body in statement.turns:
            next_turn = self.label()
            self.loops.append((end, next_turn))
            self.block(body)
            self.loops.pop()
            self.branch(next_turn)
            self.at(next_turn)
        self.block(statement.orelse)
        self.branch(end)
        self.at(end)

    def assign(self, name: str, value: Expression) -> None:
        kind = self.function.variables[name]
        text = self.converted(value.type, kind, self.of(value))
        self.set_variable(name, text)
        self.bind(name, text)
