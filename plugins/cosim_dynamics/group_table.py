"""The lists that the records of groups point to, as integers for the table of a mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from cosim.kit import Record, width_of
from cosim_dynamics.constraint_groups import ConstraintGroup
from cosim_dynamics.elimination_fronts import Front
from cosim_dynamics.group_records import (
    Candidate,
    Coupling,
    FrontSlots,
    GroupLink,
    GroupMember,
    GroupSlots,
    Target,
)
from cosim_dynamics.mechanism import NOWHERE, EquationSlots, TermSlots
from cosim_dynamics.solver_blocks import rows_from


class GroupTable:
    """Lays out members, links and fronts of groups one behind the other.

    Parameters
    ----------
    groups : sequence of ConstraintGroup
    equations_at, terms_at : int
        Where in the table the equations and their terms begin.
    first : int
        Where the lists will stand in the table.

    Attributes
    ----------
    integers : list of int
        The lists.
    records : list of GroupSlots
        Of each group; what lies in the cache is not set.
    """

    def __init__(
        self, groups: Sequence[ConstraintGroup], equations_at: int, terms_at: int, first: int
    ) -> None:
        self.integers: list[int] = []
        self.records: list[GroupSlots] = []
        self._first = first
        for group in groups:
            self.records.append(self._record(group, equations_at, terms_at))
            equations_at += width_of(EquationSlots) * group.equations
            terms_at += width_of(TermSlots) * sum(map(len, group.ends_of_equations))

    def _add(self, records: Sequence[Record]) -> int:
        """Append records; where in the table they will stand."""
        at = self._first + len(self.integers)
        self.integers += rows_from(records).ravel().tolist()
        return at

    def _record(self, group: ConstraintGroup, equations_at: int, terms_at: int) -> GroupSlots:
        record = unset(GroupSlots)
        record.equations, record.equations_at = group.equations, equations_at
        record.members = len(group.dofs)
        record.members_at = self._add([GroupMember(number=i, parent=j) for i, j in group.members])
        record.links = len(group.links)
        record.links_at = self._add([GroupLink(number=i) for i in group.links])
        record.fronts = len(group.fronts)
        couplings = couplings_by_link(group, terms_at)
        fronts = [self._front(group, front, couplings.get(front.link, [])) for front in group.fronts]
        taken_over: set[int] = set()
        for number, front in enumerate(fronts):
            front.takes_over, front.is_first = number in taken_over, front.parent not in taken_over
            taken_over.add(front.parent)
        record.fronts_at = self._add(fronts)
        return record

    def _front(self, group: ConstraintGroup, front: Front, couplings: list[Coupling]) -> FrontSlots:
        record = unset(FrontSlots)
        record.link, record.size, record.parent = front.link, front.size, front.parent
        targets = [NOWHERE] * front.size
        if front.parent != NOWHERE:
            targets = front.targets(group.fronts[front.parent])
        record.targets_at = self._add([Target(variable=i) for i in targets])
        for coupling in couplings:
            coupling.variable = front.variable_of(coupling.equation)
        record.couplings, record.couplings_at = len(couplings), self._add(couplings)
        record.candidates = len(front.candidates)
        record.candidates_at = self._add(
            [
                Candidate(
                    variable=front.variable_of(candidate.equation),
                    equation=candidate.equation,
                    is_first=candidate.is_first,
                    is_last=candidate.is_last,
                )
                for candidate in front.candidates
            ]
        )
        return record


def couplings_by_link(group: ConstraintGroup, terms_at: int) -> dict[int, list[Coupling]]:
    """The equations that act on each link of a group; the variable of a front is not set."""
    couplings: dict[int, list[Coupling]] = {}
    width = width_of(TermSlots)
    ends = group.ends_of_equations
    starts = accumulate((width * len(of_equation) for of_equation in ends), initial=terms_at)
    for r, (of_equation, start) in enumerate(zip(ends, starts, strict=False)):
        for i, end in enumerate(of_equation):
            if end.dof != NOWHERE:
                dof = end.dof - group.first_dofs[end.link] if end.size == 1 else NOWHERE
                coupling = Coupling(variable=NOWHERE, equation=r, term_at=start + width * i, dof=dof)
                couplings.setdefault(end.link, []).append(coupling)
    return couplings


def unset(kind: type[Record]) -> Record:
    """A record whose fields are all `NOWHERE`."""
    values: NDArray[np.int64] = np.full(width_of(kind), NOWHERE, dtype=np.int64)
    return kind.from_buffer_copy(values)
