"""A component with parameters that are one of several words: an exported FMU carries this file."""

import math

import cosim


class Mixer(cosim.Component):
    """Passes a signal on, by one of several laws."""

    law = cosim.parameter(
        choices=("linear", "square", "square root"), default="square", description="what becomes of it"
    )
    ends = cosim.parameter(shape=2, choices=("open", "closed"), default=("closed", "open"))
    amount = cosim.input(start=4.0)
    mixed = cosim.output()

    @cosim.kernel
    def mix(amount, law, ends, mixed):
        found = amount
        if law == 2:
            found = amount * amount
        if law == 3:
            found = math.sqrt(amount)
        mixed[0] = found + 100.0 * ends[0] + 1000.0 * ends[1]
