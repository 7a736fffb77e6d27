"""The function ``register(id, cls)`` that the hook of a plugin is given."""

from __future__ import annotations

import re
from collections.abc import Callable

from cosim.errors import PluginError
from cosim.registration.kinds import declared_kinds, kinds_of
from cosim.registration.listing_process import is_listing
from cosim.registration.plugin_record import Refusal, RegisteredClass
from cosim.value_text import quote


class Registrations:
    """The registrations of one plugin, each checked at once.

    Parameters
    ----------
    plugin, distribution, version : str
        Who registers.
    error : callable
        Makes the `PluginError` of this plugin from a reason.
    """

    def __init__(
        self, plugin: str, distribution: str, version: str, error: Callable[[str], PluginError]
    ) -> None:
        self._owner, self._error = (plugin, distribution, version), error
        self._claims: dict[tuple[str, str], list[RegisteredClass]] = {}

    def register(self, name: str, cls: type) -> None:
        """Register a class; `PluginError` when the id or the class is refused."""
        plugin = self._owner[0]
        if not re.fullmatch(rf"{plugin}\.[a-z][a-z0-9_]*", str(name)):
            raise self._error(
                f"id {name!r} must be '{plugin}.<snake_case>', "
                f"such as '{plugin}.{_snake_case(getattr(cls, '__name__', 'name'))}'"
            )
        if not isinstance(cls, type):
            raise self._error(f"{name}: {quote(cls)} is not a class; register the class itself")
        if not kinds_of(cls):
            bases = ", ".join(sorted(_public(base) for base in declared_kinds().values()))
            raise self._error(f"{name}: {cls.__qualname__} derives from no kind. There are: {bases}")
        missing = sorted(getattr(cls, "__abstractmethods__", ()))
        if missing:
            base = declared_kinds()[kinds_of(cls)[0]].__name__
            raise self._error(f"{name}: {cls.__qualname__} lacks {', '.join(missing)}, which {base} demands")
        if not (cls.__doc__ or "").strip():
            raise self._error(f"{name}: {cls.__qualname__} has no docstring; say in it what it is")
        if not is_listing() and (lacking := getattr(cls, "missing_law", str)()):
            raise self._error(f"{name}: {lacking}")
        new = RegisteredClass(name, cls, *self._owner)
        claims = self._claims.setdefault((new.kinds[-1], name), [])
        if all(old.registered is not cls for old in claims):
            claims.append(new)

    @property
    def entries(self) -> tuple[RegisteredClass, ...]:
        """The entries whose id one class alone claims."""
        return tuple(claims[0] for claims in self._claims.values() if len(claims) == 1)

    @property
    def refused(self) -> tuple[Refusal, ...]:
        """The ids that several classes of one kind claim."""
        return tuple(
            Refusal(
                name,
                f"{name} is claimed by {' and by '.join(entry.target for entry in claims)}, "
                f"both of {claims[0].owner}; neither is registered: give one another id",
            )
            for (_, name), claims in self._claims.items()
            if len(claims) > 1
        )


def _public(base: type) -> str:
    """The name by which authors import a base class: with the package that offers it."""
    return f"{base.__module__.partition('.')[0]}.{base.__qualname__}"


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
