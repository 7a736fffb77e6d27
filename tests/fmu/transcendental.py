"""A component that calls much of the C library's mathematics: an exported FMU carries this file."""

import math

import cosim


class Transcendental(cosim.Component):
    """Functions of one number, which is not negative."""

    x = cosim.input(start=0.5)
    y = cosim.output(shape=8)

    @cosim.kernel
    def calculate(x, y):
        y[0] = math.exp(0.5 * min(x, 1000.0))
        y[1] = math.log(x + 1e-300)
        y[2] = math.pow(x, 1.37)
        y[3] = math.hypot(x, 0.1)
        y[4] = math.fmod(x, 0.3)
        y[5] = math.sin(x) + math.cos(x) * math.tan(x)
        y[6] = math.atan2(x, 2.0) + math.asin(min(x, 1.0)) + math.tanh(x)
        y[7] = math.log10(x + 1.0) + math.expm1(-x) + math.log1p(x) + math.sqrt(x)
