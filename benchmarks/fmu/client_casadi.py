"""A Model Exchange FMU in CasADi (DaeBuilder): FMU UNTIL input value parameter value → JSON.

The rates at the start, their Jacobians by states, inputs and parameters, and the states at UNTIL, integrated
by CVODES, once with the parameter as it is and once with the value given.
"""

import json
import sys

import casadi

path, until, target, value = sys.argv[1], float(sys.argv[2]), sys.argv[3], float(sys.argv[4])
tuned, number = sys.argv[5], float(sys.argv[6])
model = casadi.DaeBuilder("one", path)
names = {kind: getattr(model, kind)() for kind in ("x", "u", "p", "y")}
x, u, p = (casadi.DM(model.start(names[kind])) if names[kind] else casadi.DM() for kind in ("x", "u", "p"))
u[names["u"].index(target)] = value
changed = casadi.DM(p)
changed[names["p"].index(tuned)] = number
rates = model.create("rates", ["x", "u", "p"], ["ode", "y"])
ode, outputs = rates(x, u, p)
jacobian = rates.jacobian()(x, u, p, 0, 0)
options = {"abstol": 1e-10, "reltol": 1e-10}
run = casadi.integrator("run", "cvodes", model.create("dae"), 0.0, until, options)
ends = [run(x0=x, u=u, p=given)["xf"] for given in (p, changed)]


def rows(matrix: casadi.DM) -> list[list[float]]:
    """The rows of a matrix as nested lists."""
    return casadi.DM(matrix).full().tolist()


results = {
    "names": names,
    "rates": rows(ode),
    "outputs": rows(outputs),
    "jacobians": [rows(block) for block in jacobian[:3]],
    "ends": [rows(end) for end in ends],
}
print()
print(json.dumps(results))
