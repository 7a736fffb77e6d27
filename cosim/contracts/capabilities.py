"""The abilities of an integration method, declared once on its class."""

from __future__ import annotations

import math
from dataclasses import dataclass

MOST_POINTS = 2  # histories look for no more between two ends of steps


@dataclass(frozen=True)
class Capabilities:
    """Declared on the class of an integrator as `capabilities`; asked by simulators, kits and tables.

    Attributes
    ----------
    adaptive : bool
        Has an error estimate, so it can keep an accuracy; others need `fixed_step`.
    implicit : bool
        Solves equations in each step, so that stiffness does not limit the step.
    dense_order : int
        Order of the dense output: the error inside a step of length h is of order h^(dense_order + 1).
    cubic_until_completed : bool
        Dense output that was not completed (`MethodKernels`) is the cubic through both ends of the step:
        enough to look for witnesses, whose zeros are found on steps.
    symmetric : bool
        A step forward and a step back of the same length lead to where they began.
    symplectic : bool
        Keeps the energy of conservative systems within bounds, however long the run.
    needs_second_order_form : bool
        Only for systems in which q' = N(q) u, u' = f(t, q, u, z).
    restarts_cheaply : bool
        Has no history: an event costs no more than the step that it cuts.
    resumes_exactly : bool
        A restored State goes on to the same bytes as one that never stopped. Integrators of other libraries
        keep their history to themselves and begin anew.
    locates_kinks : bool
        Steps with error control end at kinks that components know, so that errors stay within the accuracy.
    supports_constraints : bool
        Corrects the solution by projection after each step, where the system has constraints.
    """

    adaptive: bool = False
    implicit: bool = False
    dense_order: int = 3
    cubic_until_completed: bool = False
    symmetric: bool = False
    symplectic: bool = False
    needs_second_order_form: bool = False
    restarts_cheaply: bool = True
    resumes_exactly: bool = True
    locates_kinks: bool = False
    supports_constraints: bool = False

    @property
    def points_inside(self) -> int:
        """The number of points inside a step that determine a dense output of this order.

        With value and derivative at n points and both ends a polynomial is of degree 2 n + 3, and its error
        of the order h^(2 n + 4).
        """
        return min(max(1, math.ceil((self.dense_order - 3) / 2)), MOST_POINTS)
