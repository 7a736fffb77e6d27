"""Random programs of the kernel language.

Each has a helper of numbers, a helper of a view, and a function ``kernel(x, t, n, m, a, k, w)`` of reals,
whole numbers, views of reals and of whole numbers, and a table. Programs avoid what Python and the language
define differently: whole numbers of more than 64 bits, and a ``-0`` that is whole in one of them and real in
the other.
"""

from __future__ import annotations

import random

SIZE = 4
"""Length of the views, and rows of the table, which has three columns."""
HELPERS = """
def helper(u, w):
    if w > 40:
        raise OverflowError("too much")
    if w > 3:
        return u, u * 0.5
    return u + w, -u


def total(v, by):
    s = 0.0
    for i, y in enumerate(v):
        s += y * (i + 1)
        if s > 50.0:
            break
    else:
        s -= 1.0
    if len(v) > 1:
        v[-1] = s * by
    return s
"""
REALS = ("0.0", "-0.0", "1.0", "-2.0", "0.5", "1e300", "-1e-310", "3.0", "2.5", "1e9")
WHOLES = ("0", "1", "-1", "2", "7", "-4", "63", "64", "-9", "4611686018427387904", "1000003")
UNARY = (
    "math.sin",
    "math.cos",
    "math.tanh",
    "math.atan",
    "abs",
    "-",
    "math.fabs",
    "math.expm1",
    "math.erf",
)
FUNCTIONS = "from cosim_compiler.functions import *\n"
TABLES = """\
    q, s, u = zeros((3, 3)), zeros((3, 3)), zeros(3)
    for row in range(3):
        u[row] = t - row
        for column in range(3):
            q[row, column] = a[row] * x + column
"""
PRINTER_NAMES = ("i_", "n_", "value_", "held_", "k_", "end_")


class Writer:
    """Writes one random program; lists the names that are known at the present place by their kinds."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.reals, self.wholes, self.tuples = ["x", "t"], ["n", "m"], []
        self.count = 0
        self.depth_of_loops = 0

    def program(self) -> str:
        body = self.block(3, 1)
        result = self.real(2)
        head = f"import math\n{FUNCTIONS}\n{HELPERS}\n\ndef kernel(x, t, n, m, a, k, w):\n{TABLES}"
        return f"{head}{body}    return {result}\n"

    def pick(self, *choices: str) -> str:
        return self.draw.choice(choices)

    def new_name(self, kind: str) -> str:
        """A new name; some look like those that printers give to intermediate values."""
        self.count += 1
        return (
            f"{self.pick(*PRINTER_NAMES)}{self.count}" if self.draw.random() < 0.15 else f"{kind}{self.count}"
        )

    # expressions

    def index(self, size: int = SIZE) -> str:
        """An index within the bounds."""
        if self.draw.random() < 0.5:
            return str(self.draw.randrange(-size, size))
        return f"({self.pick(*self.wholes)}) % {size}"

    def real(self, depth: int) -> str:
        chance = self.draw.random()
        if depth <= 0 or chance < 0.2:
            return self.leaf()
        a, b = self.real(depth - 1), self.real(depth - 1)
        if chance < 0.5:
            return f"({a} {self.pick('+', '-', '*')} {b})"
        if chance < 0.58:
            return f"({a} {self.pick('/', '%', '//')} {b})"
        if chance < 0.68:
            return f"{self.pick(*UNARY)}({a})"
        if chance < 0.72:
            return f"math.sqrt(abs({a}))"
        if chance < 0.8:
            return f"{self.pick('min', 'max')}({a}, {b}{', ' + self.leaf() if chance < 0.74 else ''})"
        if chance < 0.86:
            return f"({a} if {self.condition(depth - 1)} else {b})"
        if chance < 0.92:
            return f"helper({a}, {self.whole(depth - 1)})[{self.index(2)}]"
        if chance < 0.94 and self.depth_of_loops == 0:
            return f"total({self.view_slice()}, {a})"
        if chance < 0.96:
            return f"({a}, {b}, {self.leaf()})[{self.index(3)}]"
        if chance < 0.98:
            return self.function_call(a, b)
        return f"math.copysign({a}, {b})"

    def function_call(self, a: str, b: str) -> str:
        """A call of a function with a name of NumPy that returns a number."""
        vector = self.pick("u", "q[1]", "s[2]", "a[1:4]")
        return self.pick(
            f"clip({a}, {b}, {self.leaf()})",
            f"sign({a})",
            f"where({self.condition(1)}, {a}, {b})",
            f"interp({a}, (-1.0, 0.0, 0.5, 2.0), {self.pick('a', f'({b}, {a}, 1.0, {self.leaf()})')})",
            f"norm({vector})",
            f"{self.pick('min', 'max')}({vector})",
            f"dot({vector}, {self.pick('u', 'a[:3]', 'q[-1]')})",
        )

    def table_statement(self) -> str:
        """A statement that changes a table or a vector."""
        return self.pick(
            f"q[{self.index(3)}, {self.index(3)}] = {self.real(1)}",
            f"s[{self.index(3)}, {self.index(3)}] += {self.real(1)}",
            f"u[{self.index(3)}] -= {self.real(1)}",
            "matmul(q, q, s)",
            "matmul(q, a[1:4], u)",
            "matmul(a[:3], s, u)",
            "transpose(q, s)",
            "solve(q, a[0:3], u)",
            "solve(q, q, s)",
        )

    def leaf(self) -> str:
        chance = self.draw.random()
        if chance < 0.4:
            return self.pick(*self.reals)
        if chance < 0.57:
            return f"a[{self.index()}]"
        if chance < 0.6:
            return f"{self.pick(f'q[{self.index(3)}, ', 'u[', 's[1][')}{self.index(3)}]"
        if chance < 0.75:
            return self.pick(*REALS)
        if chance < 0.9:
            return f"float({self.pick(*self.wholes)})"
        return f"{self.pick(*self.tuples)}[{self.index(3)}]" if self.tuples else "0.25"

    def whole(self, depth: int) -> str:
        chance = self.draw.random()
        if depth <= 0 or chance < 0.3:
            return self.pick(
                *self.wholes,
                f"k[{self.index()}]",
                self.pick(*WHOLES),
                "len(a)",
                f"w[{self.index()}, {self.index(3)}]",
            )
        a, b = self.whole(depth - 1), self.whole(depth - 1)
        if chance < 0.6:
            return f"(({a} + 0 * n) {self.pick('+', '-', '*', '&', '|', '^')} {b})"  # 64 bits in Python, too
        if chance < 0.75:
            return f"({a} {self.pick('//', '%')} {b})"
        if chance < 0.82:
            return f"(({a} + 0 * n) {self.pick('<<', '>>')} {b})"
        if chance < 0.88:
            return f"({a} if {self.condition(depth - 1)} else {b})"
        if chance < 0.92:
            return f"{self.pick('-', '~', 'abs')}({a})"
        if chance < 0.96:
            return f"{self.pick('min', 'max')}({a}, {b})"
        rounded = self.pick("math.floor", "int", "round", "math.ceil")
        return f"{rounded}(max(min({self.real(depth - 1)}, 1e9), -1e9))"

    def condition(self, depth: int) -> str:
        chance = self.draw.random()
        sign = self.pick("<", "<=", ">", ">=", "==", "!=")
        if chance < 0.4:
            return f"{self.real(depth - 1)} {sign} {self.real(depth - 1)}"
        if chance < 0.65:
            return f"{self.whole(depth - 1)} {sign} {self.whole(depth - 1)}"
        if chance < 0.7:
            return f"{self.real(depth - 1)} < {self.real(depth - 1)} <= {self.leaf()}"
        if chance < 0.75:
            return f"{self.whole(depth - 1)} {self.pick('in', 'not in')} (0, 3, -4)"
        if chance < 0.88 and depth > 0:
            return f"({self.condition(depth - 1)} {self.pick('and', 'or')} {self.condition(depth - 1)})"
        if chance < 0.92:
            return f"math.{self.pick('isfinite', 'isnan', 'isinf')}({self.real(depth - 1)})"
        if chance < 0.95:
            return f"(a[0], n) {self.pick('==', '!=')} ({self.leaf()}, {self.pick(*self.wholes)})"
        return f"(not ({self.condition(depth - 1)}))" if depth > 0 else "n > 2"

    def view_slice(self) -> str:
        ends = [self.pick("", str(self.draw.randrange(-6, 7)), self.pick(*self.wholes)) for _ in range(2)]
        return f"a[{ends[0]}:{ends[1]}]"

    # statements

    def block(self, depth: int, indent: int) -> str:
        return "".join(self.statement(depth, indent) for _ in range(self.draw.randrange(1, 4)))

    def inner_block(self, depth: int, indent: int) -> str:
        """A block; its new names are not known after it."""
        known_names = list(self.reals), list(self.wholes), list(self.tuples)
        text = self.block(depth - 1, indent + 1)
        self.reals, self.wholes, self.tuples = known_names
        return text

    def statement(self, depth: int, indent: int) -> str:
        pad = "    " * indent
        chance = self.draw.random()
        if chance < 0.14:
            text = self.real(3)
            name = self.new_name("v")
            self.reals.append(name)
            return f"{pad}{name} = {text}\n"
        if chance < 0.2:
            text = self.whole(3)
            name = self.new_name("j")
            self.wholes.append(name)
            return f"{pad}{name} = {text}\n"
        if chance < 0.25:
            text = f"({self.real(2)}, {self.real(1)}, {self.leaf()})"
            if self.draw.random() < 0.3:
                text = f"helper({self.real(1)}, {self.whole(1)}) + ({self.leaf()},)"
            name = self.new_name("p")
            self.tuples.append(name)
            return f"{pad}{name} = {text}\n"
        if chance < 0.4:
            return f"{pad}a[{self.index()}] {self.pick('=', '+=', '*=', '-=')} {self.real(2)}\n"
        if chance < 0.46:
            return f"{pad}k[{self.index()}] {self.pick('=', '+=', '^=')} {self.whole(2)}\n"
        if chance < 0.48:
            return f"{pad}w[{self.index()}, {self.index(3)}] = {self.whole(2)}\n"
        if chance < 0.51:
            return f"{pad}{self.table_statement()}\n"
        if chance < 0.53:
            return f"{pad}a[0], a[1] = {self.real(1)}, a[0]\n"
        if chance < 0.57:
            return (
                f"{pad}x, t = {self.pick('t, x', f'helper({self.leaf()}, {self.whole(1)})', 't + 1.0, t')}\n"
            )
        if chance < 0.6:
            return f"{pad}total({self.view_slice()}, {self.leaf()})\n"
        if chance < 0.64:
            return f"{pad}if {self.condition(2)}:\n{pad}    {self.jump_statement()}\n"
        if chance < 0.66:
            name = self.new_name("z")
            texts = [f"{pad}{name} = {self.whole(1)}\n", f"{pad}k[{self.index()}] = {name}\n"]
            texts += [f"{pad}{name} = ({self.leaf()}, 1)\n", f"{pad}a[{self.index()}] = {name}[0]\n"]
            return "".join(texts)  # one name for values of two kinds
        if chance < 0.7:
            name = self.new_name("u")
            texts = [f"{pad}if {self.condition(1)}:\n{pad}    {name} = {self.draw.randrange(1, 9)}\n"]
            texts += [
                f"{pad}else:\n{pad}    {name} = {self.real(1)}\n",
                f"{pad}a[{self.index()}] += {name} * 0.5\n",
            ]
            return "".join(texts)
        if depth <= 0:
            return f"{pad}x = {self.real(2)}\n"
        if chance < 0.84:
            orelse = f"{pad}else:\n{self.inner_block(depth, indent)}" if self.draw.random() < 0.6 else ""
            return f"{pad}if {self.condition(2)}:\n{self.inner_block(depth, indent)}{orelse}"
        return self.loop(depth, indent)

    def jump_statement(self) -> str:
        """A statement that ends a turn, a loop or the function."""
        if self.depth_of_loops and self.draw.random() < 0.6:
            return self.pick("break", "continue")
        if self.draw.random() < 0.3:
            return f"raise {self.pick('ValueError', 'ArithmeticError')}('no')"
        return f"return {self.real(1)}"

    def loop(self, depth: int, indent: int) -> str:
        pad = "    " * indent
        known_names = list(self.reals), list(self.wholes)
        kind = self.draw.randrange(5)
        before = ""
        if kind == 0:
            name = self.new_name("i")
            bounds = self.pick("3", "1, 4", "5, -1, -2", "0", f"{self.pick(*self.wholes)} % 5")
            head = f"for {name} in range({bounds}):"
            self.wholes.append(name)
        elif kind == 1:
            name = self.new_name("e")
            source = self.pick(
                f"({self.leaf()}, {self.leaf()})", "a", self.view_slice(), f"({self.leaf()}, 2)"
            )
            head = f"for {name} in {source}:"
            if "2)" not in source:
                self.reals.append(name)
        elif kind == 2:
            index, name = self.new_name("i"), self.new_name("e")
            source = self.pick("a", "a[1:]", f"({self.leaf()}, {self.leaf()})")
            head = f"for {index}, {name} in enumerate({source}):"
            self.wholes.append(index)
            self.reals.append(name)
        elif kind == 3:
            first, second = self.new_name("e"), self.new_name("i")
            head = f"for {first}, {second} in zip({self.pick('a', 'a[1:3]')}, {self.pick('k', 'k[2:]')}):"
            self.reals.append(first)
            self.wholes.append(second)
        else:
            name = self.new_name("c")
            before = f"{pad}{name} = 0\n"
            head = f"while {name} < {self.draw.randrange(1, 4)}:\n{pad}    {name} += 1"
            self.wholes.append(name)
        self.depth_of_loops += 1
        body = self.inner_block(depth, indent)
        self.depth_of_loops -= 1
        self.reals, self.wholes = known_names
        orelse = f"{pad}else:\n{self.inner_block(depth, indent)}" if self.draw.random() < 0.2 else ""
        return f"{before}{pad}{head}\n{body}{orelse}"


def random_program(seed: int) -> str:
    """The text of the program of a seed."""
    return Writer(seed).program()
