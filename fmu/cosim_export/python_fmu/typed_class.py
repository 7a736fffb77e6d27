"""Turns a class that was typed into a notebook or a script into a module that another process can import."""

from __future__ import annotations

import ast
import builtins
import hashlib
import importlib.util
import inspect
import linecache
import math
import symtable
import sys
import tempfile
import textwrap
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cosim

HEADING = '"""Typed into a notebook or a script; written by cosim when an FMU was exported."""\n'
TYPED = "__main__"


class TypedClass:
    """The source of a class of ``__main__``, with everything that it needs from there.

    That is its bases and helper functions that were typed, too, imports, and numbers, texts, tuples and
    arrays of numbers. The module is imported at once, which shows that nothing is missing.

    Parameters
    ----------
    cls : type
        A class at the top level of ``__main__``.

    Attributes
    ----------
    module : str
        Its name contains a digest of its text, so that two FMUs in one process do not share a name.
    source : str
    cls : type
        The class of the new module.

    Raises
    ------
    ModelError
        For each object that cannot be written as source.
    """

    def __init__(self, cls: type[Any]) -> None:
        self._label = cls.__qualname__
        functions = _functions(cls)
        self._globals = next((f.__globals__ for f in functions), vars(sys.modules[TYPED]))
        self._problems: list[cosim.Problem] = []
        self._written: dict[str, str] = {}
        self._imports: dict[str, str] = {}
        self._add_definition(cls.__name__, cls)
        if self._problems:
            raise cosim.ModelError(self._problems)
        body = "\n\n\n".join(text.rstrip() for text in self._written.values())
        self.source = "\n".join([HEADING, *self._imports.values(), "\n", body, ""])
        self.module = f"typed_{hashlib.sha256(self.source.encode()).hexdigest()[:12]}"
        self._folder = tempfile.TemporaryDirectory(prefix="cosim-typed-")
        self.cls = self._imported(cls.__name__)

    def close(self) -> None:
        """Remove the module and its folder."""
        sys.modules.pop(self.module, None)
        self._folder.cleanup()

    def _imported(self, name: str) -> type[Any]:
        file = Path(self._folder.name) / f"{self.module}.py"
        file.write_text(self.source, "utf-8")
        spec = importlib.util.spec_from_file_location(self.module, file)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[self.module] = module
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            self.close()
            text = (
                f"cannot be taken along: {type(error).__name__}: {error}. Define it in a module of its own."
            )
            raise cosim.ModelError.of(f"{TYPED}:{self._label}", text) from error
        cls: type[Any] = getattr(module, name)
        return cls

    def _add_definition(self, name: str, value: Any) -> None:
        """Add a class or function that the user typed, after those that it needs."""
        if name in self._written:
            return
        text = _definition(value)
        if text is None:
            self._refuse(name, "its source is not known any more")
            return
        if inspect.isclass(value):
            for base in value.__bases__:
                if base.__module__ == TYPED and self._globals.get(base.__name__) is not base:
                    self._refuse(base.__name__, f"it was defined again after '{name}': run that cell again")
        self._written[name] = ""  # ends the recursion for definitions that use themselves
        for used in _global_names(text):
            if used != name:
                self._add(used)
        del self._written[name]
        self._written[name] = text

    def _add(self, name: str) -> None:
        """Add the object of this name in ``__main__``."""
        if name in self._written or name in self._imports:
            return
        if name not in self._globals:
            if not hasattr(builtins, name):
                self._refuse(name, "this name is not defined")
            return
        value = self._globals[name]
        statement = _import(name, value)
        if statement:
            self._imports[name] = statement
        elif inspect.isclass(value) or isinstance(value, types.FunctionType):
            self._add_definition(name, value)
        else:
            text = _literal(value)
            if text is None:
                self._refuse(
                    name, f"is {_kind(value)}, and only numbers, texts, tuples and arrays can be written"
                )
            else:
                if "numpy." in text:
                    self._imports["numpy"] = "import numpy"
                self._written[name] = f"{name} = {text}"

    def _refuse(self, name: str, reason: str) -> None:
        remedy = "make it a parameter of the class, or define the class in a module of its own"
        text = f"an FMU cannot take '{name}' along: {reason}; {remedy}"
        self._problems.append(cosim.Problem(f"{TYPED}:{self._label}", text))


def _definition(value: Any) -> str | None:
    """The statement that defined a class or a function, None if its text is unknown."""
    for function in _functions(value):
        try:
            lines, _ = inspect.findsource(function)
        except (OSError, TypeError):
            continue
        statement = _statement(value, lines, function.__code__.co_firstlineno)
        if statement is not None:
            return statement
    if not inspect.isclass(value):
        return None
    # A class without functions has no line of its own: it is in the file of the script, or in the last cell
    # of this name.
    file = getattr(sys.modules[TYPED], "__file__", None)
    texts = [] if file is None else [linecache.getlines(file)]
    texts += [entry[2] for entry in reversed(list(linecache.cache.values())) if len(entry) == 4]
    return next((statement for lines in texts if (statement := _statement(value, lines)) is not None), None)


def _statement(value: Any, lines: list[str], line: int | None = None) -> str | None:
    """The definition of a class or function in a text that contains `line`; by default the last one."""
    kind = ast.ClassDef if inspect.isclass(value) else ast.FunctionDef
    if not any(value.__name__ in line for line in lines):
        return None
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:  # no Python, or not that of this interpreter
        return None
    definition = None
    for node in ast.walk(tree):
        if isinstance(node, kind) and node.name == value.__name__:
            first_line = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if line is None or first_line <= line <= (node.end_lineno or 0):
                definition = textwrap.dedent("".join(lines[first_line - 1 : node.end_lineno]))
    return definition


def _functions(value: Any) -> Iterator[types.FunctionType]:
    """The Python functions whose text contains the definition."""
    if isinstance(value, types.FunctionType):
        yield value
    else:
        for item in vars(value).values():
            function = getattr(item, "function", None) or getattr(item, "__func__", item)
            if isinstance(function, types.FunctionType) and function.__module__ == TYPED:
                yield function


def _global_names(text: str) -> list[str]:
    """Names that a definition reads from its module, in any of its scopes."""
    names: dict[str, None] = {}

    def walk(table: symtable.SymbolTable, top: bool) -> None:
        for symbol in table.get_symbols():
            is_outside = not symbol.is_assigned() if top else symbol.is_global()
            if symbol.is_referenced() and is_outside:
                names[symbol.get_name()] = None
        for inner in table.get_children():
            walk(inner, False)

    walk(symtable.symtable(text, "typed", "exec"), True)
    return list(names)


def _import(name: str, value: Any) -> str:
    """The statement that imports a value; empty if no module contains it under its name."""
    if isinstance(value, types.ModuleType):
        return f"import {value.__name__} as {name}" if value.__name__ != name else f"import {name}"
    module, original = getattr(value, "__module__", None), getattr(value, "__name__", "")
    if not module or module == TYPED or "." in getattr(value, "__qualname__", original):
        return ""
    if getattr(sys.modules.get(module), original, None) is not value:
        return ""
    return f"from {module} import {original}" + (f" as {name}" if original != name else "")


def _literal(value: Any) -> str | None:
    """The value as a Python expression; None if it has no such text."""
    if value is None or type(value) in (bool, int, str):
        return repr(value)
    if type(value) is float:
        return repr(value) if math.isfinite(value) else f"float({str(value)!r})"
    if type(value) is tuple:
        items = [_literal(item) for item in value]
        return None if None in items else f"({', '.join(map(str, items))}{',' * (len(items) == 1)})"
    if type(value).__module__ == "numpy" and hasattr(value, "tolist") and value.dtype.kind in "biuf":
        nested = repr(value.tolist())
        if "inf" not in nested and "nan" not in nested:
            return f"numpy.array({nested}, dtype={value.dtype.str!r})"
    return None


def _kind(value: Any) -> str:
    word = type(value).__name__
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"
