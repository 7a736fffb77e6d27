"""Base class for an author's implicit methods, whose step is one kernel function."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

import cosim
from cosim.kit import Capabilities, Record, quote, rows_of
from cosim_integrators.implicit.correction_sizes import set_weights, size_of_attempt
from cosim_integrators.implicit.diagonally_implicit import following_step
from cosim_integrators.implicit.driver import new_step
from cosim_integrators.implicit.implicit_method import NO_JACOBIAN, NUMBERS_AT, OK, ImplicitMethod
from cosim_integrators.implicit.integrator import ImplicitIntegrator
from cosim_integrators.implicit.matrices import make_matrices, solve_real
from cosim_integrators.implicit.newton import solve_stage
from cosim_integrators.implicit.repeated_implicit_step import new_followed_step, new_redo
from cosim_integrators.kit.counted_evaluation import evaluate_stage

SAFETY = 0.9  # of the step that would just meet the tolerance
LATER = 1e-3  # of the step: rounding errors grow a thousandfold, and f''' counts 3e-7 times
DEGREE = 3.0  # of the dense output, a cubic
ARGUMENTS = ("system", "method", "t", "t_end")
"""The arguments of `take` and `keep`."""


class StepNumbers(Record):
    """The numbers of a method."""

    exponent: float  # of the step in the error estimate
    fresh_jacobian: float  # whether each step makes the Jacobian anew


class StepOfMethod(ImplicitMethod):
    """The content of ``method`` for a step.

    Attributes
    ----------
    n : int
        Number of states.
    start, slope : view, shape (n,)
        States and derivatives at the start of the step.
    error : view, shape (n,)
        A method with error control writes the error of its step here.
    last_step : float
        Length of the previous step, s; 0 at the beginning of a run and after a jump.
    """

    @property
    def step_numbers(method):
        """The numbers of the method."""
        return rows_of(StepNumbers, method.coefficients, NUMBERS_AT, 1)[0]

    @property
    def last_step(method):
        """The length of the previous step, s; 0 at the beginning of a run and after a jump."""
        return method.memory.last_step

    def vector(method, i):
        """A vector for temporary values; there are as many as the class says in `vectors`."""
        return method.family(i, 1)

    # past(i), of `ImplicitMethod`: a vector of the history; there are as many as the class says in `history`


def evaluate(system, method, t):
    """Compute the derivatives ``system.c`` at `t` and ``system.y``; 0, or the status of a failure."""
    return evaluate_stage(system, method, t)


def differentiate_by_time(system, method, t, t_end, out):
    """Write the partial derivative of f(t, y) by time at the start of the step; 0, or a failure's status.

    It takes two evaluations a little later with the states of the start, and is exact if f is a polynomial of
    degree 2 in time.
    """
    y = system.y
    start = method.start
    for m in range(method.n):
        y[m] = start[m]
    later = t + LATER * (t_end - t)
    twice = t + 2.0 * LATER * (t_end - t)
    near, far = later - t, twice - t
    status = evaluate_stage(system, method, later)
    if status != 0:
        return status
    for m in range(method.n):
        out[m] = (system.c[m] - method.slope[m]) / near
    status = evaluate_stage(system, method, twice)
    for m in range(method.n):
        out[m] += near / (far - near) * (out[m] - (system.c[m] - method.slope[m]) / far)
    return status


def factor_matrix(method, h):
    """Factor ``I / h - J``, J the Jacobian at the start of the step; 0, or the status of a failure."""
    return make_matrices(method, h, 1.0, 0.0, 0.0)


def solve_with_matrix(method, b):
    """Replace `b` by the solution x of ``(I / h - J) x = b``, with the `h` of `factor_matrix`."""
    solve_real(method, b)


def solve_implicit(system, method, t, base, h):
    """Solve ``y = base + h f(t, y)`` by Newton's method from the guess ``system.y``; 0, or why it failed.

    Call `factor_matrix` with the same `h` before.
    """
    base_of_stage = method.base
    for m in range(method.n):
        base_of_stage[m] = base[m]
    return solve_stage(system, method, t, h)


class ImplicitStepIntegrator(ImplicitIntegrator):
    """Base class for an author's implicit method: a subclass has one or two kernel functions and numbers.

    ``take(system, method, t, t_end)`` steps from ``method.start``, with the derivatives ``method.slope``, to
    ``t_end``. It leaves the end in ``system.y`` and, with error control, the error in ``method.error``. It
    returns 0, or the status that `evaluate`, `factor_matrix` or `solve_implicit` returned. It must not change
    the history, since the step may be repeated shorter. ``keep(system, method, t, t_end)`` writes the history
    of an accepted step; the derivatives at its end are in ``system.c``.

    The base class does the rest: error control, the Jacobian, kinks, events, constraints, dense output (the
    cubic through both ends with their derivatives), saved and restored States, machine code and native FMUs.

    Attributes
    ----------
    order : int
        The order of the solution.
    error_exponent : int
        The power of the step with which the error estimate shrinks; 0: no estimate, fixed steps only.
    take, keep : function
        Kernel functions.
    vectors, history : int
        The numbers of vectors ``method.vector(i)`` for temporary values, and of vectors ``method.past(i)``
        that remain from step to step.
    fresh_jacobian : bool
        Whether each step makes a new Jacobian, as Rosenbrock methods need; otherwise it is used until
        Newton's method converges slowly.
    restarts_cheaply : bool
        Whether the first step, and that after a jump, has the same order as all others; False for a multistep
        method that begins with a lower one.
    """

    error_exponent: ClassVar[int] = 0
    take: ClassVar[Callable[..., Any]]
    keep: ClassVar[Callable[..., Any] | None] = None
    vectors: ClassVar[int] = 0
    history: ClassVar[int] = 0
    fresh_jacobian: ClassVar[bool] = False
    restarts_cheaply: ClassVar[bool] = True
    shifts = (1.0, 0.0, 0.0)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "take" not in vars(cls):
            return  # a base of others
        if faults := _faults(cls):
            raise cosim.ContractError("\n".join(f"{cls.__name__}: {fault}" for fault in faults))
        attempt, accept = _attempt_of(_function(cls.take)), _accept_of(_function(cls.keep))
        cls.step_function = new_step(StepOfMethod, attempt, accept)
        cls.redo_function = new_redo(StepOfMethod, attempt, accept)
        cls.followed_function = new_followed_step(StepOfMethod, attempt, accept)
        numbers = StepNumbers(exponent=cls.error_exponent or 1, fresh_jacobian=cls.fresh_jacobian)
        cls.method = np.frombuffer(numbers).copy()
        if "capabilities" not in vars(cls):
            cls.capabilities = Capabilities(
                adaptive=cls.error_exponent > 0,
                implicit=True,
                locates_kinks=cls.error_exponent > 0,
                supports_constraints=True,
                dense_order=min(3, cls.order),
                restarts_cheaply=cls.restarts_cheaply,
            )

    @property
    def error_order(self) -> int:
        """The exponent of the step in the error estimate."""
        return self.error_exponent or self.order


def _function(value: Any) -> Any:
    """The plain function, also if it is a static method of the class."""
    return getattr(value, "__func__", value)


def _faults(cls: type[ImplicitStepIntegrator]) -> list[str]:
    """The faults in the numbers and functions of a class."""
    faults = []
    for name in ("take", "keep"):
        function = _function(getattr(cls, name))
        if function is None and name == "keep":
            continue
        if not callable(function):
            faults.append(f"{name} is {quote(function)}, needs a function: {name}(system, method, t, t_end)")
        elif (argument_names := function.__code__.co_varnames[: function.__code__.co_argcount]) != ARGUMENTS:
            faults.append(f"{name}({', '.join(argument_names)}): needs the arguments {', '.join(ARGUMENTS)}")
    for name, least in (("order", 1), ("error_exponent", 0), ("vectors", 0), ("history", 0)):
        value = getattr(cls, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            faults.append(f"{name} is {quote(value)}, needs a whole number, {least} at least")
    if cls.history and cls.keep is None:
        faults.append("history is kept by nothing: write keep(system, method, t, t_end)")
    return faults


def _attempt_of(take: Callable[..., Any]) -> Callable[..., Any]:
    """Make the function of an attempt at a step that `driver` calls."""

    def attempt_step(system, method, t, t_end):
        attempt = method.attempt
        step = t_end - t
        exponent = method.step_numbers.exponent
        set_weights(method, method.start, step)
        attempt.rate = 0.0
        attempt.iterations = 0.0
        status = take(system, method, t, t_end)
        if status != OK:
            return status
        attempt.estimate = 0.0
        if method.is_controlled:
            size = size_of_attempt(method, t, step, system.y, system.c, exponent)
            attempt.estimate = size
            if size > 0.0:
                attempt.factor = SAFETY * math.pow(size, -1.0 / exponent)
        return OK

    return attempt_step


def _accept_of(keep: Callable[..., Any] | None) -> Callable[..., Any]:
    """Make the function that `driver` calls for an accepted step: dense output, history, next step."""
    if keep is None:

        def accept_step(system, method, t, t_end, ideal):
            store_cubic(method, system.c, t_end - t)
            return next_length(method, t_end - t, ideal)

        return accept_step

    def accept_and_keep(system, method, t, t_end, ideal):
        store_cubic(method, system.c, t_end - t)
        keep(system, method, t, t_end)
        return next_length(method, t_end - t, ideal)

    return accept_and_keep


def store_cubic(method, last_slope, step):
    """Write the coefficients of the cubic through both ends of the step with their derivatives."""
    method.attempt.degree = DEGREE
    start = method.start
    end = method.end
    slope = method.slope
    first = method.dense(0)
    second = method.dense(1)
    third = method.dense(2)
    for m in range(method.n):
        rise = end[m] - start[m]
        first[m] = step * slope[m]
        second[m] = 3.0 * rise - step * (2.0 * slope[m] + last_slope[m])
        third[m] = step * (slope[m] + last_slope[m]) - 2.0 * rise


def next_length(method, step, ideal):
    """Store the length of the step and the age of the Jacobian; returns the length of the next step."""
    following = following_step(method, step, ideal, method.step_numbers.exponent)
    if method.step_numbers.fresh_jacobian != 0.0:
        method.memory.jacobian_age = NO_JACOBIAN
    return following
