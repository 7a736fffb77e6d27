"""A component with parameters that have choices: an exported FMU carries this file."""

import math

import cosim


class Mixer(cosim.Component):
    """Shows a function of its input that a parameter chooses, plus numbers that show two other choices."""

    law = cosim.parameter(
        choices=("linear", "square", "square root"), default="square", description="what becomes of it"
    )
    ends = cosim.parameter(shape=2, choices=("open", "closed"), default=("closed", "open"))
    amount = cosim.input(start=4.0)
    mixed = cosim.output()

    @cosim.kernel
    def mix(amount, law, ends, mixed):
        value = amount
        if law == 2:
            value = amount * amount
        if law == 3:
            value = math.sqrt(amount)
        mixed[0] = value + 100.0 * ends[0] + 1000.0 * ends[1]
