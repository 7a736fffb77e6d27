"""diffrax: a segment for each bounce, ended by an event; and the adjoint of a solve."""

import diffrax
import jax
import jax.numpy as jnp
import optimistix
from problems import Ball, Oscillator, measured, measured_with_run, print_results

jax.config.update("jax_enable_x64", True)
FLOOR = diffrax.Event(lambda t, y, args, **_: y[0], optimistix.Newton(1e-12, 1e-12), direction=False)


def solve(law, begin, end, start, control, most_steps, event=None):
    """The time and state at the end, or at the event."""
    run = diffrax.diffeqsolve(
        *(diffrax.ODETerm(law), diffrax.Tsit5(), begin, end, 0.01, start),
        stepsize_controller=control,
        event=event,
        max_steps=most_steps,
    )
    return run.ts[-1], run.ys[-1]


def height_at_end(parameters):
    """Height of the ball at its end, m, from its restitution and the height of its fall."""
    e, height = parameters
    control = diffrax.PIDController(rtol=1e-10, atol=1e-12)
    t, y = 0.0, jnp.array([height, 0.0])
    for _ in range(3):
        t, y = solve(fall, t, Ball.end, y, control, 4096, FLOOR)
        y = jnp.array([0.0, -e * y[1]])
    _, y = solve(fall, t, Ball.end, y, control, 4096)
    return y[0]


def fall(t, y, _):
    """The rates of height and speed between bounces."""
    return jnp.array([y[1], -Ball.gravity])


def value_at_end(parameters):
    """Value of the oscillator at its end, from stiffness, damping and forces."""
    k, c, f = parameters

    def law(t, y, _):
        i = jnp.minimum((t / Oscillator.interval).astype(int), Oscillator.points - 2)
        s = t / Oscillator.interval - i
        return jnp.array([y[1], -k * y[0] - c * y[1] + (1.0 - s) * f[i] + s * f[i + 1]])

    control = diffrax.PIDController(rtol=1e-8, atol=1e-8)
    _, y = solve(law, 0.0, Oscillator.end, jnp.array([Oscillator.start, 0.0]), control, 16384)
    return y[0]


def slopes_of(function, parameters):
    """A function that computes the compiled gradient of another one at these parameters."""
    gradient = jax.jit(jax.grad(function))

    def slopes():
        leaves = jax.tree.leaves(jax.block_until_ready(gradient(parameters)))
        return jnp.concatenate([jnp.ravel(leaf) for leaf in leaves])

    return slopes


def ball():
    """The time of the gradient of the ball, and the gradient."""
    return measured(slopes_of(height_at_end, (Ball.restitution, Ball.height)))


def oscillator():
    """The times of the gradient and of a run of the oscillator, and the gradient."""
    parameters = Oscillator.stiffness, Oscillator.damping, jnp.array(Oscillator.forces)
    run = jax.jit(value_at_end)
    return measured_with_run(
        slopes_of(value_at_end, parameters), lambda: jax.block_until_ready(run(parameters))
    )


print_results(f"diffrax {diffrax.__version__}", ball=ball, oscillator=oscillator)
