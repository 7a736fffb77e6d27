"""The arrays of explicit Runge–Kutta methods.

The tableau is data, a flat array: `Tableau`, the nodes of stages and extra stages, where each row begins, and
the rows: stages, solution, error, second error, way and slope for stiffness, extra stages. Each row is its
count, and then pairs *(stage, coefficient)*. Last come the coefficients of dense output.
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

    line_ready: float  # what dense output needs at each call and is there: nothing, LINE, LIFTED


LINE, LIFTED = 1.0, 2.0
"""`ExplicitWork.line_ready`: the first three vectors that dense output keeps, or all of them."""


class PastSlots(Record):
    """For steps that read their own past (`step_in_own_past`); the offsets that it counts follow it."""

    overlaps: int  # slots in the cache that say how far a step looks into itself
    rings: int  # histories, in `k`
    side: int  # the slot that says to updates on which side of a jump they are
    inside_first: int  # blocks of the updates inside steps
    inside_last: int
    ahead_first: int  # and of those at their ends
    ahead_last: int
    points: int  # inside a step that are remembered


NODES_AT = width_of(Tableau)
MEMORY_HEADER = width_of(StepMemory)
PAST_HEADER = width_of(PastSlots)
STAGES_AT = 3
"""The first stage, among the vectors of ``work``."""


class ExplicitMethod(MethodArrays):
    """The arrays of an explicit method.

    In ``work`` lie, as vectors, a derivative for each stage, for the end of the step and for each extra
    stage; then what dense output keeps, four vectors, or one where it is not a cubic; then the sizes of the
    states as they were at the start of the step.
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
        """The derivative of a stage; behind them that at the end of the step, and those of extra stages."""
        return method.work_vector(STAGES_AT + i)

    @property
    def last_slope(method):
        """The derivative at the end of the step."""
        return method.stage(method.stages)

    def line(method, i):
        """One of the vectors that dense output keeps."""
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
