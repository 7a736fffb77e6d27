"""Recording calls of other functions: the reverse function calls their own reverse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from cosim_compiler.derivatives.own_tangents import LEAVES_FIXED, RECORDED, WITH_VALUES
from cosim_compiler.derivatives.recorded_operations import OperationRecorder
from cosim_compiler.derivatives.reverse_parts import (
    AdjointNames,
    NameLeaf,
    Place,
    Rate,
    Slope,
    Spread,
    slope_of,
)
from cosim_compiler.derivatives.segments import STORE_TOP
from cosim_compiler.derivatives.tangent_values import (
    NO_TANGENT,
    Dual,
    Tangents,
    Varying,
    has_reals,
    leaf_kinds,
    leaves,
    tangent_leaves,
)
from cosim_compiler.language import typed_form as form
from cosim_compiler.language.typed_form import Function
from cosim_compiler.language.types import NOTHING, REAL, Tuple, Type, View


class ResultNames(NamedTuple):
    """Names for what a recording function returns, by places of leaves.

    Attributes
    ----------
    value : str
        The name of the result.
    dots : dict of str to str
        The tangents of the leaves that vary.
    begins : dict of str to str
        For views among these, the place in its root at which each begins.
    bars : dict of str to str
        For reals among these, the adjoint in the reverse function.
    """

    value: str
    dots: dict[str, str]
    begins: dict[str, str]
    bars: dict[str, str]


class CallRecorder(OperationRecorder):
    """The part of the writer of an adjoint that records calls."""

    def call_arguments(self, node: form.Call) -> list[Dual]:
        """The arguments of a call; the adjoints of their reals have names."""
        return [
            self.materialized(text, tangents, argument.type)
            if self._has_unnamed_adjoint(tangents, argument.type)
            else (text, tangents)
            for (text, tangents), argument in zip(self.duals(node.arguments), node.arguments, strict=True)
        ]

    def uses_author_tangent(self, function: Function) -> bool:
        """Whether the author's tangent is called: not if the author has written an adjoint, too."""
        return function.author not in RECORDED

    def call_followed(
        self, function: Function, varying: Varying, node: form.Call, pairs: list[Dual], value: str
    ) -> Dual:
        """Call the recording function of a function, and in the reverse function its reverse.

        For their arguments and results see `AdjointWriter.adjoint`.
        """
        adjoint = self.writer.adjoint(function, varying)
        if function.author in RECORDED:
            pairs = [
                (text, self._with_reals(tangents, argument.type))
                for (text, tangents), argument in zip(pairs, node.arguments, strict=True)
            ]
        reals, views = self._argument_slopes(pairs, node)
        names = _result_names(self.new(), adjoint)
        has_value = function.result is not NOTHING
        targets = [names.value] * has_value
        if names.dots:
            targets = [names.value, *names.dots.values(), *names.begins.values()]
        self._emit_recording_call(adjoint, pairs, views, targets)
        if not adjoint.is_silent:
            arguments = [*(place.root for place in views), *names.bars.values(), "tape"]
            call = f"{adjoint.reverse}({', '.join(arguments)})"
            self._add_reverse_call(call, reals, list(names.bars.values()))
        if not names.dots:
            return (value or (names.value if has_value else "None")), NO_TANGENT
        # the callee calls the roots of its parameters root_0, root_1 …: here they are those of the arguments
        roots = {f"root_{i}": place.root for i, place in enumerate(views)}
        slopes: dict[str, Slope] = {
            place: Place(roots[adjoint.result_roots[place]], names.begins[place])
            if place in names.begins
            else NameLeaf(names.bars[place])
            for place in names.dots
        }
        return value or names.value, _tangents_of_result(adjoint.result, "0", names.dots, slopes)

    def _emit_recording_call(
        self, adjoint: AdjointNames, pairs: list[Dual], views: list[Place], targets: list[str]
    ) -> None:
        """Emit the call of a recording function; if it records something, it takes the tape."""
        dots = [str(x) for _, tangents in pairs for _, leaf in tangent_leaves(tangents) if leaf for x in leaf]
        arguments = [*(text for text, _ in pairs), *dots, *(place.text for place in views)]
        assignment = f"{', '.join(targets)} = " if targets else ""
        if adjoint.is_silent:
            self.emit(f"{assignment}{adjoint.record}({', '.join(arguments)})")
            return
        self.flush()
        self.emit(STORE_TOP)
        self.emit(f"{assignment}{adjoint.record}({', '.join([*arguments, 'tape'])})")
        self.emit("_at = int(tape[0])")

    def _with_reals(self, tangents: Tangents, kind: Type) -> Tangents:
        """The tangents of an argument; zeros for reals that do not vary, as an author's adjoint needs."""
        if isinstance(kind, Tuple):
            parts = tangents if isinstance(tangents, tuple) else (None,) * len(kind.items)
            return tuple(map(self._with_reals, parts, kind.items))
        if kind is not REAL or tangents is not None:
            return tangents
        return [Rate("0.0", NameLeaf(f"{self.new()}_bar"))]

    def _has_unnamed_adjoint(self, tangents: Tangents, kind: Type) -> bool:
        """Whether an argument contains a real whose adjoint has no name: a local real has one."""
        kinds = dict(leaf_kinds(kind))
        return any(
            leaf is not None and kinds[place] is REAL and not isinstance(slope_of(leaf), NameLeaf)
            for place, leaf in tangent_leaves(tangents)
        )

    def _argument_slopes(self, pairs: list[Dual], node: form.Call) -> tuple[list[NameLeaf], list[Place]]:
        """The adjoints of the reals, and the places of the views, among the arguments that vary."""
        reals, views = [], []
        for (_, tangents), argument in zip(pairs, node.arguments, strict=True):
            kinds = dict(leaf_kinds(argument.type))
            for place, leaf in tangent_leaves(tangents):
                if leaf is None:
                    continue
                slope = slope_of(leaf)
                if kinds[place] is REAL:
                    assert isinstance(slope, NameLeaf)
                    self.bars.setdefault(slope.name)
                    reals.append(slope)
                else:
                    assert isinstance(slope, Place)
                    views.append(slope)
        return reals, views

    def _add_reverse_call(self, call: str, reals: list[NameLeaf], bars: list[str]) -> None:
        """Add the call of a reverse function to the segment that follows the recording call."""
        for bar in bars:
            self.bars.setdefault(bar)
        returned = [f"_r{i}" for i in range(len(reals))]
        lines = ["tape[0] = _top * 1.0", f"{', '.join(returned)} = {call}" if returned else call]
        lines.append("_top = int(tape[0])")
        lines += [f"{bar} = 0.0" for bar in bars]
        lines += [f"{leaf.name} += {name}" for leaf, name in zip(reals, returned, strict=True)]
        self.segment().called = lines

    def call_own(self, own: Any, function: str, node: form.Call, pairs: list[Dual]) -> Dual:
        """Call a function and its author's tangent; along each argument, that is the slope of the result."""
        kinds = [argument.type for argument in node.arguments]
        has_views = any(has_reals(kind) and isinstance(kind, View) for kind in kinds)
        if not (has_views or has_reals(node.function.result) or node.function.result is NOTHING):
            return super().call_own(own, function, node, pairs)[0], NO_TANGENT  # the result does not vary
        if own.__dict__[LEAVES_FIXED]:
            return super().call_own(own, function, node, pairs)
        if own.__dict__[WITH_VALUES] or node.function.result is not REAL or has_views:
            raise self.refuse(f"{node.function.author.__qualname__}: its author's tangent has no adjoint")
        pairs = [(self.held(text), self.held_tangents(tangents)) for text, tangents in pairs]
        text, tangents = super().call_own(own, function, node, pairs)
        texts = [value for value, _ in pairs]
        name = self.writer.names.name(own, "own")
        children: list[tuple[Slope, Callable[[str], str]]] = []
        varying = [tangents for (_, tangents), kind in zip(pairs, kinds, strict=True) if has_reals(kind)]
        for i, argument in enumerate(varying):
            for place, leaf in tangent_leaves(argument):
                if leaf is None:
                    continue
                direction = [
                    self._unit_direction(kind, "0", place if j == i else "")
                    for j, kind in enumerate(filter(has_reals, kinds))
                ]
                partial = self.held(f"{name}({', '.join([*texts, *direction])})")
                children.append((slope_of(leaf), self.times_factor(partial)))
        assert isinstance(tangents, list)
        return text, [Rate(tangents[0], Spread(tuple(children), True))]

    def _unit_direction(self, kind: Type, place: str, wanted: str) -> str:
        """The tangent of an argument along which its leaf at the place `wanted` moves alone, by 1."""
        if isinstance(kind, Tuple):
            items = (self._unit_direction(item, f"{place}_{i}", wanted) for i, item in enumerate(kind.items))
            return f"({', '.join(items)},)"
        return "1.0" if place == wanted else "0.0"


def _result_names(value: str, adjoint: AdjointNames) -> ResultNames:
    """Names for the result of a recording function; all of them begin with `value`."""
    places = [place for place, is_on in leaves(adjoint.result) if is_on]
    return ResultNames(
        value,
        dots={place: f"{value}_{place}_d" for place in places},
        begins={place: f"{value}_{place}_at" for place in adjoint.result_roots},
        bars={place: f"{value}_{place}_bar" for place in places if place not in adjoint.result_roots},
    )


def _tangents_of_result(
    varying: Varying, place: str, dots: dict[str, str], slopes: dict[str, Slope]
) -> Tangents:
    """The tangents of a result, with the slope of each leaf that varies."""
    if isinstance(varying, tuple):
        return tuple(
            _tangents_of_result(item, f"{place}_{i}", dots, slopes) for i, item in enumerate(varying)
        )
    return [Rate(dots[place], slopes[place])] if varying else NO_TANGENT
