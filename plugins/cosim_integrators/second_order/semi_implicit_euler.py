"""Semi-implicit Euler."""

from __future__ import annotations

from cosim.kit import Capabilities
from cosim_integrators.kit.counted_evaluation import evaluate_stage
from cosim_integrators.second_order.fixed_steps import new_redo, new_step, rates_are_speeds
from cosim_integrators.second_order.second_order_integrator import SecondOrderIntegrator


def euler_substeps(system, method, t, t_end):
    """New speeds with the old derivative, then new coordinates with the new speeds."""
    y = system.y
    c = system.c
    n = method.n
    nq = method.nq
    start = method.start
    slope = method.slope
    step = t_end - t
    for m in range(nq, n):
        y[m] = start[m] + step * slope[m]
    if method.memory.rates_differ == 0.0:
        for m in range(nq):
            y[m] = start[m] + step * y[nq + m]
        status = evaluate_stage(system, method, t_end)
        if status != 0 or rates_are_speeds(method, y, c):
            return status
        method.memory.rates_differ = 1.0
    for m in range(nq):
        y[m] = start[m]
    status = evaluate_stage(system, method, t)
    if status != 0:
        return status
    for m in range(nq):
        y[m] = start[m] + step * c[m]
    return evaluate_stage(system, method, t_end)


class SemiImplicitEuler(SecondOrderIntegrator):
    """Semi-implicit (symplectic) Euler: order 1, one evaluation a step, fixed step only.

    Law: u_next = u + h f(t, q, u, z), z_next = z + h g(t, q, u, z), q_next = q + h N(q) u_next.

    When to use: real time, and to compare with game engines and Drake's discrete plants. Without damping and
    with a constant mass matrix the energy stays within bounds at any number of steps, in contrast to
    `ExplicitEuler`. Where q' = N(q) u is not q' = u, a step takes two evaluations.

    Parameters
    ----------
    **options
        `fixed_step` (s) is required; see `cosim.Integrator`.

    Examples
    --------
    >>> SemiImplicitEuler(fixed_step=1e-3).capabilities.symplectic
    True
    """

    bibtex = """
@article{hairer2003,
  author = {Hairer, Ernst and Lubich, Christian and Wanner, Gerhard},
  title = {Geometric numerical integration illustrated by the {S}t{\\"o}rmer--{V}erlet method},
  journal = {Acta Numerica},
  volume = {12},
  pages = {399--450},
  year = {2003}
}
"""

    order = 1
    capabilities = Capabilities(
        dense_order=1, symplectic=True, needs_second_order_form=True, supports_constraints=True
    )
    step_function = new_step(euler_substeps)
    redo_function = new_redo(euler_substeps)
