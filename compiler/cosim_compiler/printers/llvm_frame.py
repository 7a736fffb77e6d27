"""The instructions of one function in LLVM's text: blocks, values of several parts, and variables.

A view or a tuple is a value of several parts. LLVM could hold it in one register, but would then need much
time to find the parts again. So the writer keeps the names of the parts, and makes a whole value only to
return it. A variable has a place in the frame for each part; it is not read if its value has a name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cosim_compiler.language.typed_form import Function
from cosim_compiler.language.types import Tuple, Type
from cosim_compiler.printers.llvm_types import llvm_type, words_of


class FrameWriter:
    """Writes instructions into a function."""

    function: Function

    def __init__(self, declared: dict[str, str]) -> None:
        self.declared = declared
        self.head: list[str] = []  # the lines that reserve memory in the frame
        self.lines: list[str] = []
        self.packing = 0  # lines that take tuples apart for calls: none is left of them after inlining
        self.count = 0
        self.is_live = True  # whether the program can get to the next instruction
        self.packed: dict[str, tuple[str, ...]] = {}  # the names of parts, by the name of a value
        self.bound: dict[str, str] = {}  # the values of variables that are assigned once
        self.loaded: set[str] = set()  # variables that are read from memory
        self.stores: dict[str, list[int]] = {}  # for each variable: the numbers of the lines that write it
        self.location = ""  # what stands behind each instruction: the line of the source that it comes from
        self.here = ".start"  # the label of the present block

    # text

    def line(self, text: str) -> None:
        self.lines.append(f"  {text}{self.location}")

    def value(self, instruction: str) -> str:
        """Write an instruction; the name of its value."""
        self.count += 1
        self.lines.append(f"  %.{self.count} = {instruction}{self.location}")
        return f"%.{self.count}"

    def room(self, kind: str) -> str:
        """Reserve memory in the frame of the function; its name."""
        self.count += 1
        self.head.append(f"  %.{self.count} = alloca {kind}")
        return f"%.{self.count}"

    def declare(self, name: str, line: str) -> None:
        """Declare a function that lies outside of the module."""
        self.declared.setdefault(name, line)

    def label(self) -> str:
        self.count += 1
        return f".L{self.count}"

    def branch(self, label: str) -> None:
        """Jump to a label, if the program can get here."""
        if self.is_live:
            self.line(f"br label %{label}")
        self.is_live = False

    def at(self, label: str) -> None:
        """Begin a basic block at a label."""
        self.lines.append(f"{label}:")
        self.is_live = True
        self.here = label

    # values of several parts: views and tuples

    def pack(self, *parts: str) -> str:
        """A value that consists of these parts: no instruction is written."""
        self.count += 1
        name = f"%.{self.count}"
        self.packed[name] = parts
        return name

    def part(self, kind: str, text: str, place: int) -> str:
        """A part of a value; `kind` is its type in LLVM's text."""
        parts = self.packed.get(text)
        return self.value(f"extractvalue {kind} {text}, {place}") if parts is None else parts[place]

    def whole(self, kind: Type, text: str) -> str:
        """A value in one register, as functions return it."""
        parts = self.packed.get(text)
        if parts is None:
            return text
        structure, structure_type = "undef", llvm_type(kind)
        for i, part in enumerate(parts):
            item = kind.items[i] if isinstance(kind, Tuple) else None
            word = words_of(kind)[i] if item is None else llvm_type(item)
            value = part if item is None else self.whole(item, part)
            structure = self.value(f"insertvalue {structure_type} {structure}, {word} {value}, {i}")
        return structure

    def built(self, kind: Type, words: Iterator[str]) -> str:
        """The value of a type that consists of the next words."""
        if isinstance(kind, Tuple):
            return self.pack(*[self.built(item, words) for item in kind.items])
        count = len(words_of(kind))
        return next(words) if count == 1 else self.pack(*[next(words) for _ in range(count)])

    def merged(self, kind: Type, incoming: Sequence[tuple[str, Sequence[str]]]) -> str:
        """A value that comes from several blocks, each with its label and the words of the value there."""
        words = []
        for i, word in enumerate(words_of(kind)):
            texts = [f"[{texts[i]}, %{label}]" for label, texts in incoming]
            words.append(self.value(f"phi {word} {', '.join(texts)}"))
        return self.built(kind, iter(words))

    # variables: memory in the frame, a place for each word

    def places_of(self, name: str, kind: Type) -> list[str]:
        """The places of the words of a variable."""
        count = len(words_of(kind))
        return [f"%{name}.a"] if count == 1 else [f"%{name}.a{i}" for i in range(count)]

    def set_variable(self, name: str, text: str) -> None:
        """Store a value of a variable's type in its memory."""
        kind = self.function.variables[name]
        words = self.words_in(kind, text)
        for place, word, part in zip(self.places_of(name, kind), words_of(kind), words, strict=True):
            self.stores.setdefault(name, []).append(len(self.lines))
            self.line(f"store {word} {part}, ptr {place}")

    def drop_variables(self) -> None:
        """Reserve memory for the variables that are read from it; remove stores to other ones."""
        dropped = {line for name, lines in self.stores.items() if name not in self.loaded for line in lines}
        self.lines = [line for i, line in enumerate(self.lines) if i not in dropped]
        for name in [name for name in self.function.variables if name in self.loaded]:
            kind = self.function.variables[name]
            places = zip(self.places_of(name, kind), words_of(kind), strict=True)
            self.head += [f"  {place} = alloca {word}" for place, word in places]

    def get_variable(self, name: str, path: Sequence[int] = ()) -> str:
        """The value of a variable, or of an item of a tuple, by the indices that lead to it."""
        kind = self.function.variables[name]
        if name in self.bound:
            text = self.bound[name]
            for place in path:
                assert isinstance(kind, Tuple)
                text, kind = self.part(llvm_type(kind), text, place), kind.items[place]
            return text
        self.loaded.add(name)
        places = self.places_of(name, kind)
        for place in path:
            assert isinstance(kind, Tuple)
            before = sum(len(words_of(item)) for item in kind.items[:place])
            kind = kind.items[place]
            places = places[before : before + len(words_of(kind))]
        words = [
            self.value(f"load {word}, ptr {place}")
            for word, place in zip(words_of(kind), places, strict=True)
        ]
        return self.built(kind, iter(words))

    # words: the parts in which values are passed

    def flat_words(self, kind: Type, text: str) -> list[str]:
        """The words of a value, each with its type."""
        words = self.words_in(kind, text)
        return [f"{word} {part}" for word, part in zip(words_of(kind), words, strict=True)]

    def words_in(self, kind: Type, text: str) -> list[str]:
        """The words of a value."""
        structure_type = llvm_type(kind)
        if isinstance(kind, Tuple):
            before, words = len(self.lines) - self.packing, []
            for i, item in enumerate(kind.items):
                words += self.words_in(item, self.part(structure_type, text, i))
            self.packing = len(self.lines) - before
            return words
        count = len(words_of(kind))
        return [text] if count == 1 else [self.part(structure_type, text, i) for i in range(count)]

    def together(self, kind: Type, name: str) -> tuple[str, list[str]]:
        """A parameter with this name: its value, and the words in which it is passed, each with its type."""
        words = words_of(kind)
        parts = [name] if len(words) == 1 else [f"{name}.{i}" for i in range(len(words))]
        passed = [f"{word} {part}" for word, part in zip(words, parts, strict=True)]
        return self.built(kind, iter(parts)), passed
