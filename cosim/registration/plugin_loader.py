"""Finding and loading plugins, each by itself, so that one bad plugin harms no other.

pluggy calls the hook; finding and loading are done here, because of what pluggy's own loader accepts in
silence: an entry-point name that is claimed twice, a misspelt hook, one import error that stops everything.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import pluggy

from cosim.errors import PluginError, nearest
from cosim.registration import hookspecs
from cosim.registration.candidate import Candidate, installed_candidates
from cosim.registration.fault_place import fault_place, raise_interrupt
from cosim.registration.kinds import declared_kinds
from cosim.registration.plugin_record import PluginRecord
from cosim.registration.registrations import Registrations
from cosim.registration.selection import selection
from cosim.registration.unloaded_class import folder_kept
from cosim.version import DISTRIBUTION

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ONE_HOOK = (
    f"write `@cosim.hookimpl def {hookspecs.HOOK}(register): …` once, with all calls of register(id, cls); "
    "the kind follows from the class"
)


def discover(
    candidates: Iterable[EntryPoint] | None = None,
    only: Iterable[str] | None = None,
    load: Callable[[Candidate], PluginRecord] | None = None,
) -> list[PluginRecord]:
    """Load every installed plugin and say what came of each, in order of names.

    Parameters
    ----------
    candidates : iterable of EntryPoint, optional
        What is installed; by default the entry points of the group ``cosim``.
    only : iterable of str, optional
        Names of the only plugins to load; by default all, or what the environment says (`selection`).
    load : callable, optional
        Makes the record of a plugin that nothing speaks against; `load_plugin` unless given.
    """
    selected = selection(os.environ) if only is None else set(only)
    claims: dict[str, list[Candidate]] = defaultdict(list)
    for found in installed_candidates() if candidates is None else map(Candidate.of, candidates):
        claims[found.name].append(found)
    records = []
    for name in sorted(set(claims) | (selected or set())):
        claimants = sorted(claims.get(name, []), key=lambda c: (c.distribution, c.version, c.value))
        records += _records(name, claimants, selected, sorted(claims), load or load_plugin)
    return records


def _records(
    name: str,
    claimants: list[Candidate],
    selected: set[str] | None,
    installed: list[str],
    load: Callable[[Candidate], PluginRecord],
) -> list[PluginRecord]:
    """The records of all distributions that are installed under one name."""
    if not claimants:
        missing = Candidate(name, "not installed", "?", "", lambda: None)
        guess = nearest(name, installed)
        hint = f" Nearest: {guess}." if guess else ""
        return [missing.failed(missing.error(f"asked for, but no installed distribution provides it.{hint}"))]
    if selected is not None and name not in selected:
        return [claimant.skipped() for claimant in claimants]
    first_party = [claimant for claimant in claimants if claimant.is_ours]
    if first_party and len(claimants) > 1:
        reason = f"the name '{name}' belongs to {DISTRIBUTION}: rename the entry point"
        third_parties = [claimant for claimant in claimants if not claimant.is_ours]
        return [
            load(first_party[0]),
            *(claimant.failed(claimant.error(reason)) for claimant in third_parties),
        ]
    if len(claimants) > 1:
        owners = " and by ".join(f"{c.distribution} {c.version} ({c.value})" for c in claimants)
        reason = (
            f"the name '{name}' is claimed by {owners}; none of them is loaded. "
            "Uninstall all but one, or rename the entry point."
        )
        return [claimant.failed(claimant.error(reason)) for claimant in claimants]
    return [load(claimants[0])]


def load_plugin(candidate: Candidate) -> PluginRecord:
    """Load one plugin; a failure is kept, with its cause, and nothing that it registered."""
    try:
        if not re.fullmatch(r"[a-z][a-z0-9_]*", candidate.name):
            raise candidate.error("the name of the entry point must be snake_case: every id begins with it")
        declared_kinds()  # the kernel's first: a plugin's of the same name is the one that is refused
        with folder_kept():
            module = candidate.load()
        contract = _checked_contract(candidate, module)
        registrations = _registrations(candidate, module)
    except BaseException as cause:  # whatever a plugin's module does, the others are loaded
        raise_interrupt(cause)
        reason = cause.reason if isinstance(cause, PluginError) else f"{type(cause).__name__}: {cause}"
        place = fault_place(cause, candidate.value)
        fault = candidate.error(f"{reason} ({place})" if place and place not in reason else reason)
        fault.__cause__ = cause
        return candidate.failed(fault)
    return PluginRecord(
        candidate.name,
        candidate.distribution,
        candidate.version,
        candidate.value,
        "loaded",
        contract,
        registrations.entries,
        registrations.refused,
    )


def _checked_contract(candidate: Candidate, module: Any) -> str | None:
    """The contract version that a plugin declares, checked against ours."""
    declared = getattr(module, "cosim_contract", None)
    if declared is None:
        return None
    if not isinstance(declared, str) or not re.fullmatch(r"\d+(\.\d+)?", declared):
        raise candidate.error(f'cosim_contract is {declared!r}, needs a text such as "1" or "1.0"')
    major, _, minor = declared.partition(".")
    supported = hookspecs.CONTRACT_VERSION
    if int(major) != supported[0] or int(minor or 0) > supported[1]:
        newer = (int(major), int(minor or 0)) > supported
        todo = "upgrade cosim-framework" if newer else "look for a newer release of the plugin"
        raise candidate.error(
            f"made for contract {declared}, this cosim has contract {supported[0]}.{supported[1]}: {todo}"
        )
    return declared


def _registrations(candidate: Candidate, module: Any) -> Registrations:
    """Everything that the hook of a plugin registers."""
    manager = pluggy.PluginManager(hookspecs.GROUP)  # one for each plugin: none sees another
    manager.add_hookspecs(hookspecs)
    for name, value in sorted(vars(module).items()):
        if name.startswith(f"{hookspecs.HOOK}_") and callable(value):
            raise candidate.error(f"there is no hook {name}: {ONE_HOOK}")
    hook = getattr(module, hookspecs.HOOK, None)
    if hook is not None and manager.parse_hookimpl_opts(module, hookspecs.HOOK) is None:
        raise candidate.error(f"{hookspecs.HOOK} is not marked: write @cosim.hookimpl above it")
    try:
        manager.register(module, candidate.name)
        manager.check_pending()
    except pluggy.PluginValidationError as cause:
        unknown = [c.name for c in manager.get_hookcallers(module) or [] if not c.has_spec()]
        wrong = [f"there is no hook {name}: {ONE_HOOK}" for name in unknown]
        raise candidate.error(" ".join(wrong) or str(cause)) from cause
    if hook is None:
        raise candidate.error(f"it has no hook: {ONE_HOOK}")
    registrations = Registrations(candidate.name, candidate.distribution, candidate.version, candidate.error)
    manager.hook.cosim_register(register=registrations.register)
    return registrations
