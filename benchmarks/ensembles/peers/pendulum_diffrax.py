"""diffrax: the equations by hand, `vmap` over the runs; compiling is not counted.

XLA starts a thread for each processor of the process, so there is a process for each number of threads, whose
processors are limited.
"""

import json
import os
import subprocess
import sys

from timed_runs import least_times


def run_with(task, threads):
    """The runs in this process, which may use this number of processors from now on."""
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:threads]))
    import diffrax
    import jax
    import jax.numpy as jnp
    import numpy as np
    from chain import LINKS, A, B

    jax.config.update("jax_enable_x64", True)

    def law(t, y, args):
        angles, rates = y[:LINKS], y[LINKS:]
        between = angles[:, None] - angles[None, :]
        force = -B * jnp.sin(angles) - (A * jnp.sin(between)) @ rates**2
        factor = jax.scipy.linalg.cho_factor(A * jnp.cos(between))
        return jnp.concatenate([rates, jax.scipy.linalg.cho_solve(factor, force)])

    times = jnp.linspace(0.0, task["until"], round(task["until"] / task["interval"]) + 1)

    def last_angle(angle, tolerance, solver):
        run = diffrax.diffeqsolve(
            *(diffrax.ODETerm(law), solver, 0.0, task["until"], None),
            jnp.concatenate([jnp.full(LINKS, angle), jnp.zeros(LINKS)]),
            stepsize_controller=diffrax.PIDController(rtol=tolerance, atol=1e-3 * tolerance),
            saveat=diffrax.SaveAt(ts=times),
            max_steps=100_000,
        )
        return run.ys[:, LINKS - 1] - run.ys[:, LINKS - 2]

    angles = jnp.array(task["angles"])
    runs = []
    for name, solver in (("Tsit5", diffrax.Tsit5()), ("Dopri8", diffrax.Dopri8())):
        run_all = jax.jit(jax.vmap(lambda a, tol, solver=solver: last_angle(a, tol, solver), (0, None)))
        for tolerance in (1e-5, 1e-6, 1e-7):
            jax.block_until_ready(run_all(angles, tolerance))  # compiles
            seconds, cpu, courses = least_times(
                lambda run_all=run_all, tolerance=tolerance: jax.block_until_ready(
                    run_all(angles, tolerance)
                ),
                task["passes"],
            )
            method = {"method": f"{name}, {tolerance:g}", "threads": threads}
            end = np.asarray(courses)[:, -1].tolist()
            runs.append(method | {"seconds": seconds, "cpu": cpu, "end": end})
    return {"name": f"diffrax {diffrax.__version__} `vmap`", "runs": runs}


def main():
    """Print the runs with each number of threads, of a process each."""
    task = json.loads(sys.argv[1])
    runs, name = [], ""
    for threads in (1, task["threads"]):
        command = [sys.executable, __file__, sys.argv[1], str(threads)]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        answer = json.loads(output.splitlines()[-1])
        name, runs = answer["name"], runs + answer["runs"]
    print(json.dumps({"name": name, "runs": runs}))


if len(sys.argv) > 2:  # in the process of its own
    print(json.dumps(run_with(json.loads(sys.argv[1]), int(sys.argv[2]))))
else:
    main()
