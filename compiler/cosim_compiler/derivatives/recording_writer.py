"""Writing the two functions of an adjoint: one that records on a tape, and one that goes back along it.

The recording function is the tangent along one direction, and also puts on a tape by how much each real
that is assigned changes with the reals that it is made of, and where in a view these lie. The reverse
function reads the tape from its end. It needs no values and takes no branch of its own: statements without
a branch between them are a segment, whose number stands behind what it has put on the tape.

The direction decides where both sides of an ``==`` are equal: as in a tangent, numbers that move apart
along it count as different.
"""

from __future__ import annotations

from collections.abc import Sequence

from cosim_compiler.derivatives.recorded_calls import CallRecorder
from cosim_compiler.derivatives.reverse_parts import NameLeaf, Place, Slope, slope_of
from cosim_compiler.derivatives.segments import STORE_TOP
from cosim_compiler.derivatives.tangent_values import (
    joined,
    leaf_kinds,
    leaves,
    of_leaves,
    varying_of,
)
from cosim_compiler.language import typed_form as form
from cosim_compiler.language.control_flow import ends
from cosim_compiler.language.typed_form import Statement
from cosim_compiler.language.types import REAL, Tuple


class RecordingWriter(CallRecorder):
    """Writes both functions of one adjoint: the recording one is `write`, the other `reverse`."""

    # the functions

    def write(self) -> list[str]:
        function = self.function
        passed = self.given if isinstance(self.given, tuple) else ()
        places: list[str] = []
        for (name, kind), varying in zip(function.parameters, passed, strict=True):
            kinds = dict(leaf_kinds(function.variables.get(name, kind)))
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
            if not ends(function.body):
                at = -1 if self._lines[-1] == "    return" else len(self._lines)
                self._lines.insert(at, f"    {STORE_TOP}")
            if self.has_numbers:
                self._lines[head] += self._push_start()
        return self._lines

    @property
    def is_silent(self) -> bool:
        """Whether nothing goes back: no segment has a step."""
        return not self.segments

    def _push_start(self) -> str:
        """Lines that put a 0 on the tape: going back ends there."""
        lines = [*self._check_room(1), "tape[_at] = 0.0", "_at += 1"]
        return "".join(f"\n    {line}" for line in lines)

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
                body = segment.reverse_lines()
                lines += [f"            {line}" for line in body or ["pass"]]
        else:
            for segment in reversed(self.segments):
                lines += [f"    {line}" for line in segment.reverse_lines()]
        lines.append("    tape[0] = _top * 1.0")
        if self.returned:
            lines.append(f"    return {', '.join(self.returned)}")
        return lines

    # statements

    def block(self, statements: Sequence[Statement]) -> None:
        super().block(statements)
        if statements is self.function.body:
            self.flush()

    def store(self, node: form.Store) -> None:
        place = node.place
        if isinstance(place, form.Field):
            owner, owners = self.dual(place.record)
            target = f"{owner}.{place.name}"
            rate_target = f"{owners[0]}.{place.name}" if isinstance(owners, list) else ""
            where = slope_of(owners).plus(place.offset // 8) if isinstance(owners, list) else None
        else:
            owner, owners = self.dual(place.view)
            texts = [self.atom(index) for index in place.indices]
            at = ", ".join(texts)
            where = None
            rate_target = ""
            if isinstance(owners, list) and place.type is REAL:
                owner = self.held(owner)
                where = self._element_place(place, owner, slope_of(owners), texts)
                rate_target = f"{owners[0]}[{at}]"
            target = f"{owner}[{at}]"
        text, tangents = self.dual(node.value)
        if place.type is REAL:
            if where is not None:
                slope = slope_of(tangents) if isinstance(tangents, list) else None
                text = self.held(text)
                rate = self.held(tangents[0]) if isinstance(tangents, list) else "0.0"
                self.assign_bars([(where, slope)])
                self.emit(f"{rate_target} = {rate}")
            elif isinstance(tangents, list):
                raise self.refuse("a value that varies is written to a view without tangents")
        self.emit(f"{target} = {text}")

    def end(self, node: form.Return) -> None:
        if node.value is None:
            self._leave()
            self.emit("return")
            return
        text, tangents = self.dual(node.value)
        self.result = joined(self.result, varying_of(tangents))
        kinds = dict(leaf_kinds(node.value.type))
        parts = dict(of_leaves(tangents))
        reals: list[tuple[NameLeaf | Place | str, Slope | None]] = []
        places = {}
        for place, is_on in leaves(self.result):
            value = parts.get(place)
            if not is_on:
                continue
            slope = slope_of(value) if value else None
            if kinds[place] is REAL:
                if slope is not None:
                    reals.append((self.result_bar(place), slope))
            elif isinstance(slope, Place):
                if slope.root in self.local_roots:
                    raise self.refuse("the result is a part of an array that ends with the function")
                root = self.result_roots.setdefault(place, slope.root) or slope.root
                if slope.root not in ("", root):
                    raise self.refuse("the result is a part of two different arrays")
                self.result_roots[place] = root
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
