"""diffrax: a segment for each bounce, ended by an event; and the adjoint of a solve."""

import json

import diffrax
import jax
import jax.numpy as jnp
import optimistix
from problems import (
    DAMPING,
    FORCES,
    GRAVITY,
    HEIGHT,
    INTERVAL,
    POINTS,
    START,
    STIFFNESS,
    UNTIL,
    UNTIL_BALL,
    E,
    measured,
)

jax.config.update("jax_enable_x64", True)
CONTROL = diffrax.PIDController(rtol=1e-10, atol=1e-12)
FLOOR = diffrax.Event(lambda t, y, args, **_: y[0], optimistix.Newton(1e-12, 1e-12), direction=False)


def ball(parameters):
    e, h0 = parameters
    term = diffrax.ODETerm(lambda t, y, _: jnp.array([y[1], -GRAVITY]))
    t, y = 0.0, jnp.array([h0, 0.0])
    for bounce in range(4):
        event = FLOOR if bounce < 3 else None
        run = diffrax.diffeqsolve(
            term,
            diffrax.Tsit5(),
            t,
            UNTIL_BALL,
            0.01,
            y,
            stepsize_controller=CONTROL,
            event=event,
            max_steps=4096,
        )
        t, y = run.ts[-1], run.ys[-1]
        y = jnp.array([0.0, -e * y[1]]) if bounce < 3 else y
    return y[0]


def oscillator(parameters):
    k, c, f = parameters

    def law(t, y, _):
        i = jnp.minimum((t / INTERVAL).astype(int), POINTS - 2)
        s = t / INTERVAL - i
        return jnp.array([y[1], -k * y[0] - c * y[1] + (1.0 - s) * f[i] + s * f[i + 1]])

    control = diffrax.PIDController(rtol=1e-8, atol=1e-8)
    run = diffrax.diffeqsolve(
        *(diffrax.ODETerm(law), diffrax.Tsit5(), 0.0, UNTIL, 0.01, jnp.array([START, 0.0])),
        stepsize_controller=control,
        max_steps=16384,
    )
    return run.ys[-1][0]


def gradient_of(function, parameters):
    compiled = jax.jit(jax.grad(function))
    return lambda: jax.block_until_ready(compiled(parameters))


def flat(tree):
    return jnp.concatenate([jnp.ravel(leaf) for leaf in jax.tree.leaves(tree)])


of_ball = gradient_of(ball, (E, HEIGHT))
of_oscillator = gradient_of(oscillator, (STIFFNESS, DAMPING, jnp.array(FORCES)))
run_alone = jax.jit(oscillator)
alone = measured(lambda: jax.block_until_ready(run_alone((STIFFNESS, DAMPING, jnp.array(FORCES)))))
print(
    json.dumps(
        {
            "name": f"diffrax {diffrax.__version__}",
            "ball": measured(lambda: flat(of_ball())),
            "oscillator": {**measured(lambda: flat(of_oscillator())), "run": alone["seconds"]},
        }
    )
)
