"""CasADi: Runge-Kutta steps with events that it locates itself; CVODES and its adjoint.

Derivatives of CVODES through an event end in CV_ILL_INPUT (3.8.2).
"""

import json

import casadi
import numpy as np
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


def ball():
    """Events are located inside a solve; its Jacobian goes through them."""
    x, e = casadi.MX.sym("x", 2), casadi.MX.sym("e")
    names = ["index", "t", "x", "z", "p", "u"]
    given = [casadi.MX.sym("index"), casadi.MX.sym("t"), x, casadi.MX.sym("z", 0), e, casadi.MX.sym("u", 0)]
    after = casadi.vertcat(0.0, -e * x[1])
    transition = casadi.Function("transition", given, [after, casadi.MX(0, 1)], names, ["post_x", "post_z"])
    dae = {"x": x, "p": e, "ode": casadi.vertcat(x[1], -GRAVITY), "zero": x[0]}
    options = {"transition": transition, "event_tol": 1e-13}
    times = np.linspace(0.0, UNTIL_BALL, 201)[1:]  # events are looked for between them
    solve = casadi.integrator("solve", "rk", dae, 0.0, times, options)
    p, h0 = casadi.MX.sym("p"), casadi.MX.sym("h0")
    end = solve(x0=casadi.vertcat(h0, 0.0), p=p)["xf"][0, -1]
    return casadi.Function("slopes", [p, h0], [casadi.jacobian(end, casadi.vertcat(p, h0))])


def oscillator():
    x, p, t = casadi.MX.sym("x", 2), casadi.MX.sym("p", 2 + POINTS), casadi.MX.sym("t")
    grid = [INTERVAL * i for i in range(POINTS)]
    line = casadi.interpolant("line", "linear", [grid], 1, {"inline": True})
    force = line(t, p[2:])
    dae = {"x": x, "p": p, "t": t, "ode": casadi.vertcat(x[1], -p[0] * x[0] - p[1] * x[1] + force)}
    options = {"reltol": 1e-8, "abstol": 1e-8, "max_step_size": INTERVAL}
    solve = casadi.integrator("solve", "cvodes", dae, 0.0, UNTIL, options)
    end = solve(x0=casadi.vertcat(START, 0.0), p=p)["xf"][0]
    return casadi.Function("end", [p], [end]), casadi.Function("slopes", [p], [casadi.gradient(end, p)])


def tried(problem):
    try:
        return problem()
    except Exception as error:
        return {"error": str(error).strip().splitlines()[-1][:200]}


def of_ball():
    slopes = ball()
    return measured(lambda: np.array(slopes(E, HEIGHT)))


def of_oscillator():
    end, slopes = oscillator()
    values = np.array([STIFFNESS, DAMPING, *FORCES])
    alone = measured(lambda: np.array(end(values)))
    return {**measured(lambda: np.array(slopes(values))), "run": alone["seconds"]}


print(
    json.dumps(
        {"name": f"CasADi {casadi.__version__}", "ball": tried(of_ball), "oscillator": tried(of_oscillator)}
    )
)
