"""The arrays of Radau IIA methods: their coefficients, and the vectors of all stages.

With s stages the unknowns are z_i = y(t + c_i h) - y(t); `CollocationMethod.unknowns` holds the transformed
ones, in which Newton's systems are independent (`collocation_stages`).
"""

from __future__ import annotations

from cosim.kit import Record, as_table, rows_of, width_of
from cosim_integrators.implicit.implicit_method import NUMBERS_AT, ImplicitMethod


class CollocationNumbers(Record):
    """The numbers of the method.

    Behind them, padded to three stages: the nodes, T, its inverse, the weights of the error, for each stage
    its coefficients in the polynomial of dense output; then the correction of that polynomial, degrees 1 … s
    + 1.
    """

    stages: float
    has_real_system: float  # whether Newton's method has one
    shift: float  # of the error estimate, and of the real system
    pair_real: float  # of the complex system
    pair_imaginary: float
    exponent: float  # of the step in the estimate


WIDTH = 3
"""The length of the rows of the matrices: the largest number of stages."""
NODES_AT = NUMBERS_AT + width_of(CollocationNumbers)
TRANSFORM_AT, INVERSE_AT = NODES_AT + WIDTH, NODES_AT + WIDTH + WIDTH * WIDTH
WEIGHTS_AT = INVERSE_AT + WIDTH * WIDTH
PARTS_AT, CORRECTION_AT = WEIGHTS_AT + WIDTH, WEIGHTS_AT + WIDTH + WIDTH * WIDTH


class CollocationMethod(ImplicitMethod):
    """The arrays of the method.

    The history is z of the last step, which the next one extrapolates. The vectors of the family are z, the
    transformed unknowns, and the stage derivatives.
    """

    @property
    def numbers(method):
        """Stages and shifts."""
        return rows_of(CollocationNumbers, method.coefficients, NUMBERS_AT, 1)[0]

    @property
    def stages(method):
        """The number of stages."""
        return int(method.numbers.stages)

    def node(method, i):
        """The node of a stage."""
        return method.coefficients[NODES_AT + i]

    @property
    def transform(method):
        """T, a table."""
        return as_table(method.coefficients[TRANSFORM_AT:INVERSE_AT], WIDTH, WIDTH)

    @property
    def inverse(method):
        """The inverse of the transformation."""
        return as_table(method.coefficients[INVERSE_AT:WEIGHTS_AT], WIDTH, WIDTH)

    def error_weight(method, i):
        """The weight of a stage in the error estimate."""
        return method.coefficients[WEIGHTS_AT + i]

    @property
    def parts(method):
        """The coefficients of each stage in the polynomial of dense output; a table."""
        return as_table(method.coefficients[PARTS_AT:CORRECTION_AT], WIDTH, WIDTH)

    def dense_correction(method, power):
        """The share of the defect at the start in a coefficient of the polynomial."""
        return method.coefficients[CORRECTION_AT + power]

    @property
    def z(method):
        """The differences of y at all stages from y at the start."""
        return method.family(0, method.stages)

    @property
    def unknowns(method):
        """The transformed unknowns z, one vector for each stage."""
        return method.family(method.stages, method.stages)

    @property
    def derivatives(method):
        """The derivatives at all stages."""
        return method.family(2 * method.stages, method.stages)

    @property
    def last_derivative(method):
        """The derivative at the last stage, which is the end."""
        return method.family(3 * method.stages - 1, 1)
