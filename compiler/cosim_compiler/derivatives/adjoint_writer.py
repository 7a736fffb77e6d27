"""Writes the adjoints of kernel functions and of their helpers, as text of two functions for each."""

from __future__ import annotations

from cosim_compiler.derivatives.own_tangents import RECORDED
from cosim_compiler.derivatives.recording_writer import RecordingWriter
from cosim_compiler.derivatives.reverse_parts import AdjointNames
from cosim_compiler.derivatives.tangent_text import as_identifier
from cosim_compiler.derivatives.tangent_values import Varying
from cosim_compiler.derivatives.writer import TangentWriter
from cosim_compiler.language.program import Program
from cosim_compiler.language.typed_form import Function


class AdjointWriter(TangentWriter):
    """Writes the adjoints of functions of one program, each once for what varies among its arguments."""

    def __init__(self, program: Program) -> None:
        super().__init__(program, 1)
        self._adjoints: dict[tuple[int, Varying], AdjointNames] = {}

    def adjoint(self, function: Function, varying: Varying) -> AdjointNames:
        """The adjoint of a function, some of whose arguments vary, in the text.

        The recording function takes the arguments, the tangents of those that vary, for each view that varies
        the place in its root at which it begins, and the tape. It returns the result, the tangents of what
        varies of it, and for each view in it the place at which it begins.

        The reverse function takes the roots of the views, the adjoints of the reals in the result, and the
        tape. It returns the adjoints of the reals among the arguments.
        """
        key = id(function), varying
        if key in self._adjoints:
            return self._adjoints[key]
        recorded = RECORDED.get(function.author)
        if recorded is not None:
            record, reverse = (self.names.name(part, "recorded") for part in recorded)
            names = self._adjoints[key] = AdjointNames(record, reverse, False, {}, False)
            return names
        writing, lines = self._write_until_settled(function, varying)
        stem = f"{len(self.texts)}_{as_identifier(function.author.__name__)}"
        record, reverse = f"record_{stem}", f"reverse_{stem}"
        self.texts[record] = [f"def {record}({', '.join(writing.parameters)}):", *lines]
        if not writing.is_silent:
            self.texts[reverse] = writing.reverse(reverse)
        names = AdjointNames(record, reverse, writing.result, writing.result_roots, writing.is_silent)
        self._adjoints[key] = names
        return names

    def _write_until_settled(self, function: Function, varying: Varying) -> tuple[RecordingWriter, list[str]]:
        """The writer of both functions, and the lines of the one that records.

        In a loop, a variable may be read before the statement that makes it vary. So the text is written
        again with what was found out, until nothing new is.
        """
        varying_names: dict[str, Varying] = {}
        result: Varying = False
        before: RecordingWriter | None = None
        while True:
            writing = RecordingWriter(self, function, varying, varying_names, result, before)
            lines = writing.write()
            is_settled = (writing.varying, writing.result) == (varying_names, result)
            if is_settled and before is not None and writing.has_views_as(before):
                return writing, lines
            varying_names, result, before = writing.varying, writing.result, writing
