"""diffrax: Kvaerno's method of order 5, compiled by XLA, which is not counted; evaluations are unknown."""

import json
import sys
import time

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from stiff_laws import laws

jax.config.update("jax_enable_x64", True)
order = json.loads(sys.argv[1])
runs = []
for name, start, until, parameters, floor in order["problems"]:
    law = laws(jnp)[name]

    @jax.jit
    def solve(y, accuracy, law=law, until=until, parameters=parameters, floor=floor):
        return diffrax.diffeqsolve(
            diffrax.ODETerm(lambda t, y, args: law(t, y, parameters)),
            diffrax.Kvaerno5(),
            0.0,
            until,
            None,
            y,
            stepsize_controller=diffrax.PIDController(rtol=accuracy, atol=floor * accuracy),
            saveat=diffrax.SaveAt(t1=True),
            max_steps=100_000,
            throw=False,
        )

    y = jnp.array(start)
    for accuracy in order["accuracies"]:
        solution = jax.block_until_ready(solve(y, accuracy))
        seconds = np.inf
        for _ in range(order["rounds"]):
            begin = time.perf_counter()
            solution = jax.block_until_ready(solve(y, accuracy))
            seconds = min(seconds, time.perf_counter() - begin)
        runs.append([name, "diffrax Kvaerno5", seconds, 0, np.asarray(solution.ys)[-1].tolist()])
print(json.dumps({"runs": runs}))
