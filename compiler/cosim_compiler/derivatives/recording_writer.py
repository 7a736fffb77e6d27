"""Writing the two functions of an adjoint: one that records on a tape, and one that goes back along it.

The recording function is the tangent along one direction. It also puts on a tape the derivatives of each real
that is assigned by the reals that it is computed from, and the places of these in views. The reverse function
reads the tape from its end. It computes no values and decides no branches: statements without a branch
between them are a segment, and the number of the segment follows on the tape behind what it has put there.

Where both sides of an ``==`` are equal, the direction decides, as in a tangent: numbers that move apart along
it count as different.
"""

from __future__ import annotations

from collections.abc import Sequence

from cosim_compiler.derivatives.recorded_calls import CallRecorder
from cosim_compiler.derivatives.recorded_views import BYTES_PER_NUMBER
from cosim_compiler.derivatives.reverse_parts import Place, Slope, slope_of
from cosim_compiler.derivatives.segments import STORE_TOP, Target
from cosim_compiler.derivatives.tangent_values import (
    joined,
    leaf_kinds,
    leaves,
    tangent_leaves,
    varying_of,
)
from cosim_compiler.language import typed_form as form
from cosim_compiler.language.control_flow import ends
from cosim_compiler.language.typed_form import Statement
from cosim_compiler.language.types import REAL, Tuple


class RecordingWriter(CallRecorder):
    """Writes both functions of one adjoint: `write` the recording one, `reverse` the other one."""

    def write(self) -> list[str]:
        begins = self._add_argument_adjoints()
        self.emit("")  # for the line that reads where the tape ends
        first = len(self._lines) - 1
        super().write()
        self.parameters += begins
        if self.is_silent:
            del self._lines[first]
            self._lines = [line for line in self._lines if line.strip() != STORE_TOP]
        else:
            self.parameters.append("tape")
            self._lines[first] = "    _at = int(tape[0])"
            if not ends(self.function.body):
                at = -1 if self._lines[-1] == "    return" else len(self._lines)
                self._lines.insert(at, f"    {STORE_TOP}")
            if self.has_numbers:
                self._lines[first] += self._push_start()
        return self._lines

    def _add_argument_adjoints(self) -> list[str]:
        """Add adjoints and roots for the arguments that vary; the parameters that say where views begin."""
        begins: list[str] = []
        for (name, kind), varying in zip(self.function.parameters, self.arguments, strict=True):
            kinds = dict(leaf_kinds(self.function.variables.get(name, kind)))
            for place, is_on in leaves(varying):
                if not is_on:
                    continue
                if kinds[place] is REAL:
                    self.returned.append(self.bar(name, place))
                else:
                    self.roots[name, place] = f"root_{len(self.parameter_roots)}"
                    self.parameter_roots.append(self.roots[name, place])
                    begins.append(self.at_name(name, place))
        return begins

    @property
    def is_silent(self) -> bool:
        """Whether nothing is recorded: there is no segment."""
        return not self.segments

    def _push_start(self) -> str:
        """Lines that put a 0 on the tape: there the reverse function ends."""
        lines = [*self.check_room(1), "tape[_at] = 0.0", "_at += 1"]
        return "".join(f"\n    {line}" for line in lines)

    def reverse(self, name: str) -> list[str]:
        """The lines of the reverse function, under a name."""
        results = [
            self.result_bar(place)
            for place, is_on in leaves(self.result)
            if is_on and place not in self.result_roots
        ]
        lines = [f"def {name}({', '.join([*self.parameter_roots, *results, 'tape'])}):"]
        lines += [f"    {bar} = 0.0" for bar in self.bars if bar not in results]
        lines += [f"    {bar} = 0.0" for bar in self.returned if bar not in self.bars]
        lines += [f"    {root} = {text}" for root, text in self.local_roots.items()]
        lines += ["    _top = int(tape[0])", *self._lines_of_segments(), "    tape[0] = _top * 1.0"]
        if self.returned:
            lines.append(f"    return {', '.join(self.returned)}")
        return lines

    def _lines_of_segments(self) -> list[str]:
        """The lines that undo the segments: by their numbers on the tape, or in the order of the text."""
        if not self.has_numbers:
            return [f"    {line}" for segment in reversed(self.segments) for line in segment.reverse_lines()]
        lines = ["    while True:", "        _top -= 1", "        _number = int(tape[_top])"]
        lines += ["        if _number == 0:", "            break"]
        for i, segment in enumerate(self.segments):
            lines.append(f"        {'el' if i else ''}if _number == {i + 1}:")
            lines += [f"            {line}" for line in segment.reverse_lines() or ["pass"]]
        return lines

    # statements

    def block(self, statements: Sequence[Statement]) -> None:
        super().block(statements)
        if statements is self.function.body:
            self.flush()

    def write_store(self, node: form.Store) -> None:
        place = node.place
        if isinstance(place, form.Field):
            record, record_tangents = self.dual(place.record)
            target, target_dot = f"{record}.{place.name}", ""
            bar_place = None
            if isinstance(record_tangents, list):
                target_dot = f"{record_tangents[0]}.{place.name}"
                bar_place = slope_of(record_tangents).plus(place.offset // BYTES_PER_NUMBER)
        else:
            view, view_tangents = self.dual(place.view)
            indices = [self.atom(index) for index in place.indices]
            at = ", ".join(indices)
            target_dot, bar_place = "", None
            if isinstance(view_tangents, list) and place.type is REAL:
                view = self.held(view)
                bar_place = self._element_place(place, view, slope_of(view_tangents), indices)
                target_dot = f"{view_tangents[0]}[{at}]"
            target = f"{view}[{at}]"
        text, tangents = self.dual(node.value)
        if place.type is REAL:
            if bar_place is not None:
                slope = slope_of(tangents) if isinstance(tangents, list) else None
                text = self.held(text)
                dot = self.held(tangents[0]) if isinstance(tangents, list) else "0.0"
                self.assign_bars([(bar_place, slope)])
                self.emit(f"{target_dot} = {dot}")
            elif isinstance(tangents, list):
                raise self.refuse("a value that varies is written to a view without tangents")
        self.emit(f"{target} = {text}")

    def write_return(self, node: form.Return) -> None:
        if node.value is None:
            self._write_end()
            self.emit("return")
            return
        text, tangents = self.dual(node.value)
        self.result = joined(self.result, varying_of(tangents))
        kinds = dict(leaf_kinds(node.value.type))
        dots_at = dict(tangent_leaves(tangents))
        reals: list[tuple[Target, Slope | None]] = []
        begins: dict[str, str] = {}
        for place, is_on in leaves(self.result):
            dots = dots_at.get(place)
            if not is_on or not dots:
                continue
            slope = slope_of(dots)
            if kinds[place] is REAL:
                reals.append((self.result_bar(place), slope))
            elif isinstance(slope, Place):
                self._set_result_root(place, slope.root)
                begins[place] = slope.text
        text = self.held(text) if reals and not isinstance(node.value.type, Tuple) else text
        dots_returned = [dot for leaf in self.filled(self.result, tangents, node.value.type) for dot in leaf]
        if reals:
            self.assign_bars(reals)
        self._write_end()
        listed_begins = [begins.get(place, "0") for place in self.result_roots]
        self.emit(f"return {', '.join([text, *dots_returned, *listed_begins])}")

    def _set_result_root(self, place: str, root: str) -> None:
        """Set the root of a view in the result: the same one wherever the function returns."""
        if root in self.local_roots:
            raise self.refuse("the result is a part of an array that ends with the function")
        known = self.result_roots.setdefault(place, root) or root
        if root not in ("", known):
            raise self.refuse("the result is a part of two different arrays")
        self.result_roots[place] = known

    def _write_end(self) -> None:
        """End the segment before a return, and store where the tape ends."""
        self.flush()
        if self._depth:
            self.is_straight = False
        self.emit(STORE_TOP)
