"""The arrays of explicit Runge–Kutta methods.

The tableau is one flat array: `Tableau`, the nodes of stages and extra stages, the places where the rows
begin, and the rows: stages, solution, error, second error, differences of states and of derivatives that show
stiffness (`stiffness`), extra stages. A row is the count of its terms, and then pairs *(stage, coefficient)*.
Last come the coefficients of dense output.
"""

from __future__ import annotations

from cosim.kit import OWN, WORK_HEADER, MethodArrays, Record, StepMemory, rows_of, width_of
from cosim_integrators.kit.size_memory import StateSizes


class Tableau(Record):
    """The shape of a tableau."""

    stages: float
    first_same_as_last: float
    has_error: float
    has_second_error: float
    degree: float  # coefficients of each stage in dense output; 0: a cubic, which an extra stage lifts
    dense_at: float  # where they begin
    rows_at: float  # where the table of rows begins
    extra_stages: float  # of dense output
    order: float
    notices_stiffness: float
    stability_limit: float  # where the stability region ends on the negative real axis


class ExplicitWork(Record):
    """Results of the last step of an explicit method."""

    line_ready: float  # which vectors of dense output are computed: none (0), `LINE` or `LIFTED`


LINE, LIFTED = 1.0, 2.0
"""`ExplicitWork.line_ready`: the vectors of the line and its cubic bend, or those of the quartic, too."""


class PastSlots(Record):
    """For steps that read their own past (`step_in_own_past`).

    Behind it come the offsets of the slots `overlaps` and of the `rings`.
    """

    overlaps: int  # count of slots in the cache that say how far a step reads its own past
    rings: int  # count of histories, in `k`
    side: int  # the slot that tells updates on which side of a jump they are
    inside_first: int  # blocks of the updates inside steps, up to `inside_last`
    inside_last: int
    ahead_first: int  # blocks of the updates at the ends of steps, up to `ahead_last`
    ahead_last: int
    points: int  # count of points inside a step that enter the histories


NODES_AT = width_of(Tableau)
MEMORY_HEADER = width_of(StepMemory)
PAST_HEADER = width_of(PastSlots)
STAGES_AT = 3
"""The first stage, among the vectors of ``work``."""


class ExplicitMethod(MethodArrays):
    """The arrays of an explicit method.

    ``work`` holds, as vectors, a derivative for each stage, for the end of the step and for each extra stage;
    the vectors of dense output (four for a cubic, else one); and the sizes of the states at the start of the
    step.
    """

    @property
    def tableau(method):
        """The shape of the tableau."""
        return rows_of(Tableau, method.coefficients, 0, 1)[0]

    @property
    def stages(method):
        """The number of stages."""
        return int(method.tableau.stages)

    @property
    def extra_stages(method):
        """The number of further stages for dense output."""
        return int(method.tableau.extra_stages)

    def node(method, i):
        """The node of a stage; extra stages follow the others."""
        return method.coefficients[NODES_AT + i]

    @property
    def progress(method):
        """Results of the last step."""
        return rows_of(ExplicitWork, method.work_numbers, OWN, 1)[0]

    @property
    def derivatives(method):
        """The derivatives of all stages, one behind the other."""
        return method.work_numbers[WORK_HEADER + STAGES_AT * method.n :]

    def stage(method, i):
        """The derivative of stage `i`; behind the stages come the end of the step and the extra stages."""
        return method.work_vector(STAGES_AT + i)

    @property
    def last_slope(method):
        """The derivative at the end of the step."""
        return method.stage(method.stages)

    def line(method, i):
        """Vector `i` of dense output.

        0: the rounding error of the rise over the step. For a cubic 1 and 2: by how much the derivatives at
        both ends, times the step, exceed the rise; 3: the same for the extra stage and the cubic there.
        """
        return method.stage(method.stages + 1 + method.extra_stages + i)

    @property
    def sizes(method):
        """The sizes of the states; with error control alone."""
        return StateSizes(method.n, method.memory_numbers[MEMORY_HEADER:])

    @property
    def sizes_at_start(method):
        """The sizes of the states at the start of the step."""
        of_dense_output = 4 if method.tableau.degree == 0.0 else 1
        vectors = STAGES_AT + method.stages + 1 + method.extra_stages + of_dense_output
        return StateSizes(method.n, method.work_numbers[WORK_HEADER + vectors * method.n :])

    @property
    def floors(method):
        """The absolute tolerances of the step."""
        return method.sizes.floors if method.is_controlled else method.absolute_tolerances

    @property
    def may_read_own_step(method):
        """Whether a step may need its own values as the past."""
        return method.own_slots.shape[0] > 0

    @property
    def past(method):
        """The slots for reading its own step as the past."""
        return rows_of(PastSlots, method.own_slots, 0, 1)[0]

    @property
    def overlaps(method):
        """Offsets in the cache of how far a step reads its own past, s."""
        return method.own_slots[PAST_HEADER : PAST_HEADER + method.past.overlaps]

    @property
    def rings(method):
        """The places of histories in `k`."""
        return method.own_slots[PAST_HEADER + method.past.overlaps :]
