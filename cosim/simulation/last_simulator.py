"""The Simulator of the last run of a system, which the next run with the same settings uses again.

The initial values of a Simulator follow from the system and the settings: the results are those of a new one,
to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from cosim.contracts.integrator import Integrator
from cosim.simulation.python_in_steps import python_in_steps
from cosim.simulation.simulator import Simulator
from cosim.system.state import State
from cosim.system.system import System
from cosim_compiler.native import is_plain

OWN_PACKAGES = "cosim.", "cosim_"
NAME = "_last_simulator"
Settings = tuple[Any, ...]


class StoredSimulator(NamedTuple):
    """A Simulator that waits for the next run."""

    key: Settings
    simulator: Simulator
    may_reuse_state: bool  # no other object refers to its State


def settings_key(
    integrator: str | type[Integrator] | Integrator,
    accuracy: float | None,
    endless_events: str,
    options: Mapping[str, Any],
) -> Settings | None:
    """All that a Simulator depends on beside its system; None if an object is among it, which may change."""
    values = (accuracy, endless_events, *options.values())
    if not isinstance(integrator, str) or not all(type(value) in (float, int, str) for value in values):
        return None
    return integrator, tuple(options), tuple(map(type, values)), values


def reuse_simulator(system: System, state: State | None, key: Settings | None) -> Simulator | None:
    """Take the Simulator that was stored under a key out of the store, reset for a new run.

    None if there is none, or if the run does not begin at an uninitialized State.
    """
    begins = state is None or (isinstance(state, State) and not state.agenda.initialized)
    if key is None or not begins:
        return None
    stored: StoredSimulator | None = vars(system).pop(NAME, None)
    if stored is None or stored.key != key:
        return None
    simulator = stored.simulator
    if state is None and stored.may_reuse_state:
        state = simulator.state
        system.restart(state)
    simulator.reset_run(system.default_state() if state is None else state)
    return simulator


def store_simulator(system: System, key: Settings | None, simulator: Simulator, is_private: bool) -> None:
    """Store a Simulator whose run has ended without an error.

    One whose method is Python or belongs to another product is not stored.

    Parameters
    ----------
    system : System
    key : tuple or None
        From `settings_key`; without one nothing is stored.
    simulator : Simulator
    is_private : bool
        Whether its State was not handed to the caller. Unless plain Python in the steps may refer to it, the
        next run then uses it again.
    """
    method = type(simulator.integrator)
    if key is None or is_plain() or not method.__module__.startswith(OWN_PACKAGES):
        return
    if simulator.compiled_step.method is None:
        is_free = is_private and not python_in_steps(system, method) and _has_not_grown(simulator.state)
        vars(system)[NAME] = StoredSimulator(key, simulator, is_free)


def _has_not_grown(state: State) -> bool:
    """Whether the histories of a State still fit in the arrays that a new State has."""
    return bool(state.arrays["h"].size == state.system._start["h"].size)
