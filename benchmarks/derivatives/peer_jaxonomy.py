"""jaxonomy: its own bouncing ball, and an oscillator; gradients of `simulate` by JAX."""

import jax
import jax.numpy as jnp
import jaxonomy
from jaxonomy.models.bouncing_ball import BouncingBall
from problems import Ball, Oscillator, measured, measured_with_run, print_results

jax.config.update("jax_enable_x64", True)


class Driven(jaxonomy.LeafSystem):
    """The system of `Oscillator`."""

    def __init__(self):
        super().__init__(name="driven")
        self.declare_continuous_state(2, ode=self.law)
        self.declare_dynamic_parameter("k", Oscillator.stiffness)
        self.declare_dynamic_parameter("c", Oscillator.damping)
        self.declare_dynamic_parameter("f", jnp.array(Oscillator.forces))

    def law(self, time, state, **parameters):
        """The rates of value and speed; the force is linear between its points."""
        y, v = state.continuous_state
        f = parameters["f"]
        i = jnp.clip((time / Oscillator.interval).astype(int), 0, Oscillator.points - 2)
        s = time / Oscillator.interval - i
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
    """The numbers of a tree of arrays in one array, once they are computed."""
    return jnp.concatenate([jnp.ravel(leaf) for leaf in jax.tree.leaves(jax.block_until_ready(tree))])


def ball():
    """The time of the gradient of the ball, and the gradient."""
    system = BouncingBall(g=Ball.gravity, e=Ball.restitution)
    end, base = end_of(system, Ball.end, 1e-10, 20), system.create_context()

    def height_at_end(e, height):
        return end(base.with_parameter("e", e).with_continuous_state(jnp.array([height, 0.0])))

    slopes = jax.jit(jax.grad(height_at_end, argnums=(0, 1)))
    return measured(lambda: flat(slopes(Ball.restitution, Ball.height)))


def oscillator():
    """The times of the gradient and of a run of the oscillator, and the gradient."""
    system = Driven()
    end, base = end_of(system, Oscillator.end, 1e-8, 5), system.create_context()
    start = base.with_continuous_state(jnp.array([Oscillator.start, 0.0]))

    def value_at_end(k, c, f):
        return end(start.with_parameters({"k": k, "c": c, "f": f}))

    parameters = Oscillator.stiffness, Oscillator.damping, jnp.array(Oscillator.forces)
    run, slopes = jax.jit(value_at_end), jax.jit(jax.grad(value_at_end, argnums=(0, 1, 2)))
    return measured_with_run(
        lambda: flat(slopes(*parameters)), lambda: jax.block_until_ready(run(*parameters))
    )


print_results(f"jaxonomy {jaxonomy.__version__}", ball=ball, oscillator=oscillator)
