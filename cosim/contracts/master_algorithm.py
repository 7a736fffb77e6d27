"""The contract of co-simulation algorithms: how participants exchange values and step."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cosim.attributes import MadeFromOptions
from cosim.registration.kinds import plugin_kind

Vector = NDArray[np.float64]


class Course(NamedTuple):
    """The values of the interface over a step: a line for each.

    Participants that take derivatives of their inputs follow the line; the others hold its middle value,
    which has the same integral.

    Attributes
    ----------
    middle : ndarray, shape (n,)
        Values of `Exchange.interface` in the middle of the step.
    slope : ndarray, shape (n,)
        Per second.
    size : float
        Length of the step, s.
    """

    middle: Vector
    slope: Vector
    size: float


class FeedthroughLoop(NamedTuple):
    """A closed loop of direct feedthrough: what its outputs are at an instant depends on themselves.

    Attributes
    ----------
    participants : tuple of str
        Whose outputs these are, in the order in which they are stepped; neighbours in that order.
    values : tuple of str
        Names of the interface (`Exchange.interface_names`) on the loop.
    """

    participants: tuple[str, ...]
    values: tuple[str, ...]


class Exchange(Protocol):
    """The operations that the master offers to its algorithm.

    Between the participants lies a board with the last values read of every output. The *interface*
    are the real outputs on it that feed an input, each once.

    Attributes
    ----------
    order : sequence of str
        Names of the participants, in the order in which they are stepped.
    interface_names : sequence of str
        ``participant.output`` of each value of the interface.
    interface_owners : sequence of str
        For each of them the name in `order` that gives it: participants that step as one go under the name of
        the first of them.
    interface_held : sequence of bool
        For each of them whether a participant that it feeds holds the middle value of a course.
    can_restore : bool
        Whether all participants can go back to a saved state.
    loops : sequence of FeedthroughLoop
        For an algorithm with `MasterAlgorithm.solves_loops`: no order of the participants resolves these, so
        their values have to be found by iteration.
    bonds : sequence of (int, int)
        Power bonds: places in the interface of two outputs, each of which feeds the participant of the other,
        and whose product is a power.
    """

    order: Sequence[str]
    can_restore: bool
    loops: Sequence[FeedthroughLoop]
    interface_names: Sequence[str]
    interface_owners: Sequence[str]
    interface_held: Sequence[bool]
    bonds: Sequence[tuple[int, int]]

    def set_inputs(self, name: str, course: Course | None = None) -> None:
        """Write the connected inputs of a participant, converted to their units.

        From the board; with a course, real inputs from it.
        """

    def advance(self, name: str, time: float, size: float) -> None:
        """Step a participant from `time` by `size` (s); an early return is recorded and continued."""

    def advance_all(self, time: float, size: float) -> None:
        """Step all participants, side by side in threads where the run has several."""

    def read_outputs(self, name: str, end: Vector | None = None) -> None:
        """Read the outputs of a participant onto the board.

        Parameters
        ----------
        name : str
        end : ndarray, shape (n,), optional
            Values of `interface` at the end of a step in which the inputs ran along a course. Outputs that
            depend directly on inputs are those for these values: the inputs are set once more before they are
            read, where a participant has such outputs and lets them be read between setting and stepping.
        """

    def interface(self) -> Vector:
        """A copy of the values of the interface on the board, shape (n,)."""

    def put(self, values: Vector) -> None:
        """Write values of the interface onto the board."""

    def derivatives(self) -> Vector | None:
        """The derivatives of the interface's values by each other at this instant, at fixed states.

        Returns
        -------
        ndarray, shape (n, n), or None
            Row: the output that depends; None where a participant with direct feedthrough gives no
            directional derivatives.
        """

    def save(self, names: Sequence[str] | None = None) -> Any:
        """A token for the state of these participants and what the board has of them; of all unless given."""

    def restore(self, token: Any) -> None:
        """Go back to a saved state; a token may be used many times."""


@plugin_kind("master_algorithm")
class MasterAlgorithm(MadeFromOptions):
    """One communication step of a co-simulation with a fixed step.

    Before the first step the master has initialized every participant and made inputs and outputs
    consistent at the start; the board holds the outputs at the present communication point. After
    `step` every participant has reached the next one and the board holds the outputs there.

    Attributes
    ----------
    exchanges_within_step : bool
        Whether a participant sees results that others reached in the same step. The participants then
        go in the order of their dependencies, and a closed loop of direct feedthrough, which no order
        resolves, is refused unless it `solves_loops`; otherwise they go as they were given.
    solves_loops : bool
        Whether it iterates the loops that `Exchange.loops` names, going back to saved states.
    restores : bool
        Whether it goes back to saved states; participants that cannot are refused.
    varies_step : bool
        Whether participants have to step by other lengths than the communication step; those that cannot
        are refused.
    fixed_sequence : bool
        Whether `step` does the same calls in the same order in every step, whatever the values. The master
        then notes them once and repeats them in compiled code.
    order : int
        The error of the coupling falls with this power of the communication step.
    contract_kit : str or None
        Of a class: empty where the kit of algorithms is none for it.
    kit_values : dict of str to object
        Of a class: attributes of the kit for it, where ``cosim check`` runs it.

    Examples
    --------
    >>> class Parallel(MasterAlgorithm):
    ...     '''All step from the same values.'''
    ...     def step(self, exchange, time, size):
    ...         for name in exchange.order: exchange.set_inputs(name)
    ...         exchange.advance_all(time, size)
    ...         for name in exchange.order: exchange.read_outputs(name)
    """

    exchanges_within_step: bool = False
    solves_loops: bool = False
    restores: bool = False
    varies_step: ClassVar[bool] = False
    fixed_sequence: bool = False
    order: int = 1
    contract_kit: ClassVar[str | None] = None
    kit_values: ClassVar[Mapping[str, Any]] = {}

    def tightened(self) -> MasterAlgorithm | None:
        """A copy with a tenth of the tolerance, if the coupling error follows the tolerance; else None."""
        return None

    def initialize(self, exchange: Exchange, time: float) -> None:  # noqa: B027 - most have nothing to forget
        """Forget earlier runs; called at the start `time` (s), before the first step."""

    @property
    def about(self) -> str:
        """A step with these options, explained in a sentence or two.

        Needed where the calls of a step depend on the values; the second paragraph of the docstring unless
        given.
        """
        return (inspect.getdoc(type(self)) or "").partition("\n\n")[2].partition("\n\n")[0]

    def course_of_inputs(self, stepped: bool) -> str:
        """The course of a real input over a step: "the line through the last two values, continued".

        A participant follows that, or holds the mean of it.

        Parameters
        ----------
        stepped : bool
            Whether the source steps before the participant that has the input.

        Returns
        -------
        str
            Empty when there is nothing to say.
        """
        return ""

    @abstractmethod
    def step(self, exchange: Exchange, time: float, size: float) -> None:
        """Take all participants from the communication point `time` to ``time + size`` (s).

        Raises
        ------
        SimulationError
            When it cannot go on: names the values that it could not settle.
        """

    @property
    def figures(self) -> dict[str, float]:
        """Counts of this run: iterations, rejected steps."""
        return {}
