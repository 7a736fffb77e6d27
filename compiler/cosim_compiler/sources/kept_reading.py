"""Facts that were read from a kernel function, stored for other processes under a digest.

The digest is of all that the facts depend on: of everything in reach of the function, by value, and of the
texts of all these functions, from which facts are read. (`clean_sources` adds the modules that read them.) If
something in reach may change while its name stays, there is no digest, and each process reads the function.
"""

from __future__ import annotations

import functools
import hashlib
import types
from typing import Any

from cosim_compiler.debugging import is_debugging
from cosim_compiler.errors import ContractError
from cosim_compiler.fingerprint import reach_now
from cosim_compiler.names_at_rest import memory_at_rest
from cosim_compiler.sources.clean_sources import cached_fact, remember_clean
from cosim_compiler.sources.kernel_source import source_of
from cosim_compiler.sources.views import Expanded, Kind, flat_form, is_bundle


class KeptReading:
    """A fact of a function, if an earlier process has read it.

    Parameters
    ----------
    author : function
        The function as it was written.
    expanded : Expanded
        Its arguments that are views or bundles.
    *questions : str
        Which fact it is, and what else it depends on.

    Attributes
    ----------
    key : str
        The digest; empty if there is none.
    fact : object
        The stored fact, as JSON returns it; None if none is stored.
    """

    def __init__(self, author: types.FunctionType, expanded: Expanded, *questions: str) -> None:
        self._set(author, _key_of(author, expanded, questions))

    @classmethod
    def of_key(cls, author: types.FunctionType, key: str) -> KeptReading:
        """The fact under a known digest, which the fact of a caller contains."""
        reading = cls.__new__(cls)
        reading._set(author, key)
        return reading

    def _set(self, author: types.FunctionType, key: str) -> None:
        self.key = key
        self._source = source_of(author) if key else ""
        self.fact: Any = cached_fact(self._source, key) if key else None

    def remember(self, fact: Any) -> None:
        """Store a fact in the types of JSON, unless it is None."""
        if self.key and fact is not None:
            remember_clean(self._source, self.key, fact)


def as_written(function: types.FunctionType) -> tuple[types.FunctionType, Expanded]:
    """The author's function, and which of its arguments are expanded in the flat one."""
    flat = flat_form(function)
    return (function, ()) if flat is None else (flat.author, flat.expanded)


def _key_of(author: types.FunctionType, expanded: Expanded, questions: tuple[str, ...]) -> str:
    """The digest; empty if there is none, as of a method in Python, which may reach anything."""
    if author.__code__.co_varnames[:1] == ("self",) and "self" not in dict(expanded):
        return ""
    bundles = [kind for _, kind in expanded if isinstance(kind, type)]
    bundles += [cls for _, kind in expanded if not isinstance(kind, type) for _, cls, _ in kind.bundles]
    try:
        texts = _reach_and_texts(author, tuple(dict.fromkeys(bundles)))
    except ContractError:  # a text cannot be read: whoever needs it raises this error
        return ""
    if not texts:
        return ""
    place = f"{author.__code__.co_firstlineno} {author.__code__.co_qualname}"
    kinds = (f"{name} {_described(kind)}" for name, kind in expanded)
    described = [str(is_debugging()), place, *texts, *kinds, *questions]
    return hashlib.sha256("\0".join(described).encode("utf-8", "surrogatepass")).hexdigest()


def _reach_and_texts(author: types.FunctionType, bundles: tuple[type, ...]) -> list[str]:
    """Digests of what a function reaches, and of the texts of these functions; empty if that may change."""
    memory = memory_at_rest()
    if memory is not None and (author, bundles) in memory:
        listed: list[str] = memory[author, bundles]
        return listed
    reach = reach_now([(author, "")], [member for cls in bundles for member in _members(cls)])
    if reach is None:
        return []
    further = [cls for cls in reach.classes if is_bundle(cls) and cls not in bundles]
    if further:
        listed = _reach_and_texts(author, (*bundles, *further))
    else:
        texts = {_digest_of_text(source_of(f)) for f in reach.functions}
        listed = [reach.digest, *sorted(texts), *map(_described, bundles)]
    if memory is not None:
        memory[author, bundles] = listed
    return listed


def _members(cls: type) -> list[types.FunctionType]:
    """The methods and properties of a bundle that a function may call."""
    values = [
        value for base in cls.__mro__ for name, value in vars(base).items() if not name.startswith("__")
    ]
    functions = [value.fget if isinstance(value, property) else value for value in values]
    return [function for function in functions if isinstance(function, types.FunctionType)]


def _described(kind: Kind) -> str:
    if isinstance(kind, type):
        return f"{kind.__module__}.{kind.__qualname__}"
    bundles = [(name, _described(cls), names) for name, cls, names in kind.bundles]
    return repr((sorted(kind.numbers), bundles, sorted(kind.names)))


@functools.cache
def _digest_of_text(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
