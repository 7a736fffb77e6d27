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


def compiled_solver(law, until, parameters, floor):
    """The function of start and accuracy that integrates a problem; `floor` is atol over the accuracy."""

    @jax.jit
    def solve(y, accuracy):
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
            throw=False,  # an error far off says the same
        )

    return solve


def main():
    """Print problem, method, least wall time, 0 and end of each run."""
    request = json.loads(sys.argv[1])
    runs = []
    for name, start, until, parameters, floor in request["problems"]:
        solve, y = compiled_solver(laws(jnp)[name], until, parameters, floor), jnp.array(start)
        for accuracy in request["accuracies"]:
            jax.block_until_ready(solve(y, accuracy))  # compiles
            seconds = np.inf
            for _ in range(request["rounds"]):
                begin = time.perf_counter()
                solution = jax.block_until_ready(solve(y, accuracy))
                seconds = min(seconds, time.perf_counter() - begin)
            runs.append([name, "diffrax Kvaerno5", seconds, 0, np.asarray(solution.ys)[-1].tolist()])
    print(json.dumps({"runs": runs}))


main()
