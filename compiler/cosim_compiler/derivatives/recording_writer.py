"""Writing the two functions of an adjoint: one that records on a tape, and one that goes back along it.

The recording function is the tangent along one direction, and also puts on a tape by how much each real that
is assigned changes with the reals that it is made of, and where in a view these lie. The reverse function reads
the tape from its end. It needs no values and takes no branch of its own: statements without a branch between
them are a segment, whose number stands behind what it has put on the tape.

The direction decides where both sides of an ``==`` are equal: as in a tangent, numbers that move apart along it
count as different.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cosim_compiler.derivatives import operator_rates, rates
from cosim_compiler.derivatives.expression_writer import _is_number, _leaf_kinds, has_reals, varies_any
from cosim_compiler.derivatives.function_writer import FunctionWriter, _leaves_turn
from cosim_compiler.derivatives.own_tangents import FOLLOWED_AS, RECORDED, WITH_VALUES, own_tangent
from cosim_compiler.derivatives.reverse_parts import NameLeaf, Place, Rate, Segment, Slope, Spread
from cosim_compiler.derivatives.tangent_values import (
    NO_TANGENT,
    Tangents,
    Varying,
    joined,
    leaves,
    of_leaves,
    varies,
    varying_of,
)
from cosim_compiler.errors import FullTapeError
from cosim_compiler.language import typed_form as form
from cosim_compiler.language.typed_form import Expression, Function, Statement, is_pure
from cosim_compiler.language.types import NOTHING, REAL, WHOLE, Number, Record, RecordRows, Tuple, Type, View
from cosim_compiler.record import width_of

HEAD = 2
"""The tape begins with how much of it is used, and whether it was full."""
STORE_TOP = "tape[0] = _at * 1.0"
Dual = tuple[str, Tangents]


class RecordingWriter(FunctionWriter):
    """Writes both functions of one adjoint.

    Parameters
    ----------
    writer : AdjointWriter
    function : Function
    given : Varying
    known, result
        As of `FunctionWriter`.
    before : RecordingWriter, optional
        The writing before: it knows the roots of views, and whether segments need numbers.

    Attributes
    ----------
    roots : dict of (str, str) to str
        Of each view among the local names the root in which its adjoints lie.
    result_roots : dict of str to str
        Of each view in the result.
    is_straight : bool
        Whether all segments are always passed once, in their order.
    """

    def __init__(
        self,
        writer: Any,
        function: Function,
        given: Varying,
        known: dict[str, Varying],
        result: Varying,
        before: RecordingWriter | None,
    ) -> None:
        super().__init__(writer, function, given, known, result)
        self.roots: dict[tuple[str, str], str] = dict(before.roots) if before else {}
        self.result_roots: dict[str, str] = dict(before.result_roots) if before else {}
        self.is_straight = before.is_straight if before else True
        self.has_numbers = not self.is_straight
        self.parameter_roots: list[str] = []
        self.returned: list[str] = []
        self.bars: dict[str, None] = {}
        self.local_roots: dict[str, str] = {}
        self.segments: list[Segment] = []
        self.open: Segment | None = None
        self._depth = 0
        self._reads = 0

    # the functions

    def write(self) -> list[str]:
        function = self.function
        given = self.given if isinstance(self.given, tuple) else ()
        places: list[str] = []
        for (name, kind), varying in zip(function.parameters, given, strict=True):
            kinds = dict(_leaf_kinds(function.variables.get(name, kind)))
            for place, is_on in leaves(varying):
                if not is_on:
                    continue
                if kinds[place] is REAL:
                    self.returned.append(self.bar(name, place))
                else:
                    self.roots[name, place] = f"root_{len(self.parameter_roots)}"
                    self.parameter_roots.append(self.roots[name, place])
                    places.append(self.at_name(name, place))
        self.emit("")  # where the first line goes
        head = len(self._lines) - 1
        super().write()
        self.parameters += places
        if self.is_silent:
            del self._lines[head]
            self._lines = [line for line in self._lines if line.strip() != STORE_TOP]
        else:
            self.parameters.append("tape")
            self._lines[head] = "    _at = int(tape[0])"
            if not form.ends(function.body):
                at = -1 if self._lines[-1] == "    return" else len(self._lines)
                self._lines.insert(at, f"    {STORE_TOP}")
            if self.has_numbers:
                self._lines[head] += self._pushed_number(0, 1)
        return self._lines

    @property
    def is_silent(self) -> bool:
        """Whether nothing goes back: no segment has a step."""
        return not self.segments

    def _pushed_number(self, number: int, size: int) -> str:
        lines = [*self._checked(size), f"tape[_at] = {float(number)!r}", f"_at += {size}"]
        return "".join(f"\n    {line}" for line in lines)

    def _checked(self, size: int) -> list[str]:
        full = self.writer.names.name(FullTapeError, "error")
        return [f"if _at + {size} > len(tape):", "    tape[1] = 1.0", f"    raise {full}()"]

    def reverse(self, name: str) -> list[str]:
        """The text of the reverse function."""
        results = [
            self.result_bar(place)
            for place, on in leaves(self.result)
            if on and place not in self.result_roots
        ]
        lines = [f"def {name}({', '.join([*self.parameter_roots, *results, 'tape'])}):"]
        passed = {*results}
        lines += [f"    {bar} = 0.0" for bar in self.bars if bar not in passed]
        lines += [f"    {bar} = 0.0" for bar in self.returned if bar not in self.bars]
        lines += [f"    {root} = {text}" for root, text in self.local_roots.items()]
        lines.append("    _top = int(tape[0])")
        if self.has_numbers:
            lines += ["    while True:", "        _top -= 1", "        _number = int(tape[_top])"]
            lines += ["        if _number == 0:", "            break"]
            for i, segment in enumerate(self.segments):
                lines.append(f"        {'el' if i else ''}if _number == {i + 1}:")
                body = segment.reverse_lines(False)
                lines += [f"            {line}" for line in body or ["pass"]]
        else:
            for segment in reversed(self.segments):
                lines += [f"    {line}" for line in segment.reverse_lines(False)]
        lines.append("    tape[0] = _top * 1.0")
        if self.returned:
            lines.append(f"    return {', '.join(self.returned)}")
        return lines

    # segments

    def segment(self) -> Segment:
        """The segment to which statements belong now."""
        if self.open is None:
            self.emit("pass")
            self.open = Segment(len(self._lines) - 1, self._indent)
        return self.open

    def flush(self) -> None:
        """The segment ends: a branch, or a call, comes."""
        segment, self.open = self.open, None
        if segment is None:
            return
        if self._depth:
            self.is_straight = False
        self.segments.append(segment)
        size = segment.count + self.has_numbers
        margin = "    " * segment.indent
        if not size:
            self._lines[segment.line] = f"{margin}pass"
            return
        self._lines[segment.line] = "\n".join(margin + line for line in self._checked(size))
        if self.has_numbers:
            self.emit(f"tape[_at + {segment.count}] = {float(len(self.segments))!r}")
        self.emit(f"_at += {size}")

    def pushed(self, text: str) -> str:
        """A number of this function, in the reverse one."""
        stripped = text.strip("()")
        if _is_number(stripped) and "inf" not in stripped and "nan" not in stripped:
            return repr(float(stripped))
        segment = self.segment()
        is_new = text not in segment.pushed
        k = segment.push(text)
        if is_new:
            self.emit(f"tape[_at + {k}] = {text}")
        return f"tape[_top + {k}]"

    def target(self, leaf: NameLeaf | Place) -> str:
        """Where an adjoint lies, in the reverse function."""
        if isinstance(leaf, NameLeaf):
            self.bars.setdefault(leaf.name)
            return leaf.name
        if not leaf.base:
            return f"{leaf.root}[{leaf.shift}]"
        segment = self.segment()
        is_new = leaf.base not in segment.pushed
        k = segment.push(leaf.base)
        if is_new:
            self.emit(f"tape[_at + {k}] = {leaf.base} * 1.0")
        name = f"_o{len(self.segments)}_{k}"
        segment.read.setdefault(name, f"int(tape[_top + {k}])")
        return f"{leaf.root}[{name}{f' + {leaf.shift}' if leaf.shift else ''}]"

    def assign_bars(self, targets: Sequence[tuple[NameLeaf | Place | str, Slope | None]]) -> None:
        """Reals get values: in the reverse function their adjoints go on to what these are made of.

        A target that is a text is an adjoint that stays, that of a result.
        """
        reads: list[str] = []
        spread: list[str] = []
        for leaf, slope in targets:
            into = leaf if isinstance(leaf, str) else self.target(leaf)
            self._reads += 1
            name = f"_b{self._reads}"
            reads.append(f"{name} = {into}")
            if not isinstance(leaf, str):
                reads.append(f"{into} = 0.0")
            lines = [] if slope is None else self._contributions(slope, name)
            if lines:
                spread += [f"if {name} != 0.0:", *(f"    {line}" for line in lines)]
        self.segment().steps.append(reads + spread)

    def _contributions(self, slope: Slope, name: str) -> list[str]:
        lines = []
        for leaf, weight in self._weights(slope, "1.0", False):
            factor, into = self.pushed(weight), self.target(leaf)
            if factor == "1.0":
                lines.append(f"{into} += {name}")
            elif factor == "-1.0":
                lines.append(f"{into} -= {name}")
            elif _is_number(factor):
                lines.append(f"{into} += {factor} * {name}")
            else:
                product = self.writer.names.name(rates.product, "product")
                lines.append(f"{into} += {product}({factor}, {name})")
        return lines

    def _weights(self, slope: Slope, weight: str, singular: bool) -> list[tuple[NameLeaf | Place, str]]:
        """By how much a value changes with each leaf that it is made of."""
        if not isinstance(slope, Spread):
            return [(slope, weight)]
        weight = self.held_weight(weight)
        found = []
        self._singular = singular = singular or slope.is_singular
        for child, of in slope.children:
            self._singular = singular
            found += self._weights(child, of(weight), singular)
        return found

    def held_weight(self, text: str) -> str:
        return text if _is_number(text.strip("()")) else self.held(text)

    def times(self, weight: str, factor: str) -> str:
        """The text of a product of a weight."""
        if weight == "1.0":
            return factor
        if factor == "1.0":
            return weight
        if self._singular:
            return f"{self.writer.names.name(rates.product, 'product')}({weight}, {factor})"
        return f"({weight} * {factor})"

    _singular = False

    # names

    def bar(self, name: str, place: str) -> str:
        """What the adjoint of a part of a local name is called."""
        return f"_{self.identifier(name)}_{place}_bar"

    def result_bar(self, place: str) -> str:
        """What the adjoint of a part of the result is called."""
        return f"_back_{place}"

    def at_name(self, name: str, place: str) -> str:
        """The name of where a view begins in its root."""
        return f"_{self.identifier(name)}_{place}_at"

    def set_tangents(self, name: str, varying: Varying, tangents: Tangents, kind: Type) -> None:
        kinds = dict(_leaf_kinds(kind))
        parts = dict(of_leaves(tangents))
        reals: list[tuple[NameLeaf | Place | str, Slope | None]] = []
        views = []
        for place, is_on in leaves(varying):
            if not is_on:
                continue
            value = parts.get(place)
            slope = value[0].slope if value else None  # type: ignore[attr-defined]
            if kinds.get(place, REAL) is REAL:
                reals.append((NameLeaf(self.bar(name, place)), slope))
            elif isinstance(slope, Place):
                views.append((place, slope))
        if reals:
            self.assign_bars(reals)
        for place, where in views:
            known = self.roots.get((name, place), where.root)
            if known == "":
                known = where.root
            if where.root not in ("", known):
                raise self.refuse(f"{name} is a part of two different arrays")
            self.roots[name, place] = known
            self.emit(f"{self.at_name(name, place)} = {where.text}")
            if self.open is not None:
                self.open.forget(self.at_name(name, place))
        if self.open is not None:
            self.open.forget(self.identifier(name))
        super().set_tangents(name, varying, tangents, kind)

    # expressions

    def held_tangents(self, tangents: Tangents) -> Tangents:
        if isinstance(tangents, tuple):
            return tuple(map(self.held_tangents, tangents))
        return None if tangents is None else [Rate(self.held(t), t.slope) for t in tangents]  # type: ignore[attr-defined]

    def duals(self, nodes: Sequence[Expression]) -> list[Dual]:
        pairs: list[Dual] = []
        for i, node in enumerate(nodes):
            text, tangents = self.dual(node)
            if any(not is_pure(later) for later in nodes[i + 1 :]):
                text, tangents = self.materialized(text, tangents, node.type)
            pairs.append((text, tangents))
        return pairs

    def materialized(self, text: str, tangents: Tangents, kind: Type) -> Dual:
        """A value under a name that nothing assigns again."""
        if not varies(tangents):
            return self.held(text), tangents
        name = self.new()
        rates_held = self.held_tangents(tangents)
        kinds = dict(_leaf_kinds(kind))
        reals: list[tuple[NameLeaf | Place | str, Slope | None]] = []

        def with_bars(part: Tangents, place: str) -> Tangents:
            if isinstance(part, tuple):
                return tuple(with_bars(item, f"{place}_{i}") for i, item in enumerate(part))
            if part is None or kinds[place] is not REAL:
                return part
            leaf = NameLeaf(f"{name}_{place}_bar")
            reals.append((leaf, part[0].slope))  # type: ignore[attr-defined]
            return [Rate(part[0], leaf)]

        made = with_bars(rates_held, "0")
        if reals:
            self.assign_bars(reals)
        self.emit(f"{name} = {text}")
        return name, made

    def variable(self, node: form.Variable) -> Dual:
        text, tangents = super().variable(node)
        kinds = dict(_leaf_kinds(node.type))

        def with_slopes(part: Tangents, place: str) -> Tangents:
            if isinstance(part, tuple):
                return tuple(with_slopes(item, f"{place}_{i}") for i, item in enumerate(part))
            if part is None:
                return None
            if kinds.get(place, REAL) is REAL:
                return [Rate(part[0], NameLeaf(self.bar(node.name, place)))]
            root = self.roots.get((node.name, place), "")
            return [Rate(part[0], Place(root, self.at_name(node.name, place)))]

        return text, with_slopes(tangents, "0")

    def _counted(self, index: Expression, text: str, owner: str, axis: int) -> str:
        """The place of an element: a negative index counts from the end."""
        if isinstance(index, form.Constant) and index.value >= 0:
            return str(index.value)
        return f"({text} if {text} >= 0 else {text} + {owner}.shape[{axis}])"

    def _moved(self, place: Place, by: str) -> Place:
        """A place so many numbers further."""
        if by.isdigit():
            return place.plus(int(by))
        name = self.new()
        self.emit(f"{name} = {f'{place.base} + ' if place.base else ''}{by}")
        return Place(place.root, name, place.shift)

    def _element_place(self, node: form.Element, owner: str, place: Place, texts: list[str]) -> Place:
        at = self._counted(node.indices[0], texts[0], owner, 0)
        if len(texts) == 2:
            column = self._counted(node.indices[1], texts[1], owner, 1)
            place = self._moved(place, column)
            at = "0" if at == "0" else f"{at} * {owner}.shape[1]"
        return self._moved(place, at)

    def element(self, node: form.Element) -> Dual:
        (owner, owners), *indices = self.duals([node.view, *node.indices])
        texts = [self.held(text) for text, _ in indices]
        at = ", ".join(texts)
        if not isinstance(owners, list):
            return f"{owner}[{at}]", NO_TANGENT
        owner = self.held(owner)
        place = self._element_place(node, owner, owners[0].slope, texts)  # type: ignore[attr-defined]
        return f"{owner}[{at}]", [Rate(f"{owners[0]}[{at}]", place)]

    def section(self, node: form.Section) -> Dual:
        ends = [end for end in (node.first, node.last) if end is not None]
        (owner, owners), *pairs = self.duals([node.view, *ends])
        texts = [self.held(text) for text, _ in pairs]
        first = texts.pop(0) if node.first is not None else ""
        last = texts.pop(0) if node.last is not None else ""
        if not isinstance(owners, list):
            return f"{owner}[{first}:{last}]", NO_TANGENT
        owner = self.held(owner)
        place: Place = owners[0].slope  # type: ignore[attr-defined]
        if first:
            bound = self.writer.names.name(rates.start_of_part, "start_of_part")
            is_first = isinstance(node.first, form.Constant) and node.first.value == 0
            place = place if is_first else self._moved(place, f"{bound}({first}, len({owner}))")
        return f"{owner}[{first}:{last}]", [Rate(f"{owners[0]}[{first}:{last}]", place)]

    def row(self, node: form.Row | form.RecordAt) -> Dual:
        owner_node = node.view if isinstance(node, form.Row) else node.rows
        (owner, owners), (index, _) = self.duals([owner_node, node.index])
        at = self.held(index)
        if not isinstance(owners, list):
            return f"{owner}[{at}]", NO_TANGENT
        owner = self.held(owner)
        if isinstance(node, form.Row):
            size, by = f"{owner}.shape[1]", self._counted(node.index, at, owner, 0)
        else:
            assert isinstance(node.type, Record)
            size = str(width_of(node.type.of))
            by = str(node.index.value) if isinstance(node.index, form.Constant) else at
            if not by.isdigit():
                by = f"({at} if {at} >= 0 else {at} + len({owner}))"
        offset = str(int(by) * int(size)) if by.isdigit() and size.isdigit() else f"{by} * {size}"
        place = self._moved(owners[0].slope, offset)  # type: ignore[attr-defined]
        return f"{owner}[{at}]", [Rate(f"{owners[0]}[{at}]", place)]

    def field(self, node: form.Field) -> Dual:
        (text, tangents), (_, owners) = self._field_of(node)
        if not isinstance(tangents, list):
            return text, NO_TANGENT
        place: Place = owners[0].slope  # type: ignore[attr-defined,index]
        return text, [Rate(tangents[0], place.plus(node.offset // 8))]

    def _field_of(self, node: form.Field) -> tuple[Dual, Dual]:
        owner, owners = self.dual(node.record)
        if isinstance(owners, list) and isinstance(node.type, (View, RecordRows)):
            raise self.refuse(f"{node.name} lies outside the record that varies")
        whole = isinstance(node.type, Number) and node.type is not REAL
        tangents = [f"{owners[0]}.{node.name}"] if isinstance(owners, list) and not whole else NO_TANGENT
        return (f"{owner}.{node.name}", tangents), (owner, owners)

    def rows_in(self, node: form.RowsIn) -> Dual:
        (owner, owners), (first, _), (count, _) = self.duals([node.view, node.first, node.count])
        cls = self.pure.class_of_rows(node)
        first, count = self.held(first), self.held(count)
        text = f"rows_of({cls}, {owner}, {first}, {count})"
        is_whole = isinstance(node.type, View) and node.type.item is not REAL
        if is_whole or not isinstance(owners, list):
            return text, NO_TANGENT
        place = self._moved(owners[0].slope, first)  # type: ignore[attr-defined]
        return text, [Rate(f"rows_of({cls}, {owners[0]}, {first}, {count})", place)]

    def as_table(self, node: form.AsTable) -> Dual:
        (owner, owners), (rows, _), (columns, _) = self.duals([node.view, node.rows, node.columns])
        rows, columns = self.held(rows), self.held(columns)
        text = f"as_table({owner}, {rows}, {columns})"
        if not isinstance(owners, list):
            return text, NO_TANGENT
        return text, [Rate(f"as_table({owners[0]}, {rows}, {columns})", owners[0].slope)]  # type: ignore[attr-defined]

    def zeros(self, node: form.Zeros) -> Dual:
        text = self.pure.text(node)
        shape = form.view_type(node).shape
        assert shape is not None
        size = shape[0] * (shape[1] if len(shape) == 2 else 1)
        root = f"_zeros_{len(self.local_roots)}"
        self.local_roots[root] = f"zeros({size})"
        clear = self.writer.names.name(rates.clear, "clear")
        self.segment().steps.append([f"{clear}({root})"])
        return text, [Rate(text, Place(root))]

    def pick(self, node: form.Pick) -> Dual:
        (owner, owners), (index, _) = self.duals([node.tuple, node.index])
        at = self.held(index)
        text = f"{self.held(owner)}[{at}]"
        if not isinstance(owners, tuple):
            return text, NO_TANGENT
        texts = self._picked(owners, at)
        n = len(owners)

        def with_slopes(part: Tangents, items: tuple[Tangents, ...], kind: Type) -> Tangents:
            if isinstance(part, tuple):
                assert isinstance(kind, Tuple)
                return tuple(
                    with_slopes(
                        one,
                        tuple(item[i] if isinstance(item, tuple) else None for item in items),
                        kind.items[i],
                    )
                    for i, one in enumerate(part)
                )
            if part is None:
                return None
            if kind is not REAL:
                raise self.refuse("a view is picked out of a tuple by a number that is computed")
            children = tuple(
                (item[0].slope, lambda w, j=j: f"({w} if {at} == {j} or {at} == {j - n} else 0.0)")  # type: ignore[attr-defined,misc]
                for j, item in enumerate(items)
                if item is not None
            )
            return [Rate(part[0], Spread(children))]

        return text, with_slopes(texts, owners, node.type)

    def choice(self, node: form.Choice) -> Dual:
        condition = self.held(self.value(node.condition))
        self._choices += 1
        name = f"choice.{self._choices}"
        known = self.varying.get(name, False)
        self.flush()
        self.emit(f"if {condition}:")
        for branch in (node.yes, node.no):
            self._indent += 1
            self._depth += 1
            text, tangents = self.dual(branch)
            known = self.grow(name, varying_of(tangents), node.type)
            self.set_tangents(name, known, tangents, node.type)
            self.emit(f"{self.identifier(name)} = {text}")
            self.flush()
            self._depth -= 1
            self._indent -= 1
            if branch is node.yes:
                self.emit("else:")
        return self.variable(form.Variable(node.type, name))

    def logic(self, node: form.Logic) -> Dual:
        name = self.new()
        self.emit(f"{name} = {self.value(node.left)}")
        self.flush()
        self.emit(f"if {'' if node.operator == 'and' else 'not '}{name}:")
        self._indent += 1
        self._depth += 1
        self.emit(f"{name} = {self.value(node.right)}")
        self.flush()
        self._depth -= 1
        self._indent -= 1
        return name, NO_TANGENT

    def convert(self, node: form.Convert) -> Dual:
        if isinstance(node.type, Tuple):
            text, tangents = self.dual(node.operand)
            return self.pure.converted_tuple(self.held(text), node.operand.type, node.type), tangents
        return super().convert(node)

    def unary(self, node: form.Unary) -> Dual:
        text, tangents = self.dual(node.operand)
        space = " " if node.operator == "not" else ""
        value = f"({node.operator}{space}{text})"
        if node.type is not REAL or not isinstance(tangents, list):
            return value, NO_TANGENT
        slope = tangents[0].slope  # type: ignore[attr-defined]
        return value, [Rate(f"(-{tangents[0]})", Spread(((slope, _negated),)))]

    def binary(self, node: form.Binary) -> Dual:
        pairs = self.duals([node.left, node.right])
        if node.type is not REAL or not any(varies(t) for _, t in pairs):
            (left, _), (right, _) = pairs
            return f"({left} {node.operator} {right})", NO_TANGENT
        sign = node.operator
        (left, lefts), (right, rights) = [(self.held(v), self.held_tangents(t)) for v, t in pairs]
        value = f"({left} {sign} {right})"
        if sign == "/":
            value = self.held(value)
        elif sign in ("//", "%"):
            self.note(f"`{sign}` jumps: the tangent is that between two jumps")
        texts = operator_rates.of_operator(self, sign, value, (left, lefts), (right, rights))
        if not isinstance(texts, list):
            return value, NO_TANGENT
        children: list[tuple[Slope, Callable[[str], str]]] = []
        if isinstance(lefts, list):
            if sign == "*":
                rule = self._factor(right)
            else:
                rule = lambda w: self._rule(sign, value, (left, [w]), (right, None))  # noqa: E731
            children.append((lefts[0].slope, rule))  # type: ignore[attr-defined]
        if isinstance(rights, list):
            if sign == "*":
                rule = self._factor(left)
            elif sign == "-":
                rule = _negated
            else:
                rule = lambda w: self._rule(sign, value, (left, None), (right, [w]))  # noqa: E731
            children.append((rights[0].slope, rule))  # type: ignore[attr-defined]
        is_singular = sign == "/" and not _is_number(right)
        return value, [Rate(texts[0], Spread(tuple(children), is_singular))]

    def _factor(self, factor: str) -> Callable[[str], str]:
        return lambda w: self.times(w, factor)

    def _rule(self, sign: str, value: str, left: Any, right: Any) -> str:
        texts = operator_rates.of_operator(self, sign, value, left, right)
        assert isinstance(texts, list)
        return str(texts[0])

    def mathematics(self, node: form.Mathematics) -> Dual:
        pairs = self.duals(node.arguments)
        kind, name = node.type, node.name
        if not any(varies(t) for _, t in pairs) or (isinstance(kind, Number) and kind is not REAL):
            return self.pure.mathematics_text(node, [text for text, _ in pairs]), NO_TANGENT
        pairs = [(self.held(v), self.held_tangents(t)) for v, t in pairs]
        value = self.held(self.pure.mathematics_text(node, [text for text, _ in pairs]))
        found = operator_rates.of_mathematics(self, name, value, pairs)
        if found is None:
            return value, NO_TANGENT
        children = tuple(
            (tangents[0].slope, self._of_argument(name, value, pairs, i))  # type: ignore[attr-defined]
            for i, (_, tangents) in enumerate(pairs)
            if isinstance(tangents, list) and not (name == "copysign" and i)
        )
        spread = Spread(children, name in operator_rates.SLOPES or name == "pow")
        if isinstance(found, tuple):
            return value, tuple([Rate(item[0], spread)] if isinstance(item, list) else None for item in found)
        return value, [Rate(found[0], spread)]

    def _of_argument(self, name: str, value: str, pairs: list[Dual], i: int) -> Callable[[str], str]:
        """What goes on to one argument of a function."""
        if name in operator_rates.FACTORS:
            factor = operator_rates.FACTORS[name](pairs[0][0], value)
            return lambda w: self.times(w, self.held(factor))

        def rule(weight: str) -> str:
            given = [(text, [weight] if j == i else None) for j, (text, _) in enumerate(pairs)]
            found: Any = operator_rates.of_mathematics(self, name, value, given)  # type: ignore[arg-type]
            item = found[0]
            return str(item[0] if isinstance(item, list) else item)

        return rule

    # calls

    def call(self, node: form.Call) -> Dual:
        function = node.function
        pairs = [
            self.materialized(text, tangents, argument.type)
            if self._is_made(tangents, argument.type)
            else (text, tangents)
            for (text, tangents), argument in zip(self.duals(node.arguments), node.arguments, strict=True)
        ]
        texts = [text for text, _ in pairs]
        varying: Varying = tuple(varying_of(tangents) for _, tangents in pairs)
        author = self.writer.names.name(function.author, "function")
        if not varies_any(varying):
            call = f"{author}({', '.join(texts)})"
            return (call if function.result is NOTHING else self.held(call)), NO_TANGENT
        own = own_tangent(function.author)
        recorded = RECORDED.get(function.author)
        if own is not None and recorded is None:
            return self._call_scalar(own, author, node, pairs)
        followed = FOLLOWED_AS.get(function.author)
        value = ""
        if followed is not None:
            texts = [self.held(text) for text in texts]
            value = self.new()
            self.emit(f"{value} = {author}({', '.join(texts)})")
            function = self.writer.program.function(followed, tuple(a.type for a in node.arguments))
        known = self.writer.adjoint(function, varying)
        reals, views = self._arguments(pairs, node)
        behind = [str(x) for _, tangents in pairs for _, leaf in of_leaves(tangents) if leaf for x in leaf]
        given = [*texts, *behind, *(place.text for place in views)]
        results = [place for place, is_on in leaves(known.result) if is_on]
        head = self.new()
        names = {place: f"{head}_{place}_d" for place in results}
        places = {place: f"{head}_{place}_at" for place in known.result_roots}
        taken = ", ".join([head, *names.values(), *places.values()]) if results else ""
        prefix = f"{taken} = " if taken else (f"{head} = " if function.result is not NOTHING else "")
        if known.is_silent:
            self.emit(f"{prefix}{known.name}({', '.join(given)})")
        else:
            self.flush()
            self.emit(STORE_TOP)
            self.emit(f"{prefix}{known.name}({', '.join([*given, 'tape'])})")
            self.emit("_at = int(tape[0])")
        roots = {f"root_{i}": place.root for i, place in enumerate(views)}
        bars = {place: f"{head}_{place}_bar" for place in results if place not in places}
        if not known.is_silent:
            back = f"{known.reverse}({', '.join([*roots.values(), *bars.values(), 'tape'])})"
            self._go_back_by(back, [leaf for leaf, _ in reals], list(bars.values()))

        def slope_of(place: str) -> Slope:
            if place in places:
                return Place(roots[known.result_roots[place]], places[place])
            return NameLeaf(bars[place])

        def made(part: Varying, place: str) -> Tangents:
            if isinstance(part, tuple):
                return tuple(made(item, f"{place}_{i}") for i, item in enumerate(part))
            return [Rate(names[place], slope_of(place))] if part else NO_TANGENT

        if not results:
            return (value or (head if function.result is not NOTHING else "None")), NO_TANGENT
        return value or head, made(known.result, "0")

    def _is_made(self, tangents: Tangents, kind: Type) -> bool:
        """Whether some real of an argument is computed in its place, so its adjoint has no name yet."""
        kinds = dict(_leaf_kinds(kind))
        return any(
            leaf is not None and kinds[place] is REAL and not isinstance(leaf[0].slope, NameLeaf)  # type: ignore[attr-defined]
            for place, leaf in of_leaves(tangents)
        )

    def _arguments(
        self, pairs: list[Dual], node: form.Call
    ) -> tuple[list[tuple[NameLeaf, str]], list[Place]]:
        """The adjoints of the reals, and the places of the views, among the arguments that vary."""
        reals, views = [], []
        for (_, tangents), argument in zip(pairs, node.arguments, strict=True):
            kinds = dict(_leaf_kinds(argument.type))
            for place, leaf in of_leaves(tangents):
                if leaf is None:
                    continue
                slope = leaf[0].slope  # type: ignore[attr-defined]
                if kinds[place] is REAL:
                    assert isinstance(slope, NameLeaf)
                    self.bars.setdefault(slope.name)
                    reals.append((slope, place))
                else:
                    assert isinstance(slope, Place)
                    views.append(slope)
        return reals, views

    def _go_back_by(self, back: str, reals: list[NameLeaf], bars: list[str]) -> None:
        """A call was made: in the reverse function its own reverse is called."""
        for bar in bars:
            self.bars.setdefault(bar)
        returned = [f"_r{i}" for i in range(len(reals))]
        lines = ["tape[0] = _top * 1.0", f"{', '.join(returned)} = {back}" if returned else back]
        lines.append("_top = int(tape[0])")
        lines += [f"{bar} = 0.0" for bar in bars]
        lines += [f"{leaf.name} += {name}" for leaf, name in zip(reals, returned, strict=True)]
        self.segment().called = lines

    def _call_scalar(self, own: Any, author: str, node: form.Call, pairs: list[Dual]) -> Dual:
        """The tangent that an author has written, along each argument, is by how much the result changes."""
        kinds = [argument.type for argument in node.arguments]
        has_views = any(has_reals(kind) and isinstance(kind, View) for kind in kinds)
        if own.__dict__[WITH_VALUES] or node.function.result is not REAL or has_views:
            raise self.refuse(f"{node.function.author.__qualname__}: its author's tangent has no adjoint")
        pairs = [(self.held(text), self.held_tangents(tangents)) for text, tangents in pairs]
        text, tangents = super()._call_own(own, author, node, pairs)
        texts = [value for value, _ in pairs]
        name = self.writer.names.name(own, "own")
        children: list[tuple[Slope, Callable[[str], str]]] = []
        varying = [tangents for (_, tangents), kind in zip(pairs, kinds, strict=True) if has_reals(kind)]
        for i, argument in enumerate(varying):
            for place, leaf in of_leaves(argument):
                if leaf is None:
                    continue
                units = [
                    self._unit(kind, "0", place if j == i else "")
                    for j, kind in enumerate(filter(has_reals, kinds))
                ]
                partial = self.held(f"{name}({', '.join([*texts, *units])})")
                children.append((leaf[0].slope, self._factor(partial)))  # type: ignore[attr-defined]
        assert isinstance(tangents, list)
        return text, [Rate(tangents[0], Spread(tuple(children), True))]

    def _unit(self, kind: Type, place: str, wanted: str) -> str:
        """A direction along which one part of an argument moves."""
        if isinstance(kind, Tuple):
            items = (self._unit(item, f"{place}_{i}", wanted) for i, item in enumerate(kind.items))
            return f"({', '.join(items)},)"
        return "1.0" if place == wanted else "0.0"

    # statements

    def block(self, statements: Sequence[Statement]) -> None:
        super().block(statements)
        if statements is self.function.body:
            self.flush()

    def inner(self, statements: Sequence[Statement]) -> None:
        self._indent += 1
        self._depth += 1
        self.block(statements)
        self.flush()
        self._depth -= 1
        self._indent -= 1

    def store(self, node: form.Store) -> None:
        place = node.place
        if isinstance(place, form.Field):
            owner, owners = self.dual(place.record)
            target = f"{owner}.{place.name}"
            rate_target = f"{owners[0]}.{place.name}" if isinstance(owners, list) else ""
            where = owners[0].slope.plus(place.offset // 8) if isinstance(owners, list) else None  # type: ignore[attr-defined]
        else:
            owner, owners = self.dual(place.view)
            texts = [self.atom(index) for index in place.indices]
            at = ", ".join(texts)
            where = None
            rate_target = ""
            if isinstance(owners, list) and place.type is REAL:
                owner = self.held(owner)
                where = self._element_place(place, owner, owners[0].slope, texts)  # type: ignore[attr-defined]
                rate_target = f"{owners[0]}[{at}]"
            target = f"{owner}[{at}]"
        text, tangents = self.dual(node.value)
        if place.type is REAL:
            if where is not None:
                slope = tangents[0].slope if isinstance(tangents, list) else None  # type: ignore[attr-defined]
                text = self.held(text)
                rate = self.held(tangents[0]) if isinstance(tangents, list) else "0.0"
                self.assign_bars([(where, slope)])
                self.emit(f"{rate_target} = {rate}")
            elif isinstance(tangents, list):
                raise self.refuse("what varies is written where no tangent lies")
        self.emit(f"{target} = {text}")

    def end(self, node: form.Return) -> None:
        if node.value is None:
            self._leave()
            self.emit("return")
            return
        text, tangents = self.dual(node.value)
        self.result = joined(self.result, varying_of(tangents))
        kinds = dict(_leaf_kinds(node.value.type))
        parts = dict(of_leaves(tangents))
        reals: list[tuple[NameLeaf | Place | str, Slope | None]] = []
        places = {}
        for place, is_on in leaves(self.result):
            value = parts.get(place)
            if not is_on:
                continue
            slope = value[0].slope if value else None  # type: ignore[attr-defined]
            if kinds[place] is REAL:
                if slope is not None:
                    reals.append((self.result_bar(place), slope))
            elif isinstance(slope, Place):
                if slope.root in self.local_roots:
                    raise self.refuse("the result is a part of an array that ends with the function")
                known = self.result_roots.setdefault(place, slope.root) or slope.root
                if slope.root not in ("", known):
                    raise self.refuse("the result is a part of two different arrays")
                self.result_roots[place] = known
                places[place] = slope.text
        text = self.held(text) if reals and not isinstance(node.value.type, Tuple) else text
        rates_of = [v for _, value in self.filled(self.result, tangents, node.value.type) for v in value]
        if reals:
            self.assign_bars(reals)
        self._leave()
        behind = [places.get(place, "0") for place in self.result_roots]
        self.emit(f"return {', '.join([text, *rates_of, *behind])}")

    def _leave(self) -> None:
        """The function ends here."""
        self.flush()
        if self._depth:
            self.is_straight = False
        self.emit(STORE_TOP)

    def branch(self, node: form.If) -> None:
        condition = self.held(self.value(node.condition))
        self.flush()
        self.emit(f"if {condition}:")
        self.inner(node.body)
        if node.orelse:
            self.emit("else:")
            self.inner(node.orelse)

    def repeat(self, node: form.While) -> None:
        self.flush()
        if self.is_plain(node.condition):
            super().repeat(node)
            return
        if node.orelse:
            raise self.refuse("a while loop whose condition calls a function has an else")
        self.emit("while True:")
        self._indent += 1
        self._depth += 1
        condition = self.held(self.value(node.condition))
        self.flush()
        self.emit(f"if not {condition}:")
        self.emit("    break")
        self.block(node.body)
        self.flush()
        self._depth -= 1
        self._indent -= 1

    def count(self, node: form.For) -> None:
        bounds = ", ".join([self.value(x) for x in (node.first, node.last, node.step)])
        self.grow(node.name, False, WHOLE)
        self.flush()
        self.emit(f"for {self.identifier(node.name)} in range({bounds}):")
        self.inner(node.body)
        if node.orelse:
            self.emit("else:")
            self.inner(node.orelse)

    def fail(self, node: form.Raise) -> None:
        self.flush()
        super().fail(node)

    def leave(self, node: form.Break) -> None:
        self.flush()
        super().leave(node)

    def go_on(self, node: form.Continue) -> None:
        self.flush()
        super().go_on(node)

    def turns(self, node: form.Once) -> None:
        if any(map(_leaves_turn, node.turns)):
            self.flush()
            self._depth += 1
            super().turns(node)
            self._depth -= 1
            return
        super().turns(node)


def _negated(weight: str) -> str:
    if _is_number(weight.strip("()")):
        return f"({-float(weight.strip('()'))!r})"
    return f"(-{weight})"
