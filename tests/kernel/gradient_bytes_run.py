"""A process: writes the bytes of gradients through events, implicit steps and a delay."""

from delayed_parts import BY, behind
from derivative_parts import Ball, Relay
from gradient_checks import Rod, model_of

for model, objective, by, until, options in (
    (model_of(Ball()), "x.height", ["x.h0", "x.e", "x.g"], 1.0, {}),
    (model_of(Relay()), "x.y", ["x.a", "x.b", "x.j"], 1.0, {}),
    (model_of(Relay()), "x.y", ["x.a", "x.b", "x.j"], 0.6, {"integrator": "integrators.radau5"}),
    (model_of(Rod()), "x.u", ["x.d"], 1e-3, {"integrator": "integrators.bdf"}),
    (behind("delay", "x.y", delay=0.2, interpolation="dense_output"), "x.y", BY, 0.6, {}),
):
    run = model.simulate(gradient=by, until=until, output_interval=until / 4, **options)
    gradient = run.gradient(lambda result, name=objective: (0.0, {name: 1.0 + 0.0 * result[name]}))
    print(gradient.vector.tobytes().hex())
