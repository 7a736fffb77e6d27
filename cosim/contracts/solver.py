"""The contract of solvers: they compute quantities of many parts together, such as accelerations."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from cosim.attributes import AbstractClosedAttributes

if TYPE_CHECKING:
    Block = Any
    State = Any
    Assembly = Any


class Solver(AbstractClosedAttributes):
    """Contributes blocks that compute what no part computes alone.

    A plugin declares a base class for its field as a kind (`cosim.plugin_kind`); parts that need such a
    solver name it (`Component.solved_by`), and a setting of the model says which one it is.

    Attributes
    ----------
    setting : str
        Of the base class of a kind: the setting of a `Model` that names the solver.
    default : str
        Of the base class of a kind: the id where the model says nothing.
    choice : str
        One line about how this model is solved, for ``cosim info`` and the summary of a run; written by
        `create_blocks`.
    """

    setting: ClassVar[str] = ""
    default: ClassVar[str] = ""
    choice: str = ""

    @property
    def describes_start(self) -> bool:
        """Whether `describe_start` may report something about this model: a State is realized for it then."""
        return type(self).describe_start is not Solver.describe_start

    @abstractmethod
    def create_blocks(self, assembly: Assembly) -> list[Block]:
        """The blocks of this solver for this model.

        Parameters
        ----------
        assembly : Assembly
            Gives parts and slots, allocates work slots, collects problems (`assembly.problem`).

        Returns
        -------
        list of Block
            With truthful `reads`, `writes` and `adds`: their order follows from these.
        """

    def explain(self, state: State, failure: str) -> str:
        """An addition to the message of a failed block of this solver: the parts that are the cause, or "".

        Parameters
        ----------
        state : State
            As far as it was realized when the block failed.
        failure : str
            What the block said.
        """
        return ""

    def explain_ahead(self, state: State, duration: float) -> str:
        """A sentence, behind a space, about where the motion leads within a time; empty where it is ordinary.

        Asked for when a step could not be taken.

        Parameters
        ----------
        state : State
            Of the last good step.
        duration : float
            s
        """
        return ""

    def unmet(self, state: State, tolerance: float) -> list[str]:
        """The conditions of the solver that are missed by more than a tolerance, each with the distance.

        Parameters
        ----------
        state : State
            Realized to ACCELERATION.
        tolerance : float
            In the units of the conditions.
        """
        return []

    def describe_start(self, state: State) -> list[tuple[str, str]]:
        """Notices about the state in which a run begins.

        Parameters
        ----------
        state : State
            Realized to ACCELERATION; it meets the conditions of the solver.

        Returns
        -------
        list of (str, str)
            Path of a slot with a notice to report, and a sentence in place of the notice's.

        Raises
        ------
        SimulationError
            No run can begin there.
        """
        return []
