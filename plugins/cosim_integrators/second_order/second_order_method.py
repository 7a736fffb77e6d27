"""The arrays of methods for second-order form."""

from __future__ import annotations

from cosim.kit import MethodArrays, Record, StepMemory, rows_of, width_of


class FormNumbers(Record):
    """The lengths of q and u; behind them the numbers of the method."""

    size_q: float
    size_u: float


class FormMemory(StepMemory):
    """The memory from step to step."""

    rates_differ: float  # 0 while q' = u has held at every point, so that new speeds are the new rates


NUMBERS_AT = width_of(FormNumbers)


class SecondOrderMethod(MethodArrays):
    """The arrays of a method for q' = N(q) u."""

    @property
    def form(method):
        """The lengths of q and u."""
        return rows_of(FormNumbers, method.coefficients, 0, 1)[0]

    @property
    def nq(method):
        """The number of coordinates."""
        return int(method.form.size_q)

    @property
    def lengths(method):
        """The lengths of the substeps, as parts of the step."""
        return method.coefficients[NUMBERS_AT:]

    @property
    def memory(method):
        """The memory from step to step."""
        return rows_of(FormMemory, method.memory_numbers, 0, 1)[0]

    @property
    def last_slope(method):
        """The derivative at the end of the step."""
        return method.work_vector(4)

    @property
    def base(method):
        """The state from which a substep starts."""
        return method.work_vector(5)

    @property
    def origin(method):
        """The state at the start of a substep."""
        return method.work_vector(6)
