"""The typed form as C99 that its author recognizes.

Names and operators are the author's. If something else is computed beside a call, the call gets a line of its
own, since C leaves open which of the two comes first. A function that may raise returns a status; it writes
its result to the address that is its last argument. Compile the text with `FLAGS`: integers wrap around, and
no operations of reals are joined.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from cosim_compiler.errors import NUMBERED
from cosim_compiler.language.builtins import OF_C_LIBRARY
from cosim_compiler.language.control_flow import ends, has_break
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
    Raise,
    RaiseAgain,
    Return,
    Statement,
    Store,
    Try,
    While,
)
from cosim_compiler.language.types import NOTHING, Group, Number, Record, Type
from cosim_compiler.printers.c_declarations import Declarations
from cosim_compiler.printers.c_lines import compact, joined, named_once, shortened, unpacked, with_last_status
from cosim_compiler.printers.c_names import CNames, Types
from cosim_compiler.printers.c_order import bracketed
from cosim_compiler.printers.c_values import ValueWriter

WORD = re.compile(r"\w+")
WIDTH = 110
FLAGS = (
    "-std=c99", "-O2", "-fwrapv", "-ffp-contract=off", "-fno-math-errno", "-fno-strict-aliasing",
    *(f"-fno-builtin-{name}" for name in (*OF_C_LIBRARY, "ldexp", "frexp", "modf")),
)  # fmt: skip
"""Options of gcc and clang that decide what C leaves open, and keep calls of the C library as they are."""
HEAD = """\
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct { double *at; int64_t n; } reals;
typedef struct { int64_t *at; int64_t n; } integers;
typedef struct { double *at; int64_t n, m; } matrix;
typedef struct { int64_t *at; int64_t n, m; } table;

static inline double least(double a, double b) { return b < a ? b : a; }
static inline double greatest(double a, double b) { return b > a ? b : a; }
static inline int64_t least_whole(int64_t a, int64_t b) { return b < a ? b : a; }
static inline int64_t greatest_whole(int64_t a, int64_t b) { return b > a ? b : a; }
static inline int64_t whole_abs(int64_t a) { return a < 0 ? 0 - a : a; }
static inline int64_t quotient(int64_t a, int64_t b) {
    if (b == 0) return 0;
    if (b == -1) return 0 - a;
    int64_t q = a / b;
    return a % b != 0 && (a ^ b) < 0 ? q - 1 : q;
}
static inline int64_t rest(int64_t a, int64_t b) {
    if (b == 0 || b == -1) return 0;
    int64_t r = a % b;
    return r != 0 && (a ^ b) < 0 ? r + b : r;
}
static inline double real_rest(double a, double b) {
    double r = fmod(a, b);
    if (r == 0.0) return copysign(0.0, b);
    return (r < 0.0) != (b < 0.0) ? r + b : r;
}
static inline double real_quotient(double a, double b) {
    if (b == 0.0) return a / b;
    double r = fmod(a, b), q = (a - r) / b;
    if (r != 0.0 && (r < 0.0) != (b < 0.0)) q -= 1.0;
    if (q == 0.0) return copysign(0.0, a / b);
    double f = floor(q);
    return q - f > 0.5 ? f + 1.0 : f;
}
static inline int64_t shifted_left(int64_t a, int64_t b) {
    return (uint64_t)b < 64 ? (int64_t)((uint64_t)a << b) : 0;
}
static inline int64_t shifted_right(int64_t a, int64_t b) { return a >> ((uint64_t)b < 64 ? b : 63); }
static inline int64_t whole(double x) {
    return x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? (int64_t)x : INT64_MIN;
}
static inline int64_t from_end(int64_t i, int64_t n) { return i < 0 ? i + n : i; }
static inline int64_t place(int64_t i, int64_t n) {
    i = i < 0 ? i + n : i;
    return i < 0 ? 0 : i > n ? n : i;
}
static inline reals part(reals v, int64_t first, int64_t last) {
    reals p = {v.at + first, last > first ? last - first : 0};
    return p;
}
static inline integers part_of_integers(integers v, int64_t first, int64_t last) {
    integers p = {v.at + first, last > first ? last - first : 0};
    return p;
}
static inline integers row_of(table v, int64_t i) {
    integers p = {v.at + from_end(i, v.n) * v.m, v.m};
    return p;
}
static inline reals row_of_matrix(matrix v, int64_t i) {
    reals p = {v.at + from_end(i, v.n) * v.m, v.m};
    return p;
}
"""


class Module:
    """The parts of a file.

    Attributes
    ----------
    types : Types
    names : CNames
        Names of functions.
    declared : dict of str to str
        Declarations outside of functions, by name.
    functions : list of str
    """

    def __init__(self) -> None:
        self.types = Types()
        self.names = CNames()
        self.declared: dict[str, str] = {}
        self.functions: list[str] = []

    def text(self) -> str:
        """The text of the file: structures, declarations, functions."""
        return "\n".join(
            [HEAD, *self.types.structures.values(), *self.declared.values(), "", *self.functions]
        )


def module_of(program: Program) -> Module:
    """The file of a program, in which all its functions are static."""
    module = Module()
    for function in program.functions:
        module.functions.append(FunctionWriter(module, function).text())
    return module


class Jumps(NamedTuple):
    """The statements of C for `break` and `continue` in a loop."""

    at_break: str
    at_continue: str


class Handler(NamedTuple):
    """The handler of a `try`: the variable for the number of what is caught, and the label."""

    name: str
    label: str


class FunctionWriter(ValueWriter):
    """Writes one function."""

    def __init__(self, module: Module, function: Function) -> None:
        super().__init__(module.types, module.names, module.declared)
        self.function = function
        self.declares = Declarations(function)
        self.loops: list[Jumps] = []  # of the loops around the present statement
        self.tries: list[Handler] = []  # of the `try` around it

    def head(self) -> str:
        """The first line of the definition, without its brace."""
        function = self.function
        parameters = [f"{self.types[kind]} {self.passed(name, kind)}" for name, kind in function.parameters]
        if not function.raises:
            result = self.types[function.result]
        else:
            result = "int32_t"
            if function.result is not NOTHING:
                parameters.append(f"{self.types[function.result]} *result")
        return f"static {result} {self.names[function.symbol]}({', '.join(parameters) or 'void'})"

    def passed(self, name: str, kind: Type) -> str:
        """The name of a parameter, which differs from its variable if that has a wider type."""
        return self.local[name if self.function.variables[name] == kind else f"{name}.given"]

    def text(self) -> str:
        """The text of the definition of the function."""
        function = self.function
        head = self.head()
        for name, kind in function.parameters:
            if function.variables[name] != kind:
                value = self.converted(kind, function.variables[name], self.passed(name, kind))
                self.line(f"{self.local[name]} = {value};")
        self.block(function.body)
        if function.raises and function.result is NOTHING:
            self.line("return 0;")
        elif function.result is not NOTHING and not ends(function.body):
            self.return_zero()
        self.lines = with_last_status(compact(unpacked(joined(named_once(self.lines)))))
        if self.status is not None and self.status not in WORD.findall("\n".join(self.lines)):
            self.room.remove(f"    int32_t {self.status};")
        lines = [*self.locals(), *self.room, *self.lines]
        if len(lines) == 1 and len(in_one_line := f"{head} {{ {lines[0].strip()} }}") < WIDTH:
            return f"{in_one_line}\n"
        return "\n".join([f"{head} {{", *lines, "}", ""])

    def locals(self) -> list[str]:
        """The lines that declare names where the function begins, and that mention unread parameters."""
        function = self.function
        declared_later, parameters = {*self.declares.by.values()}, dict(function.parameters)
        words = set(WORD.findall("\n".join([*self.room, *self.lines])))
        names_of_type: dict[str, list[str]] = {}
        for name, kind in function.variables.items():
            is_passed = name in parameters and parameters[name] == kind
            if not is_passed and name not in declared_later and self.local[name] in words:
                names = names_of_type.setdefault(f"{self.types[kind]} ", [])
                names.append(f"{self.local[name]}{self.zero(kind)}")
        lines = [line for kind, names in names_of_type.items() for line in _in_lines(kind, names)]
        unread = [name for name in (self.passed(*each) for each in function.parameters) if name not in words]
        return [*lines, *([f"    {' '.join(f'(void){name};' for name in unread)}"] if unread else [])]

    def return_zero(self) -> None:
        """Write the end of a function that is never reached, which C cannot tell."""
        result = self.function.result
        value = "0" if isinstance(result, (Number, Group, Record)) else f"({self.types[result]}){{0}}"
        self.line("return 0;" if self.function.raises else f"return {value};")

    # statements

    def block(self, body: Sequence[Statement]) -> None:
        """Write statements."""
        for statement in body:
            self.statement(statement)

    def inner(self, body: Sequence[Statement]) -> None:
        """Write statements, indented."""
        self.indent += 1
        self.block(body)
        self.indent -= 1

    def statement(self, statement: Statement) -> None:
        """Write a statement."""
        if isinstance(statement, Assign):
            if statement.name in self.declares.read:
                self.assign(statement.name, statement.value, self.declares.by.get(id(statement)) is not None)
            else:
                self.evaluate_for_effect(statement.value)
        elif isinstance(statement, Store):
            value, place = self.in_order([statement.value, statement.place])
            self.line(f"{place} = {value};")
        elif isinstance(statement, Evaluate):
            self.evaluate_for_effect(statement.value)
        elif isinstance(statement, Return):
            self.write_return(statement.value)
        elif isinstance(statement, Raise):
            self.line(self.return_status(str(statement.number)))
        elif isinstance(statement, RaiseAgain):
            self.line(self.return_status(f"(int32_t)({self.local[statement.name]} + {NUMBERED})"))
        elif isinstance(statement, Try):
            self.write_try(statement)
        elif isinstance(statement, Break):
            self.line(self.loops[-1].at_break)
        elif isinstance(statement, Continue):
            self.line(self.loops[-1].at_continue)
        elif isinstance(statement, If):
            self.line(f"if ({self.of(statement.condition)}) {{")
            self.inner(statement.body)
            self.write_else(statement.orelse)
            self.line("}")
        elif isinstance(statement, While):
            self.write_while(statement)
        elif isinstance(statement, For):
            self.write_for(statement)
        elif isinstance(statement, Once):
            self.write_once(statement)
        else:
            raise TypeError(statement)

    def write_else(self, body: Sequence[Statement]) -> None:
        """Write the `else` branch; if it is a single `if`, as ``else if``."""
        if len(body) == 1 and isinstance(body[0], If):
            before, condition = shortened(*self.with_lines(body[0].condition))
            if not before:
                self.line(f"}} else if ({condition}) {{")
                self.inner(body[0].body)
                self.write_else(body[0].orelse)
            else:
                self.line("} else {")
                self.lines += before
                self.indent += 1
                self.line(f"if ({condition}) {{")
                self.inner(body[0].body)
                self.write_else(body[0].orelse)
                self.line("}")
                self.indent -= 1
        elif body:
            self.line("} else {")
            self.inner(body)

    def return_status(self, status: str) -> str:
        """The statement that passes a status on: to the `except` around it, else to the caller."""
        if not self.tries:
            return f"return {status};"
        handler = self.tries[-1]
        return f"{{ {self.local[handler.name]} = (int64_t)({status}) - {NUMBERED}; goto {handler.label}; }}"

    def write_try(self, statement: Try) -> None:
        """Write a ``try``: a status in its range goes to the handler, any other to the caller."""
        caught, end = self.new("caught"), self.new("end")
        self.tries.append(Handler(statement.name, caught))
        begin = len(self.lines)
        self.block(statement.body)
        self.tries.pop()
        if not any(f"goto {caught};" in line for line in self.lines[begin:]):
            return
        number = self.local[statement.name]
        self.line(f"goto {end};")
        self.line(f"{caught}:;")
        self.line(f"if ({number} < {statement.lowest} || {number} > {statement.highest}) {{")
        self.indent += 1
        self.line(self.return_status(f"(int32_t)({number} + {NUMBERED})"))
        self.indent -= 1
        self.line("}")
        self.block(statement.handler)
        self.line(f"{end}:;")

    def write_return(self, value: Expression | None) -> None:
        """Write the return of a result; in a function that may raise, the status 0 is returned."""
        raises, result = self.function.raises, self.function.result
        if value is None or result is NOTHING:
            self.line("return 0;" if raises else "return;")
            return
        text = self.at_top(value)
        if raises:
            self.line(f"*result = {text};")
            self.line("return 0;")
        else:
            self.line(f"return {text};")

    def assign(self, name: str, value: Expression, is_declared: bool) -> None:
        """Write an assignment, which also declares the name or does not."""
        kind = self.function.variables[name]
        text = self.at_top(value)
        declared = f"{self.types[kind]} " if is_declared else ""
        self.line(f"{declared}{self.local[name]} = {self.converted(value.type, kind, text)};")

    def evaluate_for_effect(self, value: Expression) -> None:
        """Compute a value that nothing reads, if it has an effect."""
        if not self.is_pure(value):
            text = self.at_top(value)
            if text and not text.isidentifier():
                self.line(f"{text};" if value.type is NOTHING else f"(void){bracketed(text)};")
            elif text:
                self.line(f"(void){text};")

    def end_of(self, orelse: Sequence[Statement], body: Sequence[Statement]) -> str:
        """The label behind a loop; empty unless a break has to jump over its `else`."""
        if orelse and has_break(tuple(body)):
            return self.new("end")
        return ""

    def write_end_of_loop(self, orelse: Sequence[Statement], end: str) -> None:
        """Write the `else` of a loop, and the label behind it."""
        self.block(orelse)
        if end:
            self.line(f"{end}:;")

    def write_while(self, statement: While) -> None:
        """Write a loop with a condition."""
        end = self.end_of(statement.orelse, statement.body)
        before, condition = shortened(*self.with_lines(statement.condition))
        if before:
            self.line("while (true) {")
            self.lines += before
            self.indent += 1
            self.line(f"if (!({condition})) break;")
            self.indent -= 1
        else:
            self.line(f"while ({condition}) {{")
        self.loops.append(Jumps(f"goto {end};" if end else "break;", "continue;"))
        self.inner(statement.body)
        self.loops.pop()
        self.line("}")
        self.write_end_of_loop(statement.orelse, end)

    def write_for(self, statement: For) -> None:
        """Write a loop over whole numbers."""
        end = self.end_of(statement.orelse, statement.body)
        first, last, step = self.in_order([statement.first, statement.last, statement.step])
        kind = self.function.variables[statement.name]
        is_own = id(statement) in self.declares.by and kind == statement.first.type
        i = self.local[statement.name] if is_own else self.new("i")
        start = f"int64_t {i} = {first}"
        if isinstance(statement.last, Constant):
            n = last
        else:
            n = self.new("n")
            start += f", {n} = {last}"
        if isinstance(statement.step, Constant):
            condition, by = f"{i} {'<' if statement.step.value > 0 else '>'} {n}", step
        else:
            by = self.new("by")
            condition = f"{by} > 0 ? {i} < {n} : {by} < 0 && {i} > {n}"
            start += f", {by} = {step}"
        advance = {"1": f"{i}++", "(-1)": f"{i}--"}.get(by, f"{i} += {by}")
        self.line(f"for ({start}; {condition}; {advance}) {{")
        if not is_own and statement.name in self.declares.read:
            declared = f"{self.types[kind]} " if id(statement) in self.declares.by else ""
            self.indent += 1
            value = self.converted(statement.first.type, kind, i)
            self.line(f"{declared}{self.local[statement.name]} = {value};")
            self.indent -= 1
        self.loops.append(Jumps(f"goto {end};" if end else "break;", "continue;"))
        self.inner(statement.body)
        self.loops.pop()
        self.line("}")
        self.write_end_of_loop(statement.orelse, end)

    def write_once(self, statement: Once) -> None:
        """Write the turns of a written-out loop; break and continue are jumps to labels."""
        end = self.new("end")
        for body in statement.turns:
            next_turn = self.new("next")
            self.loops.append(Jumps(f"goto {end};", f"goto {next_turn};"))
            begin = len(self.lines)
            self.block(body)
            self.loops.pop()
            if any(f"goto {next_turn};" in line for line in self.lines[begin:]):
                self.line(f"{next_turn}:;")
        self.block(statement.orelse)
        if any(f"goto {end};" in line for line in self.lines):
            self.line(f"{end}:;")


def _in_lines(kind: str, names: Sequence[str]) -> list[str]:
    """Declarations of names of one type, as many in a line as fit."""
    lines, line = [], ""
    stars = "*" if kind.endswith("* ") else ""
    for name in names:
        if line and len(line) + len(name) > WIDTH:
            lines.append(f"{line};")
            line = ""
        line = f"{line}, {stars}{name}" if line else f"    {kind}{name}"
    return [*lines, f"{line};"]
