"""Numbers and tuples as C: constants, operators, branches, functions of `math`."""

from __future__ import annotations

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.builtins import OF_C_LIBRARY, OF_PROCESSOR, TO_WHOLE
from cosim_compiler.language.typed_form import Expression, is_pure
from cosim_compiler.language.types import REAL, TRUTH, WHOLE, Number, Tuple, Type, View
from cosim_compiler.printers.c_lines import shortened
from cosim_compiler.printers.c_names import NUMBERS, real, whole
from cosim_compiler.printers.c_order import OrderedWriter, bracketed

RANK = {
    "or": 1, "and": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7,
    "+": 9, "-": 9, "*": 10, "/": 10,
}  # fmt: skip
"""How strongly an operator of C binds."""
TERM = 20
"""The rank of what needs no brackets: above that of any operator."""
OF_FUNCTIONS: dict[tuple[str, Type], str] = {
    ("%", REAL): "real_rest", ("//", REAL): "real_quotient", ("%", WHOLE): "rest", ("//", WHOLE): "quotient",
    ("<<", WHOLE): "shifted_left", (">>", WHOLE): "shifted_right",
}  # fmt: skip
EXTREMES: dict[tuple[str, Type], str] = {
    ("min", REAL): "least",
    ("max", REAL): "greatest",
    ("min", WHOLE): "least_whole",
    ("max", WHOLE): "greatest_whole",
}
SIGNS = {"and": "&&", "or": "||"}


class ArithmeticWriter(OrderedWriter):
    """Writes expressions of numbers and tuples."""

    def rank(self, node: Expression) -> int:
        """The precedence of the outermost operator of an expression."""
        if isinstance(node, (form.Binary, form.Compare)):
            is_function = (node.operator, node.left.type) in OF_FUNCTIONS
            return TERM if is_function else RANK[node.operator]
        if isinstance(node, form.Logic):
            return RANK[node.operator]
        return self.rank(node.body) if isinstance(node, form.Let) else TERM

    def operands(self, node: form.Binary | form.Compare | form.Logic) -> tuple[str, str]:
        """Both operands, in brackets unless it is well known which operator binds stronger."""
        left, right = self.in_order([node.left, node.right])
        rank = RANK[node.operator]
        is_arithmetic = node.operator in "+-*/"
        if self.rank(node.left) < rank or (not is_arithmetic and self.rank(node.left) < TERM):
            left = bracketed(left)
        if self.rank(node.right) <= rank or (not is_arithmetic and self.rank(node.right) < TERM):
            right = bracketed(right)
        return left, right

    def _constant(self, node: form.Constant) -> str:
        if node.type is REAL:
            return real(node.value)
        return ("true" if node.value else "false") if node.type is TRUTH else whole(node.value)

    def _variable(self, node: form.Variable) -> str:
        return self.converted(self.function.variables[node.name], node.type, self.local[node.name])

    def _let(self, node: form.Let) -> str:
        self.assign(node.name, node.value, id(node) in self.declares.by)
        return self.of(node.body)

    def _unary(self, node: form.Unary) -> str:
        text = bracketed(self.of(node.operand))
        return f"{'!' if node.operator == 'not' else node.operator}{text}"

    def _binary(self, node: form.Binary) -> str:
        function = OF_FUNCTIONS.get((node.operator, node.type))
        if function is not None:
            return f"{function}({', '.join(self.in_order([node.left, node.right]))})"
        left, right = self.operands(node)
        return f"{left} {node.operator} {right}"

    def _compare(self, node: form.Compare) -> str:
        left, right = self.operands(node)
        return f"{left} {node.operator} {right}"

    def _logic(self, node: form.Logic) -> str:
        hoisted, right = self.with_lines(node.right)
        left = self.of(node.left)
        before, right = shortened(hoisted, right)
        if not before:
            if self.rank(node.left) < TERM and not isinstance(node.left, form.Compare):
                left = left if self._is_chain(node, node.left) else bracketed(left)
            if self.rank(node.right) < TERM and not isinstance(node.right, form.Compare):
                right = bracketed(right)
            text = f"{left} {SIGNS[node.operator]} {right}"
            return self.named(TRUTH, text) if hoisted else text
        name = self.named(TRUTH, left)
        self.line(f"if ({'' if node.operator == 'and' else '!'}{name}) {{")
        self.lines += before
        self.line(f"    {name} = {right};")
        self.line("}")
        return name

    @staticmethod
    def _is_chain(node: form.Logic, left: Expression) -> bool:
        return isinstance(left, form.Logic) and left.operator == node.operator

    def _choice(self, node: form.Choice) -> str:
        condition = self.of(node.condition)
        hoisted_yes, yes = self.with_lines(node.yes)
        hoisted_no, no = self.with_lines(node.no)
        (before_yes, yes), (before_no, no) = shortened(hoisted_yes, yes), shortened(hoisted_no, no)
        if not before_yes and not before_no:
            text = f"({condition} ? {yes} : {no})"
            return self.named(node.type, text) if hoisted_yes or hoisted_no else text
        name = self.new("value")
        self.line(f"{self.types[node.type]} {name};")
        self.line(f"if ({condition}) {{")
        self.lines += before_yes
        self.line(f"    {name} = {yes};")
        self.line("} else {")
        self.lines += before_no
        self.line(f"    {name} = {no};")
        self.line("}")
        return name

    def _mathematics(self, node: form.Mathematics) -> str:
        name, kind = node.name, node.arguments[0].type
        arguments = self.in_order(node.arguments)
        if name in ("frexp", "modf"):
            return self._in_two(node, arguments[0])
        if name == "ldexp":
            return f"ldexp({arguments[0]}, (int)least_whole(greatest_whole({arguments[1]}, -4096), 4096))"
        called = EXTREMES.get((name, kind), "whole_abs" if name == "abs" else name)
        assert called != name or name in (*OF_C_LIBRARY, *OF_PROCESSOR, *TO_WHOLE, "rint") or name[:2] == "is"
        text = f"{called}({', '.join(arguments)})"
        return f"({text} != 0)" if node.type is TRUTH else text

    def _in_two(self, node: form.Mathematics, argument: str) -> str:
        """A function with two results, the second of which it writes to an address."""
        name = self.new("second")
        self.line(f"{'int' if node.name == 'frexp' else 'double'} {name} = 0;")
        first = self.named(REAL, f"{node.name}({argument}, &{name})")
        return f"({self.types[node.type]}){{{first}, {name}}}"

    def _convert(self, node: form.Convert) -> str:
        return self.converted(node.operand.type, node.type, self.of(node.operand))

    def converted(self, kind: Type, wanted: Type, text: str) -> str:
        """A value as one of another type."""
        if kind == wanted:
            return text
        if isinstance(kind, Tuple) and isinstance(wanted, Tuple):
            held = self.named(kind, text)
            kinds = enumerate(zip(kind.items, wanted.items, strict=True))
            items = [self.converted(item_kind, to, f"{held}._{i}") for i, (item_kind, to) in kinds]
            return f"({self.types[wanted]}){{{', '.join(items)}}}"
        if isinstance(wanted, View):  # of a shape that is not known here
            return text
        if wanted is TRUTH:
            return f"({text} != 0)"
        if kind is REAL:
            return f"whole({text})"
        return f"({NUMBERS[wanted]}){bracketed(text)}" if isinstance(wanted, Number) else text

    def _maketuple(self, node: form.MakeTuple) -> str:
        return f"({self.types[node.type]}){{{', '.join(self.in_order(node.items)) or '0'}}}"

    def _item(self, node: form.Item) -> str:
        if isinstance(node.tuple, form.MakeTuple) and all(map(is_pure, node.tuple.items)):
            return bracketed(self.of(node.tuple.items[node.index]))
        return f"{self.of(node.tuple)}._{node.index}"

    def _pick(self, node: form.Pick) -> str:
        assert isinstance(node.tuple.type, Tuple)
        count = len(node.tuple.type.items)
        value, index = self.in_order([node.tuple, node.index])
        held = value if isinstance(node.tuple, form.Variable) else self.named(node.tuple.type, value)
        items = ", ".join(f"{held}._{i}" for i in range(count))
        return f"((const {self.types[node.type]}[]){{{items}}})[from_end({index}, {count})]"
