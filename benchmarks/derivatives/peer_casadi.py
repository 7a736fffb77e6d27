"""CasADi: Runge-Kutta steps with events that it locates itself; CVODES and its adjoint.

Derivatives of CVODES through an event end in CV_ILL_INPUT (3.8.2).
"""

import casadi
import numpy as np
from problems import Ball, Oscillator, measured, measured_with_run, print_results


def ball():
    """Events are located inside a solve; its Jacobian goes through them."""
    x, e = casadi.MX.sym("x", 2), casadi.MX.sym("e")
    names = ["index", "t", "x", "z", "p", "u"]
    index, t = casadi.MX.sym("index"), casadi.MX.sym("t")
    z, u = casadi.MX.sym("z", 0), casadi.MX.sym("u", 0)
    after = casadi.vertcat(0.0, -e * x[1])
    outcome = [after, casadi.MX(0, 1)]
    transition = casadi.Function("transition", [index, t, x, z, e, u], outcome, names, ["post_x", "post_z"])
    dae = {"x": x, "p": e, "ode": casadi.vertcat(x[1], -Ball.gravity), "zero": x[0]}
    options = {"transition": transition, "event_tol": 1e-13}
    times = np.linspace(0.0, Ball.end, 201)[1:]  # events are searched between these times
    solve = casadi.integrator("solve", "rk", dae, 0.0, times, options)
    p, height = casadi.MX.sym("p"), casadi.MX.sym("height")
    end = solve(x0=casadi.vertcat(height, 0.0), p=p)["xf"][0, -1]
    slopes = casadi.Function("slopes", [p, height], [casadi.jacobian(end, casadi.vertcat(p, height))])
    return measured(lambda: np.array(slopes(Ball.restitution, Ball.height)))


def oscillator():
    """The gradient by CVODES' adjoint."""
    x, p, t = casadi.MX.sym("x", 2), casadi.MX.sym("p", 2 + Oscillator.points), casadi.MX.sym("t")
    grid = [Oscillator.interval * i for i in range(Oscillator.points)]
    line = casadi.interpolant("line", "linear", [grid], 1, {"inline": True})
    force = line(t, p[2:])
    dae = {"x": x, "p": p, "t": t, "ode": casadi.vertcat(x[1], -p[0] * x[0] - p[1] * x[1] + force)}
    options = {"reltol": 1e-8, "abstol": 1e-8, "max_step_size": Oscillator.interval}
    solve = casadi.integrator("solve", "cvodes", dae, 0.0, Oscillator.end, options)
    end = solve(x0=casadi.vertcat(Oscillator.start, 0.0), p=p)["xf"][0]
    run = casadi.Function("end", [p], [end])
    slopes = casadi.Function("slopes", [p], [casadi.gradient(end, p)])
    values = np.array([Oscillator.stiffness, Oscillator.damping, *Oscillator.forces])
    return measured_with_run(lambda: np.array(slopes(values)), lambda: np.array(run(values)))


print_results(f"CasADi {casadi.__version__}", ball=ball, oscillator=oscillator)
