"""Writing the tangent of a kernel function: from its typed form to text of the same language.

The text computes values by the same operations as the function, so they are the same to the last bit. Each
real that depends on what varies has a tangent, one name for each direction. A view of reals has for each
direction another view of the same shape. The text is Python, so a tangent is a kernel function like any
other: it is compiled, stored, lowered, or run as it is.
"""

from __future__ import annotations

from typing import Any

from cosim_compiler.derivatives.derivative_text import DerivativeText
from cosim_compiler.derivatives.function_writer import FunctionWriter
from cosim_compiler.derivatives.notes import Note
from cosim_compiler.derivatives.tangent_text import as_identifier
from cosim_compiler.derivatives.tangent_values import Varying
from cosim_compiler.language.program import Program
from cosim_compiler.language.typed_form import Function


class TangentNames:
    """The names in a text that stand for values of Python: functions, classes and arrays.

    Attributes
    ----------
    values : dict of str to object
        The value of each name.
    """

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self._by_id: dict[int, str] = {}

    def name(self, value: Any, hint: str) -> str:
        """The name of a value; a new one contains the hint."""
        if id(value) not in self._by_id:
            name = f"_{hint}_{len(self.values)}"
            self.values[name] = value
            self._by_id[id(value)] = name
        return self._by_id[id(value)]

    def array(self, numbers: Any) -> str:
        """The name of a constant array."""
        return self.name(numbers, "array")


class TangentWriter:
    """Writes the tangents of functions of one program, each once for what varies among its arguments.

    Parameters
    ----------
    program : Program
        Has the typed forms of the functions, and the exceptions that they raise.
    directions : int
        The number of directions.
    refuses_jumps : bool, optional
        Whether tangents raise where a whole number or a decision jumps.
    lanes : int, optional
        For how many lanes tangents are numbers; then `directions` is 1. 0: they are single numbers.

    Attributes
    ----------
    names : TangentNames
    texts : dict of str to list of str
        The lines of each function that is written, by its name.
    notes : dict of Note to None
        The places where tangents are incomplete, in the order in which they were found.
    """

    def __init__(
        self, program: Program, directions: int, refuses_jumps: bool = False, lanes: int = 0
    ) -> None:
        self.program, self.directions, self.refuses_jumps = program, directions, refuses_jumps
        self.lanes = lanes
        self.names = TangentNames()
        self.texts: dict[str, list[str]] = {}
        self.notes: dict[Note, None] = {}
        self._tangents: dict[tuple[int, Varying], tuple[str, Varying]] = {}

    def tangent(self, function: Function, varying: Varying) -> tuple[str, Varying]:
        """The name of the tangent of a function in the text, and what varies of its result.

        The tangent takes the arguments, then the tangents of what varies. It returns the result, then the
        tangents of what varies of it.

        Parameters
        ----------
        function : Function
        varying : Varying
            What varies of its arguments.
        """
        key = id(function), varying
        if key not in self._tangents:
            writing, lines = self._write_until_settled(function, varying)
            name = f"tangent_{len(self.texts)}_{as_identifier(function.author.__name__)}"
            self.texts[name] = [f"def {name}({', '.join(writing.parameters)}):", *lines]
            self._tangents[key] = name, writing.result
            self.notes.update(dict.fromkeys(writing.notes))
        return self._tangents[key]

    def _write_until_settled(self, function: Function, varying: Varying) -> tuple[FunctionWriter, list[str]]:
        """The writer of a tangent, and its lines.

        In a loop, a name may be read before the statement that makes it vary. So the tangent is written again
        with what was found to vary, until nothing new is.
        """
        varying_names: dict[str, Varying] = {}
        varying_result: Varying = False
        while True:
            writing = FunctionWriter(self, function, varying, varying_names, varying_result)
            lines = writing.write()
            if (writing.varying, writing.result) == (varying_names, varying_result):
                return writing, lines
            varying_names, varying_result = writing.varying, writing.result

    def derivative_text(self, signatures: dict[str, str]) -> DerivativeText:
        """All that was written, with the signatures of the functions that callers use."""
        text = "\n\n\n".join("\n".join(lines) for lines in self.texts.values()) + "\n"
        return DerivativeText(text, dict(self.names.values), signatures)
