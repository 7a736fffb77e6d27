"""Facts read from a kernel function, stored for other processes under a digest of all that they depend on.

That is: everything in reach of the function, by value; and the texts in which all of these functions are
written, since they are read from their text; the modules that read them count in `clean_sources`. A function
in whose reach something may change while its names stay has no such digest: it is read in each process.
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
from cosim_compiler.sources.views import Given, Kind, flat_form, is_bundle


class KeptReading:
    """The facts of a function, if an earlier process has read them.

    Parameters
    ----------
    author : function
        As it was written.
    given : Given
        Its arguments that are views or bundles.
    *questions : str
        What else it depends on: what is asked, of which arguments.

    Attributes
    ----------
    key : str
        The digest; empty where there is none.
    fact : object
        What `remember` was given, as JSON brings it back; None where nothing was.
    """

    def __init__(self, author: types.FunctionType, given: Given, *questions: str) -> None:
        self._set(author, _key_of(author, given, questions))

    @classmethod
    def of_key(cls, author: types.FunctionType, key: str) -> KeptReading:
        """The reading under a known digest: it stands in the fact of a function that calls this one."""
        reading = cls.__new__(cls)
        reading._set(author, key)
        return reading

    def _set(self, author: types.FunctionType, key: str) -> None:
        self.key = key
        self._source = source_of(author) if key else ""
        self.fact: Any = cached_fact(self._source, key) if key else None

    def remember(self, fact: Any) -> None:
        """Keep what was read, which JSON can show; None is not kept."""
        if self.key and fact is not None:
            remember_clean(self._source, self.key, fact)


def as_written(function: types.FunctionType) -> tuple[types.FunctionType, Given]:
    """The function of the author, and which of its arguments were written out."""
    flat = flat_form(function)
    return (function, ()) if flat is None else (flat.author, flat.given)


def _key_of(author: types.FunctionType, given: Given, questions: tuple[str, ...]) -> str:
    """The digest; empty where there is none: of a method in Python, which may reach anything."""
    if author.__code__.co_varnames[:1] == ("self",) and "self" not in dict(given):
        return ""
    bundles = [kind for _, kind in given if isinstance(kind, type)]
    bundles += [cls for _, kind in given if not isinstance(kind, type) for _, cls, _ in kind.bundles]
    try:
        texts = _reach_and_texts(author, tuple(dict.fromkeys(bundles)))
    except ContractError:  # the text of one of them cannot be read: this is said where it has to be
        return ""
    if not texts:
        return ""
    place = f"{author.__code__.co_firstlineno} {author.__code__.co_qualname}"
    kinds = (f"{name} {_described(kind)}" for name, kind in given)
    described = [str(is_debugging()), place, *texts, *kinds, *questions]
    return hashlib.sha256("\0".join(described).encode("utf-8", "surrogatepass")).hexdigest()


def _reach_and_texts(author: types.FunctionType, bundles: tuple[type, ...]) -> list[str]:
    """Digests of what a function reaches, and of the texts of these functions; none where that may change."""
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
