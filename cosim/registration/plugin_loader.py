"""Finding and loading plugins, each by itself, so that one bad plugin harms no other.

pluggy calls the hooks; finding and loading are done here, because of what pluggy's own loader accepts in
silence: an entry-point name that is claimed twice, a misspelt hook, one import error that stops everything.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import pluggy

from cosim.errors import PluginError, nearest
from cosim.registration import hookspecs
from cosim.registration.plugin_record import Entry, PluginRecord

KINDS: dict[str, tuple[str, str]] = {
    "components": ("component", "Component"),
    "force_elements": ("component", "Force"),
    "joints": ("component", "Joint"),
    "constraints": ("component", "Constraint"),
    "measures": ("component", "Measure"),
    "integrators": ("integrator", "Integrator"),
    "dynamics_solvers": ("dynamics_solver", "DynamicsSolver"),
    "exporters": ("exporter", "Exporter"),
    "master_algorithms": ("master_algorithm", "MasterAlgorithm"),
    "participants": ("participant", "Participant"),
    "result_sinks": ("result_sink", "ResultSink"),
    "commands": ("command", "Command"),
    "model_tables": ("model_table", "ModelTable"),
    "model_readers": ("model_reader", "ModelReader"),
}
"""For each hook ``cosim_register_<group>``: the kind of its entries, and their base class in cosim."""

PREFIX = "cosim_register_"
ONLY = "COSIM_PLUGINS"
NO_AUTOLOAD = "COSIM_DISABLE_PLUGIN_AUTOLOAD"


def discover(
    candidates: Iterable[EntryPoint] | None = None, only: Iterable[str] | None = None
) -> list[PluginRecord]:
    """Load every installed plugin and say what came of each, in order of names.

    Parameters
    ----------
    candidates : iterable of EntryPoint, optional
        What is installed; by default the entry points of the group ``cosim``.
    only : iterable of str, optional
        Names of the only plugins to load; by default all, or what the environment says (`selection`).
    """
    wanted = selection(os.environ) if only is None else set(only)
    claims: dict[str, list[_Candidate]] = defaultdict(list)
    for point in entry_points(group=hookspecs.GROUP) if candidates is None else candidates:
        claims[point.name].append(_Candidate.of(point))
    records = []
    for name in sorted(set(claims) | (wanted or set())):
        claimants = sorted(claims.get(name, []), key=lambda c: (c.distribution, c.version, c.value))
        records += _records(name, claimants, wanted, sorted(claims))
    return records


def selection(environment: Mapping[str, str]) -> set[str] | None:
    """Names of the only plugins that the environment wants, None when it wants all.

    ``COSIM_PLUGINS=a,b`` loads these and no others; ``COSIM_DISABLE_PLUGIN_AUTOLOAD=1`` none but these.

    Examples
    --------
    >>> selection({}), selection({"COSIM_PLUGINS": "a,"}), selection({"COSIM_DISABLE_PLUGIN_AUTOLOAD": "1"})
    (None, {'a'}, set())
    """
    names = {name.strip() for name in environment.get(ONLY, "").split(",") if name.strip()}
    return names if names or environment.get(NO_AUTOLOAD, "") not in ("", "0") else None


@dataclass(frozen=True)
class _Candidate:
    """An entry point with the distribution that it came from."""

    name: str
    distribution: str
    version: str
    value: str
    load: Callable[[], Any]

    @classmethod
    def of(cls, point: EntryPoint) -> _Candidate:
        distribution, version = "unknown distribution", "?"
        if point.dist is not None:
            distribution, version = point.dist.name or distribution, point.dist.version or version
        return cls(point.name, distribution, version, point.value, point.load)

    def error(self, reason: str) -> PluginError:
        return PluginError(self.name, self.distribution, self.version, reason)

    def failed(self, error: PluginError) -> PluginRecord:
        return PluginRecord(
            self.name, self.distribution, self.version, self.value, "failed", error=error, reason=error.reason
        )

    def skipped(self) -> PluginRecord:
        reason = f"{ONLY} or {NO_AUTOLOAD} in the environment, or the program, leaves it out"
        return PluginRecord(self.name, self.distribution, self.version, self.value, "skipped", reason=reason)


def _records(
    name: str, claimants: list[_Candidate], wanted: set[str] | None, known: list[str]
) -> list[PluginRecord]:
    """What came of all that is installed under one name."""
    if not claimants:
        missing = _Candidate(name, "not installed", "?", "", lambda: None)
        guess = nearest(name, known)
        hint = f" Nearest: {guess}." if guess else ""
        return [missing.failed(missing.error(f"asked for, but no installed distribution provides it.{hint}"))]
    if wanted is not None and name not in wanted:
        return [claimant.skipped() for claimant in claimants]
    if len(claimants) > 1:
        owners = " and by ".join(f"{c.distribution} {c.version} ({c.value})" for c in claimants)
        reason = (
            f"the name '{name}' is claimed by {owners}; none of them is loaded. "
            "Uninstall all but one, or rename the entry point."
        )
        return [claimant.failed(claimant.error(reason)) for claimant in claimants]
    return [_load(claimants[0])]


def _load(candidate: _Candidate) -> PluginRecord:
    """Load one plugin; a failure is kept, with its cause, and nothing that it registered."""
    try:
        if not re.fullmatch(r"[a-z][a-z0-9_]*", candidate.name):
            raise candidate.error("the name of the entry point must be snake_case: every id begins with it")
        module = candidate.load()
        contract = _checked_contract(candidate, module)
        entries = _entries(candidate, module)
    except PluginError as error:
        return candidate.failed(error)
    except (Exception, SystemExit) as cause:  # whatever a stranger's module does, the others are loaded
        fault = candidate.error(f"{type(cause).__name__}: {cause}")
        fault.__cause__ = cause
        return candidate.failed(fault)
    return PluginRecord(
        candidate.name,
        candidate.distribution,
        candidate.version,
        candidate.value,
        "loaded",
        contract,
        entries,
    )


def _checked_contract(candidate: _Candidate, module: Any) -> str | None:
    """The contract version that a plugin declares, checked against ours."""
    declared = getattr(module, "cosim_contract", None)
    if declared is None:
        return None
    if not isinstance(declared, str) or not re.fullmatch(r"\d+(\.\d+)?", declared):
        raise candidate.error(f'cosim_contract is {declared!r}, needs a text such as "1" or "1.0"')
    major, _, minor = declared.partition(".")
    ours = hookspecs.CONTRACT_VERSION
    if int(major) != ours[0] or int(minor or 0) > ours[1]:
        newer = (int(major), int(minor or 0)) > ours
        todo = "upgrade cosim-framework" if newer else "look for a newer release of the plugin"
        raise candidate.error(
            f"made for contract {declared}, this cosim has contract {ours[0]}.{ours[1]}: {todo}"
        )
    return declared


def _entries(candidate: _Candidate, module: Any) -> tuple[Entry, ...]:
    """Everything that the hooks of a plugin register."""
    manager = pluggy.PluginManager(hookspecs.GROUP)  # one for each plugin: none sees another
    manager.add_hookspecs(hookspecs)
    hooks = [PREFIX + group for group in KINDS]
    for name in sorted(vars(module)):
        if name.startswith(PREFIX) and manager.parse_hookimpl_opts(module, name) is None:
            raise candidate.error(f"{name} is not marked: write @cosim.hookimpl above it")
    try:
        manager.register(module, candidate.name)
        manager.check_pending()
    except pluggy.PluginValidationError as cause:
        unknown = [c.name for c in manager.get_hookcallers(module) or [] if not c.has_spec()]
        guesses = [
            f"no hook {name}. Nearest: {nearest(name, hooks) or ', '.join(hooks)}." for name in unknown
        ]
        raise candidate.error(" ".join(guesses) or str(cause)) from cause
    entries: dict[tuple[str, str], Entry] = {}
    for group in KINDS:
        getattr(manager.hook, PREFIX + group)(register=_register(candidate, group, entries))
    return tuple(entries.values())


def _register(
    candidate: _Candidate, group: str, entries: dict[tuple[str, str], Entry]
) -> Callable[[str, type], None]:
    """The function that a hook is given: it checks at once and adds to `entries`."""
    kind, base_name = KINDS[group]

    def register(name: str, cls: type) -> None:
        if not re.fullmatch(rf"{candidate.name}\.[a-z][a-z0-9_]*", str(name)):
            raise candidate.error(
                f"{PREFIX}{group}: id {name!r} must be '{candidate.name}.<snake_case>', "
                f"such as '{candidate.name}.{_snake_case(getattr(cls, '__name__', 'name'))}'"
            )
        where = f"{PREFIX}{group}: {name}"
        if not isinstance(cls, type):
            raise candidate.error(f"{where}: {cls!r} is not a class; register the class itself")
        base = _base_class(base_name)
        if not issubclass(cls, base):
            raise candidate.error(f"{where}: {cls.__qualname__} does not derive from cosim.{base_name}")
        missing = sorted(getattr(cls, "__abstractmethods__", ()))
        if missing:
            raise candidate.error(
                f"{where}: {cls.__qualname__} lacks {', '.join(missing)}, which {base_name} demands"
            )
        if not (cls.__doc__ or "").strip():
            raise candidate.error(f"{where}: {cls.__qualname__} has no docstring; say in it what it is")
        new = Entry(name, cls, candidate.name, candidate.distribution, candidate.version, kind, group)
        old = entries.setdefault((kind, name), new)
        if old is not new:
            raise candidate.error(
                f"{where}: the id is taken by {old.target} of {old.owner}; "
                f"{new.target} of {new.owner} needs another"
            )

    return register


def _base_class(name: str) -> type:
    """A base class that cosim exports, looked up only now: the exports are made after this module."""
    import cosim

    base: type = getattr(cosim, name)
    return base


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
