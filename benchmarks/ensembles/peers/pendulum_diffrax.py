"""diffrax: the equations by hand, `vmap` over the runs; compiling is not counted.

XLA starts a thread for each processor of the process, so the processors are limited.
"""

import json
import os
import sys
import time

task = json.loads(sys.argv[1])


def measured(threads):
    """The runs in a process that may use this number of processors."""
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

    def relative_angle(angle, tolerance, solver):
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
        many = jax.jit(jax.vmap(lambda a, tol, solver=solver: relative_angle(a, tol, solver), (0, None)))
        for tolerance in (1e-5, 1e-6, 1e-7):
            jax.block_until_ready(many(angles, tolerance))
            seconds, cpu = np.inf, np.inf
            for _ in range(task["passes"]):
                began, used = time.perf_counter(), time.process_time()
                courses = jax.block_until_ready(many(angles, tolerance))
                seconds = min(seconds, time.perf_counter() - began)
                cpu = min(cpu, time.process_time() - used)
            runs.append(
                {
                    "method": f"{name}, {tolerance:g}",
                    "threads": threads,
                    "seconds": seconds,
                    "cpu": cpu,
                    "end": np.asarray(courses)[:, -1].tolist(),
                }
            )
    return {"name": f"diffrax {diffrax.__version__} `vmap`", "runs": runs}


if len(sys.argv) > 2:  # in the process of its own
    threads = int(sys.argv[2])
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:threads]))
    print(json.dumps(measured(threads)))
else:
    import subprocess

    runs, name = [], ""
    for threads in (1, task["threads"]):
        words = [sys.executable, __file__, sys.argv[1], str(threads)]
        answer = json.loads(
            subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()[-1]
        )
        name, runs = answer["name"], runs + answer["runs"]
    print(json.dumps({"name": name, "runs": runs}))
