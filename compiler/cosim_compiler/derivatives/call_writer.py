"""Writing the tangents of calls: by an author's tangent of the function, or by differentiating it."""

from __future__ import annotations

from typing import Any

from cosim_compiler.derivatives.library_tangents import FOLLOWED_AS
from cosim_compiler.derivatives.own_tangents import WITH_VALUES, in_lanes_of, own_tangent
from cosim_compiler.derivatives.tangent_text import TangentText
from cosim_compiler.derivatives.tangent_values import (
    NO_TANGENT,
    Dual,
    Tangents,
    Varying,
    has_reals,
    leaves,
    tangent_leaves,
    tangents_of_items,
    tangents_of_names,
    varies_any,
    varying_of,
)
from cosim_compiler.language import typed_form as form
from cosim_compiler.language.typed_form import Function
from cosim_compiler.language.types import NOTHING, Number, Tuple, Type


class CallWriter(TangentText):
    """The part of the writer of a function that writes calls; see `function_writer.FunctionWriter`."""

    def call(self, node: form.Call) -> Dual:
        """Write a call; if an argument varies, also the author's tangent of the function, or ours."""
        function, pairs = node.function, self.call_arguments(node)
        varying: Varying = tuple(varying_of(tangents) for _, tangents in pairs)
        name = self.writer.names.name(function.author, "function")
        call = f"{name}({', '.join(text for text, _ in pairs)})"
        if not varies_any(varying):
            return (call if function.result is NOTHING else self.held(call)), NO_TANGENT
        own = own_tangent(function.author)
        if own is not None and self.uses_author_tangent(function):
            return self.call_own(own, name, node, pairs)
        followed = FOLLOWED_AS.get(function.author)
        if followed is None:
            return self.call_followed(function, varying, node, pairs, "")
        pairs = [(self.held(text), tangents) for text, tangents in pairs]
        value = self.new()
        self.emit(f"{value} = {name}({', '.join(text for text, _ in pairs)})")
        function = self.writer.program.function(followed, tuple(a.type for a in node.arguments))
        return self.call_followed(function, varying, node, pairs, value)

    def call_arguments(self, node: form.Call) -> list[Dual]:
        """The arguments of a call with their tangents."""
        return self.duals(node.arguments)

    def uses_author_tangent(self, function: Function) -> bool:
        """Whether the tangent that the function's author has written is called."""
        return True

    def call_followed(
        self,
        function: Function,
        varying: Varying,
        node: form.Call,
        pairs: list[Dual],
        value: str,
    ) -> Dual:
        """Call our tangent of a function; `value` is the name of its result if that was computed before."""
        name, result = self.writer.tangent(function, varying)
        argument_leaves = [leaf for _, tangents in pairs for _, leaf in tangent_leaves(tangents)]
        dots = [dot for leaf in argument_leaves if leaf is not None for dot in leaf]
        call = f"{name}({', '.join([*(text for text, _ in pairs), *dots])})"
        places = [place for place, is_on in leaves(result) if is_on]
        if not places:
            return (value or call), NO_TANGENT
        computed = self.new()
        directions = range(self.writer.directions)
        names = {place: [f"{computed}_{place}_{k}" for k in directions] for place in places}
        targets = [computed, *(name for listed in names.values() for name in listed)]
        self.emit(f"{', '.join(targets)} = {call}")
        return value or computed, tangents_of_names(result, names)

    def call_own(self, own: Any, function: str, node: form.Call, pairs: list[Dual]) -> Dual:
        """Call a function, by its name in the text, and then for each direction its author's tangent `own`.

        A tangent that is marked `WITH_VALUES` is called in place of the function.
        """
        pairs = [(self.held(text), self.held_tangents(tangents)) for text, tangents in pairs]
        texts = [text for text, _ in pairs]
        result = node.function.result
        replaces_function = own.__dict__[WITH_VALUES]
        value = "" if replaces_function else self._emit_call(f"{function}({', '.join(texts)})", result)
        varying = [
            (argument.type, text, tangents)
            for argument, (text, tangents) in zip(node.arguments, pairs, strict=True)
            if has_reals(argument.type)
        ]
        name = self.writer.names.name(in_lanes_of(own) if self.writer.lanes > 0 else own, "own")
        slopes = []
        for k in range(self.writer.directions):
            dots = [
                self._whole_tangent(kind, tangents, k, text, replaces_function)
                for kind, text, tangents in varying
            ]
            slopes.append(self._emit_call(f"{name}({', '.join([*texts, *dots])})", result))
        if result is NOTHING:
            return "None", NO_TANGENT
        if replaces_function:
            return slopes[0], NO_TANGENT
        return value, tangents_of_items(result, slopes)

    def _emit_call(self, call: str, result: Type) -> str:
        """Write a call as a statement; the name of its result, empty if it returns nothing."""
        if result is NOTHING:
            self.emit(call)
            return ""
        name = self.new()
        self.emit(f"{name} = {call}")
        return name

    def _whole_tangent(
        self, kind: Type, tangents: Tangents, k: int, value: str, replaces_function: bool
    ) -> str:
        """The tangent of an argument along direction k, as an author's tangent takes it: 0 if none varies.

        A tangent that is called in place of the function takes a view that does not vary itself.
        """
        if isinstance(kind, Tuple):
            parts = tangents if isinstance(tangents, tuple) else (None,) * len(kind.items)
            texts = [
                self._whole_tangent(item, part, k, f"{value}[{i}]", replaces_function)
                for i, (item, part) in enumerate(zip(kind.items, parts, strict=True))
            ]
            return f"({', '.join(texts)},)"
        if isinstance(tangents, list):
            return tangents[k]
        if isinstance(kind, Number):
            return "0.0"
        if replaces_function:
            return value
        raise self.refuse("an author's tangent is given a view that does not vary")
