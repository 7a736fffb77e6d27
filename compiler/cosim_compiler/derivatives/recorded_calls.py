"""Recording calls of other functions, which are gone back over by their own reverse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cosim_compiler.derivatives.own_tangents import LEAVES_FIXED, RECORDED, WITH_VALUES
from cosim_compiler.derivatives.recorded_operations import OperationRecorder
from cosim_compiler.derivatives.reverse_parts import NameLeaf, Place, Rate, Slope, Spread, slope_of
from cosim_compiler.derivatives.segments import STORE_TOP, Dual
from cosim_compiler.derivatives.tangent_values import (
    NO_TANGENT,
    Tangents,
    Varying,
    has_reals,
    leaf_kinds,
    leaves,
    of_leaves,
)
from cosim_compiler.language import typed_form as form
from cosim_compiler.language.typed_form import Function
from cosim_compiler.language.types import NOTHING, REAL, Tuple, Type, View


class CallRecorder(OperationRecorder):
    """The part of the writer of an adjoint that records calls."""

    def call_arguments(self, node: form.Call) -> list[Dual]:
        """The arguments of a call; the adjoints of their reals have names."""
        return [
            self.materialized(text, tangents, argument.type)
            if self._is_made(tangents, argument.type)
            else (text, tangents)
            for (text, tangents), argument in zip(self.duals(node.arguments), node.arguments, strict=True)
        ]

    def uses_author_tangent(self, function: Function) -> bool:
        """Whether the tangent that an author has written is called: not where its author records it."""
        return function.author not in RECORDED

    def call_followed(
        self, function: Function, varying: Varying, node: form.Call, pairs: list[Dual], value: str
    ) -> Dual:
        """Call the recording function; going back, its own reverse is called.

        The recording function returns the value, then the tangents of what varies of it, then where the
        adjoints of views in it are. Its reverse takes the roots of the views among the arguments and the
        adjoints of the reals in the result, and returns the adjoints of the reals among the arguments.
        """
        adjoint = self.writer.adjoint(function, varying)
        if function.author in RECORDED:
            pairs = [
                (text, self._with_reals(tangents, argument.type))
                for (text, tangents), argument in zip(pairs, node.arguments, strict=True)
            ]
        reals, views = self._arguments(pairs, node)
        results = [place for place, is_on in leaves(adjoint.result) if is_on]
        head = self.new()
        names = {place: f"{head}_{place}_d" for place in results}
        places = {place: f"{head}_{place}_at" for place in adjoint.result_roots}
        has_value = function.result is not NOTHING
        targets = [head, *names.values(), *places.values()] if results else [head] * has_value
        self._emit_recording_call(adjoint, pairs, views, targets)
        bars = {place: f"{head}_{place}_bar" for place in results if place not in places}
        if not adjoint.is_silent:
            back_arguments = [*(place.root for place in views), *bars.values(), "tape"]
            back = f"{adjoint.reverse}({', '.join(back_arguments)})"
            self._call_reverse(back, [leaf for leaf, _ in reals], list(bars.values()))
        if not results:
            return (value or (head if has_value else "None")), NO_TANGENT
        # the callee calls the views among its parameters root_0, root_1 …: here they are the arguments'
        roots = {f"root_{i}": place.root for i, place in enumerate(views)}
        adjoints: dict[str, Slope] = {
            place: Place(roots[adjoint.result_roots[place]], places[place])
            if place in places
            else NameLeaf(bars[place])
            for place in results
        }
        return value or head, _tangents_of_result(adjoint.result, "0", names, adjoints)

    def _emit_recording_call(
        self, adjoint: Any, pairs: list[Dual], views: list[Place], targets: list[str]
    ) -> None:
        """Emit the call; one that records something takes the tape, and leaves it longer."""
        tangents = [str(x) for _, part in pairs for _, leaf in of_leaves(part) if leaf for x in leaf]
        arguments = [*(text for text, _ in pairs), *tangents, *(place.text for place in views)]
        assignment = f"{', '.join(targets)} = " if targets else ""
        if adjoint.is_silent:
            self.emit(f"{assignment}{adjoint.record}({', '.join(arguments)})")
            return
        self.flush()
        self.emit(STORE_TOP)
        self.emit(f"{assignment}{adjoint.record}({', '.join([*arguments, 'tape'])})")
        self.emit("_at = int(tape[0])")

    def _with_reals(self, tangents: Tangents, kind: Type) -> Tangents:
        """The tangents of an argument, with zeros for reals that do not vary: an author's recording asks."""
        if isinstance(kind, Tuple):
            parts = tangents if isinstance(tangents, tuple) else (None,) * len(kind.items)
            return tuple(map(self._with_reals, parts, kind.items))
        if kind is not REAL or tangents is not None:
            return tangents
        return [Rate("0.0", NameLeaf(f"{self.new()}_bar"))]

    def _is_made(self, tangents: Tangents, kind: Type) -> bool:
        """Whether some real of an argument is computed in its place, so its adjoint has no name yet."""
        kinds = dict(leaf_kinds(kind))
        return any(
            leaf is not None and kinds[place] is REAL and not isinstance(slope_of(leaf), NameLeaf)
            for place, leaf in of_leaves(tangents)
        )

    def _arguments(
        self, pairs: list[Dual], node: form.Call
    ) -> tuple[list[tuple[NameLeaf, str]], list[Place]]:
        """The adjoints of the reals, and the places of the views, among the arguments that vary."""
        reals, views = [], []
        for (_, tangents), argument in zip(pairs, node.arguments, strict=True):
            kinds = dict(leaf_kinds(argument.type))
            for place, leaf in of_leaves(tangents):
                if leaf is None:
                    continue
                slope = slope_of(leaf)
                if kinds[place] is REAL:
                    assert isinstance(slope, NameLeaf)
                    self.bars.setdefault(slope.name)
                    reals.append((slope, place))
                else:
                    assert isinstance(slope, Place)
                    views.append(slope)
        return reals, views

    def _call_reverse(self, back: str, reals: list[NameLeaf], bars: list[str]) -> None:
        """A call was made: in the reverse function its own reverse is called."""
        for bar in bars:
            self.bars.setdefault(bar)
        returned = [f"_r{i}" for i in range(len(reals))]
        lines = ["tape[0] = _top * 1.0", f"{', '.join(returned)} = {back}" if returned else back]
        lines.append("_top = int(tape[0])")
        lines += [f"{bar} = 0.0" for bar in bars]
        lines += [f"{leaf.name} += {name}" for leaf, name in zip(reals, returned, strict=True)]
        self.segment().called = lines

    def call_own(self, own: Any, author: str, node: form.Call, pairs: list[Dual]) -> Dual:
        """The tangent that an author has written, along each argument, is by how much the result changes."""
        kinds = [argument.type for argument in node.arguments]
        has_views = any(has_reals(kind) and isinstance(kind, View) for kind in kinds)
        if not (has_views or has_reals(node.function.result) or node.function.result is NOTHING):
            return super().call_own(own, author, node, pairs)[0], NO_TANGENT  # decides, but does not vary
        if own.__dict__[LEAVES_FIXED]:
            return super().call_own(own, author, node, pairs)
        if own.__dict__[WITH_VALUES] or node.function.result is not REAL or has_views:
            raise self.refuse(f"{node.function.author.__qualname__}: its author's tangent has no adjoint")
        pairs = [(self.held(text), self.held_tangents(tangents)) for text, tangents in pairs]
        text, tangents = super().call_own(own, author, node, pairs)
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
                children.append((slope_of(leaf), self.times_factor(partial)))
        assert isinstance(tangents, list)
        return text, [Rate(tangents[0], Spread(tuple(children), True))]

    def _unit(self, kind: Type, place: str, wanted: str) -> str:
        """A direction along which one part of an argument moves."""
        if isinstance(kind, Tuple):
            items = (self._unit(item, f"{place}_{i}", wanted) for i, item in enumerate(kind.items))
            return f"({', '.join(items)},)"
        return "1.0" if place == wanted else "0.0"


def _tangents_of_result(
    varying: Varying, place: str, names: dict[str, str], adjoints: dict[str, Slope]
) -> Tangents:
    """The tangents of a result in its shape: at each place that varies, its name and its adjoint."""
    if isinstance(varying, tuple):
        return tuple(
            _tangents_of_result(item, f"{place}_{i}", names, adjoints) for i, item in enumerate(varying)
        )
    return [Rate(names[place], adjoints[place])] if varying else NO_TANGENT
