"""What an export says beside its file: what of the model is not shown, and names that tools may reject."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import cosim
from cosim_export.interface.fmu_variable import FmuVariable
from cosim_export.interface.named_by_model import CONTINUOUS_STATES, DISCRETE_STATES
from cosim_export.interface.names import without_subscripts
from cosim_export.interface.rename_variables import leaves_that_are_branches

KINDS = {
    "parameters": ("parameter",),
    "states": (*CONTINUOUS_STATES, *DISCRETE_STATES),
    "outputs": ("output", "measure"),
}


def left_out(system: cosim.System, variables: Iterable[FmuVariable]) -> dict[str, int]:
    """How many parameters, states and outputs of the system an FMU does not show; a vector counts once.

    Parameters
    ----------
    system : cosim.System
    variables : iterable of FmuVariable
        As `select_variables` gave them.
    """
    shown = {path for v in variables for path in (without_subscripts(v.path), v.name)}
    hidden = [v.kind for path, v in system.variables.items() if path not in shown]
    return {name: sum(kind in kinds for kind in hidden) for name, kinds in KINDS.items()}


def left_out_text(counts: Mapping[str, int]) -> str:
    """A line, or nothing where all is shown.

    Examples
    --------
    >>> left_out_text({"parameters": 3, "states": 0, "outputs": 1})
    'left out: 3 parameters, 1 output. --all (all=True) shows everything; --parameters, --outputs choose'
    >>> left_out_text({"parameters": 0, "states": 0, "outputs": 0})
    ''
    """
    some = {name: count for name, count in counts.items() if count}
    if not some:
        return ""
    listed = ", ".join(f"{n} {name if n > 1 else name.removesuffix('s')}" for name, n in some.items())
    options = ", ".join(f"--{'expose' if name == 'states' else name}" for name in some)
    return f"left out: {listed}. --all (all=True) shows everything; {options} choose"


def bus_warnings(variables: Iterable[FmuVariable]) -> tuple[str, ...]:
    """A warning for names that are both a variable and the beginning of others, with the remedy."""
    found = leaves_that_are_branches(without_subscripts(v.name) for v in variables)
    if not found:
        return ()
    (name, longer), *others = found
    more = f" (and {len(others)} more such names)" if others else ""
    return (
        f"{name} is a variable, and the name of {longer} begins with it{more}: tools that make a bus of "
        'names with dots (Simulink) take no such port. --naming flat (naming="flat") writes names without '
        f'dots, --names {name}=other (names={{"{name}": "other"}}) gives one another name',
    )
