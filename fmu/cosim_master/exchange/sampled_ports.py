"""SampledPorts: the outputs of which samples are taken, to estimate the error of the coupling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cosim_master.coupling.coupling import Coupling
from cosim_master.exchange.interface import Interface, Port
from cosim_master.recording.recorded_variables import judged_ports

MOST_SAMPLED = 120
"""Outputs and inputs of which samples are taken: those that are exchanged, and others up to this number."""


class SampledPorts:
    """The outputs of which samples are taken: the interface, recorded ones, and states that help to judge.

    Parameters
    ----------
    coupling : Coupling
    interface : Interface
    reads : mapping of str to sequence of str
        The variables that are read of each participant.
    recorded : sequence of (str, str)
        Participants and variables that are recorded: the errors of real ones are estimated.
    unit_of : mapping of str to str
        For each participant the name under which it steps.

    Attributes
    ----------
    ports : list of (str, str)
        Participants and outputs.
    places : list of (str, int)
        For each the place of its value on the board.
    owners : list of str
        For each the name under which its participant steps.
    jumping : list of int
        Which of them change at instants alone.
    judged : list of (str, str)
        Those that get an error bar.
    not_judged : list of str
        The recorded variables without an error bar.
    """

    def __init__(
        self,
        coupling: Coupling,
        interface: Interface,
        reads: Mapping[str, Sequence[str]],
        recorded: Sequence[Port],
        unit_of: Mapping[str, str],
    ) -> None:
        descriptions = coupling.descriptions
        most = max(0, MOST_SAMPLED - 2 * len(coupling.links))
        targets = {link.end for link in coupling.links}
        judged, not_judged = judged_ports(descriptions, recorded, targets, interface.numbers, most)
        states = [(n, s) for n, d in descriptions.items() for s in d.states if s in reads[n]]
        states = states[: max(0, most - len(judged))]
        self.ports: list[Port] = list(dict.fromkeys([*interface.numbers, *judged, *states]))
        self.places = interface.on_board(self.ports)
        self.owners: Sequence[str] = [unit_of[name] for name, _ in self.ports]
        self.jumping = [i for i, (name, y) in enumerate(self.ports) if y in descriptions[name].discrete]
        self.judged: Sequence[Port] = list(dict.fromkeys([*interface.numbers, *judged]))
        self.not_judged: Sequence[str] = not_judged

    def leave_out(self, ports: Sequence[Port]) -> None:
        """Give these outputs no error bar."""
        self.not_judged = [*self.not_judged, *(".".join(port) for port in ports if port in self.judged)]
        self.judged = [port for port in self.judged if port not in ports]
