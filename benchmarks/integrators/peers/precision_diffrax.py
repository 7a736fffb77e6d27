"""diffrax: compiled by XLA once for each problem and method; compiling is not counted."""

import functools

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from work import Work, fastest, print_runs

jax.config.update("jax_enable_x64", True)
METHODS = {
    "Bosh3": (diffrax.Bosh3, 3),
    "Tsit5": (diffrax.Tsit5, 6),
    "Dopri5": (diffrax.Dopri5, 6),
    "Dopri8": (diffrax.Dopri8, 13),
}
"""The solver and its evaluations a step; the last stage of one is the first of the next where it has that."""


@functools.lru_cache
def compiled_solver(law, method, until):
    """The function of start and accuracy that integrates a problem to its end, s."""
    solver, _ = METHODS[method]

    @jax.jit
    def integrate(y, accuracy):
        return diffrax.diffeqsolve(
            diffrax.ODETerm(lambda t, y, args: law(t, y)),
            solver(),
            0.0,
            until,
            None,
            y,
            stepsize_controller=diffrax.PIDController(rtol=accuracy, atol=1e-3 * accuracy),
            saveat=diffrax.SaveAt(t1=True),
            max_steps=200_000,
            throw=False,  # an error far off says the same
        )

    return integrate


def solve(law, start, until, method, accuracy, rounds):
    """See `work.print_runs`."""
    integrate, y = compiled_solver(law, method, until), jnp.array(start)
    jax.block_until_ready(integrate(y, accuracy))  # compiles
    seconds, solution = fastest(lambda: jax.block_until_ready(integrate(y, accuracy)), rounds)
    evaluations = int(solution.stats["num_steps"]) * METHODS[method][1] + 2
    return Work(seconds, evaluations, np.asarray(solution.ys)[-1].tolist())


print_runs(f"diffrax {diffrax.__version__}", jnp, METHODS, solve, tightest={"Bosh3": 1e-8})
