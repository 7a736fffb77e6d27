"""Writing the tangent of a kernel function: from its typed form to text of the same language.

Values are computed by the same operations as in the function, so they are the same to the last bit. Beside
each real that depends on what varies stands its tangent, one name for each direction. A view of reals has for
each direction another view of the same shape. What is written here is Python, so a tangent is a kernel
function like any other: compiled, kept, lowered, or run as it is.

A `Varying` says of a value whether it has tangents: a truth value, of a tuple one for each item.
"""

from __future__ import annotations

from typing import Any

from cosim_compiler.derivatives.function_writer import FunctionWriter
from cosim_compiler.derivatives.kept_texts import Written
from cosim_compiler.derivatives.notes import Note
from cosim_compiler.derivatives.tangent_text import as_identifier
from cosim_compiler.derivatives.tangent_values import Varying, has_reals
from cosim_compiler.language.program import Program
from cosim_compiler.language.typed_form import Function


class TangentNames:
    """The names in the text of a tangent: of values of Python, and of functions that are written into it."""

    def __init__(self) -> None:
        self.space: dict[str, Any] = {}
        self._by_id: dict[int, str] = {}

    def name(self, value: Any, hint: str) -> str:
        """The name under which the text finds a value of Python."""
        if id(value) not in self._by_id:
            name = f"_{hint}_{len(self.space)}"
            self.space[name] = value
            self._by_id[id(value)] = name
        return self._by_id[id(value)]

    def array(self, numbers: Any) -> str:
        """The name of an array of the module."""
        return self.name(numbers, "array")


class TangentWriter:
    """Writes the tangents of functions of one program, each once for what varies among its arguments.

    Parameters
    ----------
    program : Program
        Has their typed forms, and what they raise.
    directions : int
    refuses_jumps : bool, optional
        Whether tangents raise where a whole number or a decision jumps.
    in_lanes : bool, optional
        Whether the one tangent of a number is a number for each lane.
    """

    def __init__(
        self, program: Program, directions: int, refuses_jumps: bool = False, in_lanes: bool = False
    ) -> None:
        self.program, self.directions, self.refuses_jumps = program, directions, refuses_jumps
        self.in_lanes = in_lanes
        self.names = TangentNames()
        self.texts: dict[str, list[str]] = {}
        self.notes: dict[Note, None] = {}
        self._written: dict[tuple[int, Varying], tuple[str, Varying]] = {}

    def tangent(self, function: Function, given: Varying) -> tuple[str, Varying]:
        """The name of the tangent of a function in the text, and what varies of its result.

        It takes the arguments, then the tangents of what varies; it returns the result, then the tangents of
        what varies of it.
        """
        key = id(function), given
        if key not in self._written:
            known: dict[str, Varying] = {}
            result: Varying = False
            while True:
                writing = FunctionWriter(self, function, given, known, result)
                lines = writing.write()
                if (writing.varying, writing.result) == (known, result):
                    break
                known, result = writing.varying, writing.result
            name = f"tangent_{len(self.texts)}_{as_identifier(function.author.__name__)}"
            self.texts[name] = [f"def {name}({', '.join(writing.parameters)}):", *lines]
            self._written[key] = name, result
            self.notes.update(dict.fromkeys(writing.notes))
        return self._written[key]

    def written(self, wanted: dict[str, str]) -> Written:
        """The text, with the signatures of the functions that are wanted of it."""
        text = "\n\n\n".join("\n".join(lines) for lines in self.texts.values()) + "\n"
        return Written(text, dict(self.names.space), wanted)


__all__ = ["TangentNames", "TangentWriter", "has_reals"]
