"""Power bonds: two connections, there and back, whose values multiply to a power."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

import cosim
from cosim.kit import ParticipantDescription
from cosim_master.coupling.errors import WiringProblem, problem
from cosim_master.coupling.link import Link
from cosim_master.coupling.unit_conversion import definition_of

Bond = tuple[Link, Link]
WATT = (1, 2, -3, 0, 0, 0, 0)
"""Exponents of kg, m, s, A, K, mol, cd."""


def check_bonds(
    bonds: Sequence[Any], links: Sequence[Link], descriptions: Mapping[str, ParticipantDescription]
) -> tuple[list[Bond], list[WiringProblem]]:
    """The connections of each sound bond, and the problems of the others.

    Parameters
    ----------
    bonds : sequence of sequence of str
        Connected variables: both of one participant, or more of both participants.
    links : sequence of Link
    descriptions : mapping of str to ParticipantDescription
    """
    if not _is_list(bonds):
        return [], [problem(("bonds",), f'is {bonds!r}, needs a list: [["plant.force", "plant.speed"]]')]
    checked, problems = [], []
    for number, names in enumerate(bonds):
        bond, fault = _find_bond(names, links, descriptions)
        if bond is not None:
            checked.append(bond)
        else:
            problems.append(problem(("bonds", str(number)), fault))
    return checked, problems


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _find_bond(
    names: Any, links: Sequence[Link], descriptions: Mapping[str, ParticipantDescription]
) -> tuple[Bond | None, str]:
    """The two connections that a bond names, or None and a sentence about the fault."""
    if not _is_list(names) or len(names) < 2:
        return None, f'is {names!r}, needs two names: ["plant.force", "plant.speed"]'
    connected = {end for link in links for end in _ends(link)}
    unknown = [name for name in names if name not in connected]
    if unknown:
        return None, str(cosim.LookUpError("connected variable", str(unknown[0]), connected))
    bonds = _there_and_back(set(names), links)
    if len(bonds) != 1:
        fault = "fits several" if bonds else "names no two connections that lead to a participant and back"
        return None, f"{fault}: {', '.join(map(str, names))}"
    (bond,) = bonds
    if any(_type(end, descriptions) != "real" for link in bond for end in (link.start, link.end)):
        return None, "needs real variables"
    fault = _unit_fault(bond, descriptions)
    return (None, fault) if fault else (bond, "")


def _ends(link: Link) -> set[str]:
    """Both variables of a connection, as ``participant.variable``."""
    return {".".join(link.start), ".".join(link.end)}


def _there_and_back(names: set[str], links: Sequence[Link]) -> list[Bond]:
    """Two connections there and back, each with one of these names, which together have all of them."""
    return [
        (there, back)
        for there, back in combinations(links, 2)
        if (there.source, there.target) == (back.target, back.source)
        and there.source != there.target
        and names & _ends(there)
        and names & _ends(back)
        and names <= _ends(there) | _ends(back)
    ]


def _unit_fault(bond: Bond, descriptions: Mapping[str, ParticipantDescription]) -> str:
    """Why the two units do not multiply to a power; "" when they do, or when one of them is not known."""
    known_units = [
        _known_unit(link.start, descriptions) or _known_unit(link.end, descriptions) for link in bond
    ]
    factors = [unit for unit in known_units if unit is not None]
    if len(factors) < len(bond) or tuple(np.sum([exponents for _, exponents in factors], axis=0)) == WATT:
        return ""
    return f"{' times '.join(text for text, _ in factors)} is not a power"


def _known_unit(
    end: tuple[str, str], descriptions: Mapping[str, ParticipantDescription]
) -> tuple[str, tuple[int, ...]] | None:
    """A variable with its unit, and the exponents as in `WATT`; None where the unit is not known."""
    participant, variable = end
    unit = descriptions[participant].variables[variable].unit or "1"
    definition = definition_of(unit, descriptions[participant])
    if definition is None:
        return None
    return f"{participant}.{variable} ({unit})", definition.exponents[: len(WATT)]  # without that of rad


def _type(end: tuple[str, str], descriptions: Mapping[str, ParticipantDescription]) -> str:
    return descriptions[end[0]].variables[end[1]].type
