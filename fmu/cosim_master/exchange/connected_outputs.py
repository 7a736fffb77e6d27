"""The connected outputs of a coupling in one order, the *interface*, and the inputs that they feed.

The last values that were read of each participant are the *board* (`CoupledParticipants.board`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from cosim.kit import ParticipantDescription
from cosim_master.coupling.coupling import Coupling
from cosim_master.coupling.link import Link

Port = tuple[str, str]
"""A participant and the name of one of its variables."""


class Feed(NamedTuple):
    """The source of a connected input.

    Attributes
    ----------
    source : str
        Participant.
    place : int
        The place of the output among the values that are read of the source.
    interface_place : int
        The place of the output in the interface; -1 if it is not in it.
    link : Link
    """

    source: str
    place: int
    interface_place: int
    link: Link


class Interface:
    """The real outputs that are connected, in the order of the connections.

    Parameters
    ----------
    coupling : Coupling
    reads : mapping of str to sequence of str
        The variables that are read of each participant: its values on the board, in this order.
    unit_of : mapping of str to str
        For each participant the name under which it steps; members of a joint system have one.

    Attributes
    ----------
    numbers : dict of (str, str) to int
        The number of each output.
    names : list of str
        ``participant.output`` of each.
    owners : list of str
        For each the name under which its participant steps.
    held : list of bool
        For each whether a participant that it feeds holds the middle value of a course.
    places : list of (str, int)
        For each the place of its value on the board: participant, and place among the values read.
    bonds : list of (int, int)
        The numbers of both outputs of each power bond.
    links_into : dict of str to list of Link
        The connections to each participant.
    input_names : dict of str to list of str
        The connected inputs of each participant.
    feeds : dict of str to list of Feed
        Their sources.
    follows_slopes : dict of str to bool
        The participants whose inputs run along lines.
    """

    def __init__(
        self, coupling: Coupling, reads: Mapping[str, Sequence[str]], unit_of: Mapping[str, str]
    ) -> None:
        descriptions, links = coupling.descriptions, coupling.links
        self._board_places = {
            (name, output): i for name, outputs in reads.items() for i, output in enumerate(outputs)
        }
        self.links_into: dict[str, list[Link]] = {name: [] for name in coupling.participants}
        for link in links:
            self.links_into[link.target].append(link)
        self.input_names = {name: [link.input for link in into] for name, into in self.links_into.items()}
        starts = [link.start for link in links if _is_continuous(link, descriptions)]
        self.numbers: dict[Port, int] = {port: i for i, port in enumerate(dict.fromkeys(starts))}
        self.names: Sequence[str] = [".".join(port) for port in self.numbers]
        self.owners: Sequence[str] = [unit_of[name] for name, _ in self.numbers]
        self.places = self.on_board(self.numbers)
        self.bonds: Sequence[tuple[int, int]] = [
            (self.numbers[one.start], self.numbers[other.start]) for one, other in coupling.bonds
        ]
        self.follows_slopes = {name: description.follows_slopes for name, description in descriptions.items()}
        held = {link.start for link in links if not self.follows_slopes[link.target]}
        self.held: Sequence[bool] = [start in held for start in self.numbers]
        self.feeds = {name: [*map(self._feed, into)] for name, into in self.links_into.items()}

    def _feed(self, link: Link) -> Feed:
        return Feed(link.source, self._board_places[link.start], self.number_of(link), link)

    def on_board(self, ports: Iterable[Port]) -> list[tuple[str, int]]:
        """The places of outputs on the board: participant, and place among the values that are read of it."""
        return [(name, self._board_places[name, output]) for name, output in ports]

    def number_of(self, link: Link) -> int:
        """The number of the output of a connection; -1 if it is not real, and follows no line."""
        return self.numbers.get(link.start, -1)

    def follows_lines(self, name: str) -> bool:
        """Whether inputs of a participant run along lines where the interface does."""
        return self.follows_slopes[name] and any(feed.interface_place >= 0 for feed in self.feeds[name])


def _is_continuous(link: Link, descriptions: Mapping[str, ParticipantDescription]) -> bool:
    """Whether a connection is of real variables; a parameter that is fed jumps."""
    source = descriptions[link.source].variables[link.output]
    target = descriptions[link.target].variables[link.input]
    return source.type == "real" and target.causality != "parameter"
