"""jaxonomy: its own bouncing ball, and an oscillator; gradients of `simulate` by JAX."""

import json

import jax
import jax.numpy as jnp
import jaxonomy
from jaxonomy.models.bouncing_ball import BouncingBall
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


class Driven(jaxonomy.LeafSystem):
    """y'' = -k y - c y' + f(t), where f is a line between two of 1,000 numbers."""

    def __init__(self):
        super().__init__(name="driven")
        self.declare_continuous_state(2, ode=self.law)
        self.declare_dynamic_parameter("k", STIFFNESS)
        self.declare_dynamic_parameter("c", DAMPING)
        self.declare_dynamic_parameter("f", jnp.array(FORCES))

    def law(self, time, state, **parameters):
        y, v = state.continuous_state
        f = parameters["f"]
        i = jnp.clip((time / INTERVAL).astype(int), 0, POINTS - 2)
        s = time / INTERVAL - i
        force = (1.0 - s) * f[i] + s * f[i + 1]
        return jnp.array([v, -parameters["k"] * y - parameters["c"] * v + force])


def end_of(system, until, accuracy, steps):
    """A function of a context: the first state at the end."""
    options = jaxonomy.SimulatorOptions(
        enable_autodiff=True, max_major_steps=steps, rtol=accuracy, atol=accuracy, save_time_series=False
    )
    return lambda context: jaxonomy.simulate(
        system, context, (0.0, until), options=options
    ).context.continuous_state[0]


def flat(tree):
    return jnp.concatenate([jnp.ravel(leaf) for leaf in jax.tree.leaves(jax.block_until_ready(tree))])


def of_ball():
    system = BouncingBall(g=GRAVITY, e=E)
    end, base = end_of(system, UNTIL_BALL, 1e-10, 20), system.create_context()

    def height(e, h0):
        return end(base.with_parameter("e", e).with_continuous_state(jnp.array([h0, 0.0])))

    slopes = jax.jit(jax.grad(height, argnums=(0, 1)))
    return measured(lambda: flat(slopes(E, HEIGHT)))


def of_oscillator():
    system = Driven()
    end, base = end_of(system, UNTIL, 1e-8, 5), system.create_context()
    start = base.with_continuous_state(jnp.array([START, 0.0]))

    def height(k, c, f):
        return end(start.with_parameters({"k": k, "c": c, "f": f}))

    given = STIFFNESS, DAMPING, jnp.array(FORCES)
    alone, slopes = jax.jit(height), jax.jit(jax.grad(height, argnums=(0, 1, 2)))
    run = measured(lambda: jax.block_until_ready(alone(*given)))
    return {**measured(lambda: flat(slopes(*given))), "run": run["seconds"]}


def tried(problem):
    try:
        return problem()
    except Exception as error:
        return {"error": f"{type(error).__name__}: {str(error).strip().splitlines()[0][:150]}"}


print(
    json.dumps(
        {
            "name": f"jaxonomy {jaxonomy.__version__}",
            "ball": tried(of_ball),
            "oscillator": tried(of_oscillator),
        }
    )
)
