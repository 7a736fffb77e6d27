"""What computes the accelerations of a tree of joints."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from cosim.errors import ContractError
from cosim.registration.kinds import plugin_kind
from cosim.system.schedule import Block

if TYPE_CHECKING:
    from cosim.contracts.constraint import Constraint
    from cosim.system.assembly import Assembly
    from cosim.system.state import State


@plugin_kind("dynamics_solver")
class DynamicsSolver(ABC):
    """Fills the bodies' poses, velocities and accelerations and the joints' ``u_dot``.

    The solver is asked once, when a system is assembled, for the blocks that do this. They read the
    joints' slots (``X_FM``, ``H_FM``, ``HDotU_FM``, ``tau``) and the bodies' (``mass`` …, ``F_GB``).

    Attributes
    ----------
    choice : str
        One line about how this model is solved, for ``cosim info`` and the summary of a run; written by
        `create_blocks`.
    """

    choice: str = ""

    @abstractmethod
    def create_blocks(self, assembly: Assembly) -> list[Block]:
        """The blocks of this solver for the joints of this model.

        Parameters
        ----------
        assembly : Assembly
            Gives parts and slots, allocates work slots, collects problems (`assembly.problem`).

        Returns
        -------
        list of Block
            With truthful `reads`, `writes` and `adds`: their order follows from these.
        """

    def constraint_equations(self, constraint: Constraint, state: State) -> list[Any]:
        """The equations of a constraint with the numbers of a State, for `Constraint.calc_equations`.

        A solver that takes no constraints has none.
        """
        raise ContractError(f"{type(self).__name__} does not know the equations of constraints")

    def explain(self, state: State, failure: str) -> str:
        """What to add to the message of a block of this solver that failed: which joint it was, or nothing.

        Parameters
        ----------
        state : State
            As far as it was realized when the block failed.
        failure : str
            What the block said.
        """
        return ""
