"""Writes the bytes of gradients: compiled, or in plain Python where the environment says so."""

from test_gradients import Ball, Chain, model_of

import cosim

ball = {"until": 1.0, "output_interval": 0.05}
objective = cosim.objectives.integral_of_square("x.height")
print(model_of(Ball()).gradient(objective, ["x.e", "x.g", "x.h0"], **ball).vector.tobytes().hex())
chain = {"until": 0.1, "output_interval": 0.02}
print(model_of(Chain()).gradient("x.energy", ["x.k", "x.m"], **chain).vector.tobytes().hex())
