"""Flat functions as JSON, to be stored and restored: their code, and paths to the functions that they call.

A path leads from the author's function to a function or class: to a value that a name in it has, to a member
of a bundle, or to the flat form of one of these. The code is in the format of `marshal`, which differs
between versions of Python: the keys of the cache contain the version (`clean_sources`).
"""

from __future__ import annotations

import base64
import marshal
import types
from collections.abc import Callable, Iterator
from typing import Any

from cosim_compiler.names_in_reach import environment
from cosim_compiler.sources.kernel_source import FLAT
from cosim_compiler.sources.views import Expanded, Flat, Kind, ViewAttributes, flat_form, is_bundle

Path = list[Any]
"""A path from the author's function to a function, a class or a view.

==================================== =======================================================================
``["name", name]``                   the value of a name in the author's function
``["expanded", argument]``           the bundle or the view that an argument is
``["author", name]``                 the author's form of the flat function that a name has as its value
``["bundle", argument, name]``       the class of a bundle in the view that an argument is
``["member", path, name]``           a method of a class, or the function of a property
``["flat", path, kinds, key]``       the flat form of a function, for these classes and views of arguments
==================================== =======================================================================
"""
Flatten = Callable[[types.FunctionType, Expanded, str], types.FunctionType]


class Origins:
    """The functions that the flat form of a function may call, by the path to each.

    Parameters
    ----------
    author : function
    expanded : Expanded
    flatten : callable
    """

    def __init__(self, author: types.FunctionType, expanded: Expanded, flatten: Flatten) -> None:
        self.names, self.expanded, self.flatten = environment(author), dict(expanded), flatten

    def value(self, path: Path) -> Any:
        """The value at a path."""
        match path:
            case ["name", name]:
                return self.names[name]
            case ["expanded", name]:
                return self.expanded[name]
            case ["author", name]:
                return self.names[name].__dict__[FLAT].author
            case ["bundle", view, name]:
                bundles = self.expanded[view].bundles  # type: ignore[union-attr]
                return next(cls for attribute, cls, _ in bundles if attribute == name)
            case ["member", cls, name]:
                member = vars(self.value(cls))[name]
                return member.fget if isinstance(member, property) else member
            case ["flat", function, kinds, key]:
                arguments = tuple((name, self.value(kind)) for name, kind in kinds)
                return self.flatten(self.value(function), arguments, key)
        raise ValueError(f"{path} is not a path")

    def path_of(self, value: Any) -> Path | None:
        """A path that leads to this very object; None if there is none."""
        for name, named in self.names.items():
            if named is value:
                return ["name", name]
        if not isinstance(value, types.FunctionType):
            return None
        flat = flat_form(value)
        author = value if flat is None else flat.author
        path = next((path for path, function in self._functions() if function is author), None)
        if flat is None or path is None:
            return path
        kinds = [[name, self._path_of_kind(kind)] for name, kind in flat.expanded]
        if any(kind is None for _, kind in kinds):
            return None
        flat_path: Path = ["flat", path, kinds, flat.key]
        return flat_path if self.value(flat_path) is value else None

    def _functions(self) -> Iterator[tuple[Path, types.FunctionType]]:
        """The author's functions to which a path leads, each with its path."""
        for name, value in self.names.items():
            if isinstance(value, types.FunctionType):
                flat = flat_form(value)
                yield (["name", name], value) if flat is None else (["author", name], flat.author)
        for path, kind in self._kinds():
            if isinstance(kind, type):
                for name, member in vars(kind).items():
                    function = member.fget if isinstance(member, property) else member
                    if isinstance(function, types.FunctionType):
                        yield ["member", path, name], function

    def _kinds(self) -> Iterator[tuple[Path, Kind]]:
        """The views and bundles to which a path leads, each with its path."""
        for name, kind in self.expanded.items():
            yield ["expanded", name], kind
            if isinstance(kind, ViewAttributes):
                yield from ((["bundle", name, named], cls) for named, cls, _ in kind.bundles)
        yield from ((["name", name], named) for name, named in self.names.items() if is_bundle(named))

    def _path_of_kind(self, wanted: Kind) -> Path | None:
        """The path to a bundle, or to a view with all attributes of a wanted one; None if there is none."""
        for path, kind in self._kinds():
            if kind is wanted or (
                isinstance(kind, ViewAttributes)
                and isinstance(wanted, ViewAttributes)
                and wanted.numbers <= kind.numbers
                and set(wanted.bundles) <= set(kind.bundles)
            ):
                return path
        return None


def to_json(function: types.FunctionType, free: dict[str, Any], flatten: Flatten) -> dict[str, Any] | None:
    """A flat function in the types of JSON; None if no path leads to the value of a name.

    Parameters
    ----------
    function : function
    free : dict of str to object
        The values of those of its names that are not the author's.
    flatten : callable
    """
    flat: Flat = function.__dict__[FLAT]
    origins = Origins(flat.author, flat.expanded, flatten)
    paths = {name: origins.path_of(value) for name, value in free.items()}
    if None in paths.values():
        return None
    return {
        "code": base64.b64encode(marshal.dumps(_in_file(function.__code__, ""))).decode(),
        "free": paths,
        "arguments": flat.arguments,
        "fields": flat.fields,
        "results": sorted(flat.results),
        "lines": flat.lines,
        "renamed": flat.renamed,
    }


def restore_code(stored: dict[str, Any], author: types.FunctionType) -> types.CodeType:
    """The code of a flat function, in the file in which its author's function lies now."""
    code: types.CodeType = marshal.loads(base64.b64decode(stored["code"]))
    return _in_file(code, author.__code__.co_filename)


def restore_free_names(
    stored: dict[str, Any], author: types.FunctionType, expanded: Expanded, flatten: Flatten
) -> dict[str, Any]:
    """The values of the names that are not the author's."""
    origins = Origins(author, expanded, flatten)
    return {name: origins.value(path) for name, path in stored["free"].items()}


def _in_file(code: types.CodeType, file: str) -> types.CodeType:
    """Code, and the code nested in it, as if it stood in a file of this name."""
    constants = tuple(_in_file(c, file) if isinstance(c, types.CodeType) else c for c in code.co_consts)
    return code.replace(co_filename=file, co_consts=constants)
