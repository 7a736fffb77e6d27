"""The variables of a system that an FMU does not show: how many, and how to show them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import cosim
from cosim_export.interface.fmu_variable import FmuVariable
from cosim_export.interface.named_by_model import CONTINUOUS_STATES, DISCRETE_STATES
from cosim_export.interface.names import without_subscripts

KINDS = {
    "parameters": ("parameter",),
    "states": (*CONTINUOUS_STATES, *DISCRETE_STATES),
    "outputs": ("output", "measure"),
}


def count_hidden(system: cosim.System, variables: Iterable[FmuVariable]) -> dict[str, int]:
    """The number of parameters, states and outputs that an FMU does not show; a vector counts once.

    Parameters
    ----------
    system : cosim.System
    variables : iterable of FmuVariable
        The variables of the FMU, from `select_variables`.
    """
    shown = {path for v in variables for path in (without_subscripts(v.path), v.name)}
    hidden = [v.kind for path, v in system.variables.items() if path not in shown]
    return {name: sum(kind in kinds for kind in hidden) for name, kinds in KINDS.items()}


def hidden_text(counts: Mapping[str, int]) -> str:
    """A line about the hidden variables; empty if there are none.

    Examples
    --------
    >>> hidden_text({"parameters": 3, "states": 0, "outputs": 1})
    'left out: 3 parameters, 1 output. --all (all=True) shows everything; --parameters, --outputs choose'
    >>> hidden_text({"parameters": 0, "states": 0, "outputs": 0})
    ''
    """
    hidden = {name: count for name, count in counts.items() if count}
    if not hidden:
        return ""
    numbers = ", ".join(f"{n} {name if n > 1 else name.removesuffix('s')}" for name, n in hidden.items())
    options = ", ".join(f"--{'expose' if name == 'states' else name}" for name in hidden)
    return f"left out: {numbers}. --all (all=True) shows everything; {options} choose"
