"""The beginning of a run of an implicit method, and its restart after a jump, as kernel functions."""

from __future__ import annotations

from cosim.kit import redo_entry
from cosim_integrators.implicit.implicit_method import OLD, ImplicitMethod
from cosim_integrators.kit.start_of_run import continue_run, initialize_method
from cosim_integrators.kit.state_sizes import reset_sizes


def initialize_implicit_method(system, method, t):
    """Initialize the method: convergence and the sizes of the states are unknown."""
    code = initialize_method(system, method, t)
    method.memory.convergence = 1.0
    reset_sizes(method, system.y)
    return code


def continue_implicit_run(system, method, t):
    """Restart the method after a jump: its past is discarded, the step and the Jacobian are not.

    If the step turns out to be too long, error control rejects it; if the Jacobian has become wrong, Newton's
    method converges slowly and has it made again.
    """
    code = continue_run(system, method, t)
    memory = method.memory
    memory.last_step = 0.0
    memory.convergence = 1.0
    memory.jacobian_age = min(float(OLD), memory.jacobian_age)
    return code


initialize_implicit_steps = redo_entry(ImplicitMethod, initialize_implicit_method)
restart_implicit_steps = redo_entry(ImplicitMethod, continue_implicit_run)
