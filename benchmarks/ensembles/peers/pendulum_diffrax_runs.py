"""Runs of the chain of pendula with diffrax, in the processors that this process may use."""

from functools import partial

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from chain import LINKS, A, B
from timed_runs import least_times

jax.config.update("jax_enable_x64", True)

TOLERANCES = (1e-5, 1e-6, 1e-7)
"""Relative tolerances; the absolute ones are a thousandth of them."""
MOST_STEPS = 100_000


def law(t, y, args):
    """The rates of the angles and of their rates."""
    angles, rates = y[:LINKS], y[LINKS:]
    differences = angles[:, None] - angles[None, :]
    force = -B * jnp.sin(angles) - (A * jnp.sin(differences)) @ rates**2
    factor = jax.scipy.linalg.cho_factor(A * jnp.cos(differences))
    return jnp.concatenate([rates, jax.scipy.linalg.cho_solve(factor, force)])


def last_angles(times, solver, angle, tolerance):
    """The angle between the last two links at `times`, with all links at `angle` in the beginning."""
    run = diffrax.diffeqsolve(
        diffrax.ODETerm(law),
        solver,
        t0=0.0,
        t1=times[-1],
        dt0=None,
        y0=jnp.concatenate([jnp.full(LINKS, angle), jnp.zeros(LINKS)]),
        stepsize_controller=diffrax.PIDController(rtol=tolerance, atol=1e-3 * tolerance),
        saveat=diffrax.SaveAt(ts=times),
        max_steps=MOST_STEPS,
    )
    return run.ys[:, LINKS - 1] - run.ys[:, LINKS - 2]


def timed_runs(task, threads):
    """All methods and tolerances; `task` is described in `pendulum_diffrax`."""
    times = jnp.linspace(0.0, task["until"], round(task["until"] / task["interval"]) + 1)
    angles = jnp.array(task["angles"])
    runs = []
    for name, solver in (("Tsit5", diffrax.Tsit5()), ("Dopri8", diffrax.Dopri8())):
        run_all = jax.jit(jax.vmap(partial(last_angles, times, solver), (0, None)))
        for tolerance in TOLERANCES:
            measured = partial(_run_to_the_end, run_all, angles, tolerance)
            measured()  # compiles
            seconds, cpu, courses = least_times(measured, task["passes"])
            method = {"method": f"{name}, {tolerance:g}", "threads": threads}
            end = np.asarray(courses)[:, -1].tolist()
            runs.append(method | {"seconds": seconds, "cpu": cpu, "end": end})
    return {"name": f"diffrax {diffrax.__version__} `vmap`", "runs": runs}


def _run_to_the_end(run_all, angles, tolerance):
    """The courses; jax returns from a call before its results are computed."""
    return jax.block_until_ready(run_all(angles, tolerance))
