"""The Simulator of the last run of a system, for the next one with the same settings.

What a Simulator begins with follows from the system and the settings, so a run begins with the bytes of one
that was made anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cosim.contracts.integrator import Integrator
from cosim.simulation.python_in_steps import python_in_steps
from cosim.simulation.simulator import Simulator
from cosim.system.state import State
from cosim.system.system import System
from cosim_compiler.native import is_plain

OWN_PACKAGES = "cosim.", "cosim_"
NAME = "_last_simulator"
Settings = tuple[Any, ...]


def settings_key(
    integrator: str | type[Integrator] | Integrator,
    accuracy: float | None,
    endless_events: str,
    options: Mapping[str, Any],
) -> Settings | None:
    """What a Simulator depends on beside its system; None where an object says it that may change."""
    values = (accuracy, endless_events, *options.values())
    if not isinstance(integrator, str) or not all(type(value) in (float, int, str) for value in values):
        return None
    return integrator, tuple(options), tuple(map(type, values)), values


def reuse_simulator(system: System, state: State | None, key: Settings | None) -> Simulator | None:
    """The Simulator that was kept under this key, at the beginning of a run; None where there is none.

    No other run finds it before it is kept again.
    """
    begins = state is None or (isinstance(state, State) and not state.agenda.initialized)
    if key is None or not begins:
        return None
    stored = vars(system).pop(NAME, None)
    if stored is None or stored[0] != key:
        return None
    simulator: Simulator = stored[1]
    if state is None and stored[2]:
        state = simulator.state
        system.restart(state)
    simulator.reset_run(system.default_state() if state is None else state)
    return simulator


def store_simulator(system: System, key: Settings | None, simulator: Simulator, is_private: bool) -> None:
    """Keep a Simulator whose run has ended well, unless its method is Python or no part of this product.

    Parameters
    ----------
    system, key, simulator
        As for `reuse_simulator`.
    is_private : bool
        Its State is not known elsewhere, but to plain Python that steps have called: the next run may
        take it again.
    """
    method = type(simulator.integrator)
    if key is None or is_plain() or not method.__module__.startswith(OWN_PACKAGES):
        return
    if simulator.compiled_step.method is None:
        is_free = is_private and not python_in_steps(system, method) and _has_not_grown(simulator.state)
        vars(system)[NAME] = key, simulator, is_free


def _has_not_grown(state: State) -> bool:
    """Whether what its histories remember fits in the arrays with which a State begins."""
    return bool(state.arrays["h"].size == state.system._start["h"].size)
