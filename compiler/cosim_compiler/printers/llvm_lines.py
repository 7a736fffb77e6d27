"""Lines for debuggers and profilers (``COSIM_LINES=1``): where in the source each instruction comes from."""

from __future__ import annotations

from cosim_compiler.language.typed_form import Function

FIRST = 11
"""The number of the first description: HEAD has !1 to !6, `llvm_arithmetic` !7 to !10."""
HEAD = (
    "!llvm.dbg.cu = !{!1}",
    "!llvm.module.flags = !{!2, !3}",
    '!1 = distinct !DICompileUnit(language: DW_LANG_C99, file: !4, producer: "cosim", isOptimized: true, '
    "runtimeVersion: 0, emissionKind: LineTablesOnly)",
    '!2 = !{i32 2, !"Debug Info Version", i32 3}',
    '!3 = !{i32 7, !"Dwarf Version", i32 4}',
    '!4 = !DIFile(filename: "kernel functions", directory: "")',
    "!5 = !DISubroutineType(types: !6)",
    "!6 = !{null}",
)


class DebugMetadata:
    """The descriptions of one module: files, functions, lines.

    Parameters
    ----------
    shown : bool
        Whether there are any.
    """

    def __init__(self, shown: bool) -> None:
        self.shown = shown
        self._numbers: dict[str, int] = {}

    def _number(self, description: str) -> int:
        return self._numbers.setdefault(description, FIRST + len(self._numbers))

    def of_function(self, function: Function, symbol: str = "") -> str:
        """The attributes of a function's definition, or of a wrapper around it with another symbol."""
        return f" !dbg !{self._function(function, symbol)}" if self.shown else ""

    def of_line(self, function: Function, line: int, symbol: str = "") -> str:
        """The text behind an instruction."""
        if not self.shown:
            return ""
        scope = self._function(function, symbol)
        return f", !dbg !{self._number(f'!DILocation(line: {line}, scope: !{scope})')}"

    def _function(self, function: Function, symbol: str) -> int:
        folder, _, name = function.file.rpartition("/")
        file = self._number(f'!DIFile(filename: "{_text(name)}", directory: "{_text(folder)}")')
        line = function.author.__code__.co_firstlineno
        return self._number(
            f'distinct !DISubprogram(name: "{_text(function.author.__name__)}", '
            f'linkageName: "{_text(symbol or function.symbol)}", scope: !{file}, file: !{file}, '
            f"line: {line}, type: !5, scopeLine: {line}, "
            "spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !1)"
        )

    def text(self) -> list[str]:
        """The metadata nodes that describe files, functions and lines; none where lines are not shown."""
        if not self.shown:
            return []
        return [*HEAD, *(f"!{number} = {text}" for text, number in self._numbers.items())]


def _text(value: str) -> str:
    """A text that may stand between quotes."""
    return "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\' else f"\\{byte:02X}"
        for byte in value.encode()
    )
