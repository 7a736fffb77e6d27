"""y' = -y(t - 1) to t = 5 with jitcdde and ddeint: errors and evaluations of the right-hand side."""

import json

import numpy as np
from ddeint import ddeint
from jitcdde import jitcdde, t, y

EXACT = 19 / 120


def with_jitcdde(tolerance):
    """Error at the end and evaluations of jitcdde at a tolerance, with steps that end at the breaks."""
    solver = jitcdde([-y(0, t - 1)], verbose=False)
    solver.constant_past([1.0])
    solver.set_integration_parameters(atol=tolerance, rtol=tolerance, first_step=0.01)
    solver.generate_lambdas()
    solver._initiate()  # makes the integrator
    integrator, count = solver.DDE, [0]
    evaluate = integrator.eval_f

    def evaluate_and_count(*arguments):
        count[0] += 1
        return evaluate(*arguments)

    integrator.eval_f = evaluate_and_count
    solver.step_on_discontinuities(propagations=2)  # ends at t = 3; three of them would end at 6
    value = solver.integrate(5.0)[0]
    return {"tolerance": tolerance, "error": abs(value - EXACT), "evaluations": count[0]}


def with_ddeint(points):
    """Error at the end and evaluations of ddeint, which has no tolerance, with so many points."""
    count = [0]

    def slope(past, time):
        count[0] += 1
        return -past(time - 1.0)

    values = ddeint(slope, lambda time: 1.0, np.linspace(0.0, 5.0, points))
    return {"points": points, "error": abs(float(np.ravel(values[-1])[0]) - EXACT), "evaluations": count[0]}


print(
    json.dumps(
        {
            "jitcdde": [with_jitcdde(tolerance) for tolerance in (1e-6, 1e-8, 1e-9, 1e-10, 1e-11)],
            "ddeint": [with_ddeint(points) for points in (501, 5001)],
        }
    )
)
