"""Power bonds: two connections, there and back, whose values multiply to a power."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import cosim
from cosim.kit import ParticipantDescription
from cosim_master.coupling.errors import WiringProblem, problem
from cosim_master.coupling.link import Link
from cosim_master.coupling.unit_conversion import RADIAN, definition_of

Bond = tuple[Link, Link]
WATT = (1, 2, -3, 0, 0, 0, 0)
"""Exponents of kg, m, s, A, K, mol, cd."""


def check_bonds(
    bonds: Sequence[Any], links: Sequence[Link], descriptions: Mapping[str, ParticipantDescription]
) -> tuple[list[Bond], list[WiringProblem]]:
    """The connections of each bond, and what is wrong.

    Parameters
    ----------
    bonds : sequence of sequence of str
        Connected variables: both of one participant, or more of both participants.
    links : sequence of Link
    descriptions : mapping of str to ParticipantDescription
    """
    checked, problems = [], []
    if isinstance(bonds, str) or not isinstance(bonds, Sequence):
        return [], [problem(("bonds",), f'is {bonds!r}, needs a list: [["plant.force", "plant.speed"]]')]
    for number, names in enumerate(bonds):
        key = ("bonds", str(number))
        if isinstance(names, str) or not isinstance(names, Sequence) or len(names) < 2:
            problems.append(problem(key, f'is {names!r}, needs two names: ["plant.force", "plant.speed"]'))
            continue
        ends = {".".join(end) for link in links for end in (link.start, link.end)}
        unknown = [name for name in names if name not in ends]
        if unknown:
            problems.append(problem(key, str(cosim.LookUpError("connected variable", str(unknown[0]), ends))))
            continue
        pairs = _there_and_back(list(names), links)
        if len(pairs) != 1:
            text = (
                "names no two connections that lead to a participant and back"
                if not pairs
                else "fits several"
            )
            problems.append(problem(key, f"{text}: {', '.join(map(str, names))}"))
        elif any(_type(end, descriptions) != "real" for link in pairs[0] for end in (link.start, link.end)):
            problems.append(problem(key, "needs real variables"))
        elif text := _no_power(pairs[0], descriptions):
            problems.append(problem(key, text))
        else:
            checked.append(pairs[0])
    return checked, problems


def _there_and_back(names: list[str], links: Sequence[Link]) -> list[Bond]:
    """Connections there and back that have all these names as ends, each pair once."""
    pairs = []
    for i, one in enumerate(links):
        for other in links[i + 1 :]:
            if (one.source, one.target) != (other.target, other.source) or one.source == one.target:
                continue
            ends = {".".join(end) for link in (one, other) for end in (link.start, link.end)}
            each = all(
                any(n in (".".join(link.start), ".".join(link.end)) for n in names) for link in (one, other)
            )
            if each and ends.issuperset(names):
                pairs.append((one, other))
    return pairs


def _no_power(bond: Bond, descriptions: Mapping[str, ParticipantDescription]) -> str:
    """Why the units of the two do not multiply to a power; "" when they do, or one of them is not known."""
    names, product = [], np.zeros(RADIAN, dtype=int)
    for link in bond:
        for name, variable in (link.start, link.end):
            unit = descriptions[name].variables[variable].unit or "1"
            if (definition := definition_of(unit, descriptions[name])) is not None:
                names.append(f"{name}.{variable} ({unit})")
                product += np.array(definition.exponents[:RADIAN])
                break
        else:
            return ""
    return "" if tuple(product.tolist()) == WATT else f"{' times '.join(names)} is not a power"


def _type(end: tuple[str, str], descriptions: Mapping[str, ParticipantDescription]) -> str:
    return descriptions[end[0]].variables[end[1]].type
