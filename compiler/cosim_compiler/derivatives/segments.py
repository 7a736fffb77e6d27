"""Segments of a recorded function: what they put on the tape, and the lines of the reverse function for them.

A segment is a run of statements without a branch between them: if one of them is executed, all are. So the
room on the tape is checked once for all of them, and one number on the tape, behind what the segment has put
there, says which segment it was. By this number the reverse function finds the lines that undo the segment. A
branch, a loop and a call end a segment.

What is written for the statement ``z = x * y`` as the second segment, where both factors vary:

    the recording function                      the reverse function
    if _at + 3 > len(tape): … raise             _top -= 2
    tape[_at + 0] = y                           _b2 = _z_0_bar
    tape[_at + 1] = x                           _z_0_bar = 0.0
    z = x * y                                   if _b2 != 0.0:
    tape[_at + 2] = 2.0                             _x_0_bar += product(tape[_top + 0], _b2)
    _at += 3                                        _y_0_bar += product(tape[_top + 1], _b2)

``_at`` is the first free place of the tape; ``_top`` is where the segment begins that is undone. A *bar*
(``_x_0_bar``) is the adjoint of a local name. Adjoints of the elements of a view lie in another array, the
*root* of the view.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from cosim_compiler.derivatives import rates
from cosim_compiler.derivatives.function_writer import FunctionWriter
from cosim_compiler.derivatives.reverse_parts import NameLeaf, Place, Rate, Segment, Slope, Spread, slope_of
from cosim_compiler.derivatives.tangent_text import is_number
from cosim_compiler.derivatives.tangent_values import (
    Dual,
    Tangents,
    Varying,
    leaf_kinds,
    leaves,
    tangent_leaves,
    varies,
)
from cosim_compiler.errors import FullTapeError
from cosim_compiler.language import typed_form as form
from cosim_compiler.language.typed_form import Expression, Function, is_pure
from cosim_compiler.language.types import REAL, Type

STORE_TOP = "tape[0] = _at * 1.0"
"""The line of the recording function that says how much of the tape is used."""
Target = NameLeaf | Place | str
"""Where the adjoint of an assigned real lies; that of a result is a text."""


class SegmentWriter(FunctionWriter):
    """The part of `recording_writer.RecordingWriter` that writes segments.

    Parameters
    ----------
    writer : AdjointWriter
    function, arguments, names, result
        As of `FunctionWriter`.
    before : SegmentWriter, optional
        The writer that has written the same function before: it knows the roots of views, and whether
        segments need numbers. A function is written again until none of this changes.

    Attributes
    ----------
    roots : dict of (str, str) to str
        The root of each view among the local names, by the name and the place of the leaf.
    result_roots : dict of str to str
        The root of each view in the result, by the place of the leaf.
    is_straight : bool
        Whether each segment is always executed once, in the order of the text: then they need no numbers.
    has_numbers : bool
        Whether segments put their number on the tape.
    parameter_roots, local_roots
        The roots of views among the parameters; those of arrays that the function makes, with their texts.
    returned : list of str
        Names of the adjoints of the reals among the parameters.
    bars : dict of str to None
        Names of adjoints in the reverse function, in the order of their first use.
    segments : list of Segment
        The segments that have ended.
    open : Segment or None
        The segment to which statements are added.
    """

    def __init__(
        self,
        writer: Any,
        function: Function,
        arguments: Varying,
        names: dict[str, Varying],
        result: Varying,
        before: Any,
    ) -> None:
        super().__init__(writer, function, arguments, names, result)
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
        self._depth = 0  # of blocks around the present statement
        self._bars_read = 0  # numbers the names of adjoints that are read
        self._singular = False  # whether a slope of the product that is written may be infinite

    def has_views_as(self, other: SegmentWriter) -> bool:
        """Whether another writing has found the same roots of views, and the same order of segments."""
        facts = (self.roots, self.result_roots, self.is_straight)
        return facts == (other.roots, other.result_roots, other.is_straight)

    def check_room(self, size: int) -> list[str]:
        """The lines that raise an error if the tape has no room for so many numbers."""
        full = self.writer.names.name(FullTapeError, "error")
        return [f"if _at + {size} > len(tape):", "    tape[1] = 1.0", f"    raise {full}()"]

    # segments

    def segment(self) -> Segment:
        """The open segment; a new one keeps its first line free, for the check of the room on the tape."""
        if self.open is None:
            self.emit("pass")
            self.open = Segment(len(self._lines) - 1, self._indent)
        return self.open

    @contextmanager
    def indented(self) -> Iterator[None]:
        """A block, whose segments may be executed or not."""
        self._depth += 1
        with super().indented():
            yield
            self.flush()
        self._depth -= 1

    def condition(self, node: Expression) -> str:
        """The condition of a branch, computed in the segment that ends with it."""
        text = self.held(self.value(node))
        self.flush()
        return text

    def flush(self) -> None:
        """End the open segment: write the check of the room, and its number on the tape."""
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
        self._lines[segment.line] = "\n".join(margin + line for line in self.check_room(size))
        if self.has_numbers:
            self.emit(f"tape[_at + {segment.count}] = {float(len(self.segments))!r}")
        self.emit(f"_at += {size}")

    def pushed(self, text: str) -> str:
        """The text of a number in the reverse function: a constant, or its place on the tape."""
        stripped = text.strip("()")
        if is_number(stripped) and "inf" not in stripped and "nan" not in stripped:
            return repr(float(stripped))
        return f"tape[_top + {self._place_on_tape(text, text)}]"

    def _place_on_tape(self, key: str, text: str) -> int:
        """Put a number on the tape, unless the open segment has put it there; its place in the segment."""
        segment = self.segment()
        is_new = key not in segment.pushed
        place = segment.push(key)
        if is_new:
            self.emit(f"tape[_at + {place}] = {text}")
        return place

    def target(self, leaf: NameLeaf | Place) -> str:
        """The text of the place of an adjoint in the reverse function."""
        if isinstance(leaf, NameLeaf):
            self.bars.setdefault(leaf.name)
            return leaf.name
        if not leaf.base:
            return f"{leaf.root}[{leaf.shift}]"
        place = self._place_on_tape(leaf.base, f"{leaf.base} * 1.0")
        name = f"_o{len(self.segments)}_{place}"
        self.segment().read.setdefault(name, f"int(tape[_top + {place}])")
        return f"{leaf.root}[{name}{f' + {leaf.shift}' if leaf.shift else ''}]"

    def assign_bars(self, targets: Sequence[tuple[Target, Slope | None]]) -> None:
        """Write how the adjoints of assigned reals go on to the reals that their values are computed from.

        The reverse function reads the adjoints of all targets before it adds to any adjoint, since the
        right-hand side may read a target. Before the assignment a target has the adjoint 0; that of a result
        stays.
        """
        reads: list[str] = []
        additions: list[str] = []
        for leaf, slope in targets:
            target = leaf if isinstance(leaf, str) else self.target(leaf)
            self._bars_read += 1
            name = f"_b{self._bars_read}"
            reads.append(f"{name} = {target}")
            if not isinstance(leaf, str):
                reads.append(f"{target} = 0.0")
            lines = [] if slope is None else self._contributions(slope, name)
            if lines:
                additions += [f"if {name} != 0.0:", *(f"    {line}" for line in lines)]
        self.segment().steps.append(reads + additions)

    def _contributions(self, slope: Slope, name: str) -> list[str]:
        """The lines that add its part of the adjoint `name` to each leaf."""
        lines = []
        for leaf, weight in self._weights(slope, "1.0", False):
            factor, into = self.pushed(weight), self.target(leaf)
            if factor == "1.0":
                lines.append(f"{into} += {name}")
            elif factor == "-1.0":
                lines.append(f"{into} -= {name}")
            elif is_number(factor):
                lines.append(f"{into} += {factor} * {name}")
            else:
                product = self.writer.names.name(rates.product, "product")
                lines.append(f"{into} += {product}({factor}, {name})")
        return lines

    def _weights(self, slope: Slope, weight: str, singular: bool) -> list[tuple[NameLeaf | Place, str]]:
        """Each leaf that a value is computed from, and the text of the derivative of the value by it.

        `weight` is the product of the derivatives up to this node. `singular` says whether one of them may be
        infinite: then products are written so that zero times infinity is zero.
        """
        if not isinstance(slope, Spread):
            return [(slope, weight)]
        weight = self.held_weight(weight)
        weights = []
        singular = singular or slope.is_singular
        for child, weight_of in slope.children:
            self._singular = singular  # for `times`, which `weight_of` calls
            weights += self._weights(child, weight_of(weight), singular)
        return weights

    def held_weight(self, text: str) -> str:
        """A name for a weight, so that it is computed once for all leaves; a number stays."""
        return text if is_number(text.strip("()")) else self.held(text)

    def times(self, weight: str, factor: str) -> str:
        """The text of the product of a weight and a factor."""
        if weight == "1.0":
            return factor
        if factor == "1.0":
            return weight
        if self._singular:
            return f"{self.writer.names.name(rates.product, 'product')}({weight}, {factor})"
        return f"({weight} * {factor})"

    # names

    def bar(self, name: str, place: str) -> str:
        """The name of the adjoint of a leaf of a local name."""
        return f"_{self.identifier(name)}_{place}_bar"

    def result_bar(self, place: str) -> str:
        """The name of the adjoint of a leaf of the result."""
        return f"_back_{place}"

    def at_name(self, name: str, place: str) -> str:
        """The name of the place in its root at which a view begins."""
        return f"_{self.identifier(name)}_{place}_at"

    def set_tangents(self, name: str, varying: Varying, tangents: Tangents, kind: Type) -> None:
        """Assign tangents to a local name: reals get adjoints, views a root and a place in it."""
        kinds = dict(leaf_kinds(kind))
        parts = dict(tangent_leaves(tangents))
        reals: list[tuple[Target, Slope | None]] = []
        views = []
        for place, is_on in leaves(varying):
            if not is_on:
                continue
            value = parts.get(place)
            slope = slope_of(value) if value else None
            if kinds.get(place, REAL) is REAL:
                reals.append((NameLeaf(self.bar(name, place)), slope))
            elif isinstance(slope, Place):
                views.append((place, slope))
        if reals:
            self.assign_bars(reals)
        for place, begin in views:
            root = self.roots.get((name, place), begin.root) or begin.root
            if begin.root not in ("", root):
                raise self.refuse(f"{name} is a part of two different arrays")
            self.roots[name, place] = root
            self.emit(f"{self.at_name(name, place)} = {begin.text}")
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
        """Expressions, computed one after the other: calls in later ones do not change earlier values."""
        pairs: list[Dual] = []
        for i, node in enumerate(nodes):
            text, tangents = self.dual(node)
            if any(not is_pure(later) for later in nodes[i + 1 :]):
                text, tangents = self.materialized(text, tangents, node.type)
            pairs.append((text, tangents))
        return pairs

    def materialized(self, text: str, tangents: Tangents, kind: Type) -> Dual:
        """A value under a name that is assigned once; the adjoints of its reals have names, too."""
        if not varies(tangents):
            return self.held(text), tangents
        name = self.new()
        rates_held = self.held_tangents(tangents)
        kinds = dict(leaf_kinds(kind))
        reals: list[tuple[Target, Slope | None]] = []

        def with_bars(part: Tangents, place: str) -> Tangents:
            if isinstance(part, tuple):
                return tuple(with_bars(item, f"{place}_{i}") for i, item in enumerate(part))
            if part is None or kinds[place] is not REAL:
                return part
            leaf = NameLeaf(f"{name}_{place}_bar")
            reals.append((leaf, slope_of(part)))
            return [Rate(part[0], leaf)]

        adjoints = with_bars(rates_held, "0")
        if reals:
            self.assign_bars(reals)
        self.emit(f"{name} = {text}")
        return name, adjoints

    def variable(self, node: form.Variable) -> Dual:
        """A local name; each leaf that varies has an adjoint with a name, or a place in a root."""
        text, tangents = super().variable(node)
        kinds = dict(leaf_kinds(node.type))

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
