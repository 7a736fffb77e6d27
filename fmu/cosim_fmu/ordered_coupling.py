"""OrderedCoupling: the order in which participants step, and the loops that an algorithm has to iterate."""

from __future__ import annotations

from typing import Any

import cosim
from cosim.kit import FeedthroughLoop
from cosim_fmu.repeatable_coupling import RepeatableCoupling
from cosim_master.algorithms.joint import exchanging_algorithm
from cosim_master.coupling.check_loops import check_loops, early_ticks, unknown_order
from cosim_master.coupling.errors import WiringProblem
from cosim_master.coupling.instant_graph import feedthrough_loops
from cosim_master.coupling.stepping_order import stepping_order
from cosim_master.start.explain import explain
from cosim_master.start.probe_participants import probe_participants


class OrderedCoupling(RepeatableCoupling):
    """A coupling whose participants are ordered by direct feedthrough: declared first, then probed.

    Attributes
    ----------
    remarks : list of str
        Findings about feedthrough at the start (`settle_order`).
    """

    def _order_as_declared(self) -> list[WiringProblem]:
        """Order the participants by the feedthrough that they declare. Returns the problems of loops."""
        self.order, self.loops = list(self.descriptions), list[FeedthroughLoop]()
        self.remarks: list[str] = []
        self._failed_probes: list[str] = []
        self._is_settled, self.unreadable_before_step = False, frozenset[str]()
        return [] if self.algorithm is None else self._put_in_order(is_probed=False)

    def settle_order(self) -> None:
        """Find out which loops of direct feedthrough are real, and order the participants so.

        Where the algorithm exchanges within a step, and a loop is closed by what a participant does not
        declare, or may declare too much; and who may be read where an algorithm needs it
        (`probe_participants`). The participants are initialized for it and closed again, once. `simulate`
        and `explain` begin with it.

        Raises
        ------
        ModelError
            A loop that is real, or not known not to be, can be neither ordered nor iterated.
        CoSimulationError
            A participant cannot be initialized.
        """
        if self._is_settled or self.algorithm is None or not self._is_connected:
            return
        findings = probe_participants(self)
        self._set(
            descriptions=findings.descriptions,
            unreadable_before_step=findings.unreadable_before_step,
            remarks=findings.remarks,
        )
        self._failed_probes = findings.warnings
        problems = self._put_in_order(is_probed=True)
        if problems:
            raise cosim.ModelError(problems)
        self._is_settled = True

    @property
    def warnings(self) -> list[str]:
        """Warnings before a run, in sentences."""
        if self.algorithm is None or not self.algorithm.exchanges_within_step or not self._is_connected:
            return self._failed_probes
        return [
            *self._failed_probes,
            *early_ticks(self.participants, self.links),
            *unknown_order(self.descriptions, self.links, self.order),
        ]

    def explain(self) -> str:
        """The calls of a communication step, and for each connection how late it is and why.

        Participants are initialized for it where their feedthrough has to be found out (`settle_order`); no
        step is taken.
        """
        self.settle_order()
        algorithm = self._exchanging
        assert algorithm is not None
        remarks = [f"  {remark}" for remark in self.remarks]
        probed = ["", "found out before the run:", *remarks] if remarks else []
        return "\n".join([*explain(self, algorithm), *probed, *self.warnings])

    @property
    def _exchanging(self) -> cosim.MasterAlgorithm | None:
        return None if self.algorithm is None else exchanging_algorithm(self.algorithm)

    @property
    def _is_connected(self) -> bool:
        """Whether there is an order of participants to find, and feedthrough to know of."""
        return bool(self.links) or self.joint is not None

    def _put_in_order(self, *, is_probed: bool) -> list[WiringProblem]:
        """Order the participants by what is known of their feedthrough; what is wrong with loops."""
        algorithm = self._exchanging
        if algorithm is None or not algorithm.exchanges_within_step or not self._is_connected:
            return []
        links = [*self.links, *self.inner_links]
        members = [] if self.joint is None else self.joint.names
        loops = feedthrough_loops(self.descriptions, links, members)
        together = list(loops)
        if not any(set(members) & set(loop.participants) for loop in loops):
            together.append(FeedthroughLoop(tuple(members), ()))
        self._set(
            loops=loops if algorithm.solves_loops else [],
            order=stepping_order(list(self.descriptions), self.descriptions, links, together),
        )
        return check_loops(
            self.descriptions, links, self.step_multiple, algorithm, is_probed=is_probed, joint=members
        )

    def _set(self, **attributes: Any) -> None:
        """Set what the co-simulation has found out about itself: users cannot."""
        self.__dict__.update(attributes)
