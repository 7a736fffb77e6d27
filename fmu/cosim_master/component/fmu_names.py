"""What the variables of an FMU are called in a model."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable

from cosim_master.component.fmu_component import ModelExchangeFmu

TAKEN = (
    {"t", "name", "values", "side", "state", "next_state", "self", "declarations", "kernels", "handlers"}
    | {"z", "scale", "epoch", "live", "indicators", "next_event", "fmu", "feedthrough", "tolerance"}
    | {"kept_events", "wanted", "given", "shown"}
    | {"derivatives", "bind", "arguments", "signals", "switch", "conditions", "smoothness"}
    | {"running", "others", "block", "keeps_nothing", "show", "step_ended", "step_event", "inputs_changed"}
    | {"has_instance", "move_to", "write_input", "read_outputs", "read_rates", "output", "completed_step"}
    | {*dir(ModelExchangeFmu)}
)
"""What the class of an FMU, its objects and its kernel functions use themselves."""
NUMBERED = re.compile(r"(outputs|indicator|state_event)_\d+$")
"""Likewise."""
DERIVED = re.compile(r"_(dot\d?|next|ring|state|rate)$")
"""Endings by which a component asks for something else than a variable of its own."""


def identifiers(names: Iterable[str]) -> dict[str, str]:
    """For each name of a variable one that Python takes: ``mass1.L`` becomes ``mass1_L``.

    Examples
    --------
    >>> identifiers(["mass1.L", "mass1_L", "v[2]", "t", "1st"])
    {'mass1.L': 'mass1_L_', 'mass1_L': 'mass1_L', 'v[2]': 'v_2', 't': 't_', '1st': 'v_1st'}
    """
    listed = list(names)
    used = {name for name in listed if _is_good(name)}
    found = {}
    for name in listed:
        made = name
        if not _is_good(name):
            made = re.sub(r"\W+", "_", name).strip("_") or "v"
            made = f"v_{made}" if made[0].isdigit() else made
            while made in used or not _is_good(made):
                made += "_"
            used.add(made)
        found[name] = made
    return found


def _is_good(name: str) -> bool:
    is_word = name.isidentifier() and name.isascii() and not name.startswith("_")
    is_taken = keyword.iskeyword(name) or name in TAKEN or NUMBERED.match(name) or DERIVED.search(name)
    return is_word and not is_taken
