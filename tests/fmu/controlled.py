"""A controller with inputs, parameters and outputs of all types: an exported FMU carries this file."""

import cosim

MODES = ("gentle", "firm", "off")
TEXTS = ("nothing to do", "pushing", 'full "force" at ü')


class Controller(cosim.Component):
    """Pulls toward a place while it is enabled, by a law that its mode scales, and shows what it does."""

    gain = cosim.parameter(unit="N/m", default=10.0)
    inverted = cosim.parameter(dtype=bool, default=False)
    levels = cosim.parameter(dtype=int, default=4, minimum=1)
    law = cosim.parameter(choices=("linear", "square"), default="linear")
    surface = cosim.parameter(choices=("dry", "wet"), default="wet", dtype=str)
    enable = cosim.input(dtype=bool, description="whether it does anything")
    mode = cosim.input(choices=MODES, start="firm")
    order = cosim.input(choices=("hold", "go"), dtype=str)
    count = cosim.input(dtype=int, start=2)
    place = cosim.input(unit="m")
    force = cosim.output(unit="N")
    is_active = cosim.output(dtype=bool)
    level = cosim.output(dtype=int)
    shown_mode = cosim.output(choices=MODES)
    message = cosim.output(choices=TEXTS, dtype=str)

    @cosim.kernel
    def control(
        gain, inverted, levels, law, surface, enable, mode, order, count, place,
        force, is_active, level, shown_mode, message,
    ):  # fmt: skip
        active = enable != 0.0 and mode != 3.0 and order == 2.0
        size = -gain * place * mode * surface * count
        if law == 2:
            size = size * abs(place)
        if inverted:
            size = -size
        if not active:
            size = 0.0
        force[0] = size
        is_active[0] = 1.0 if active else 0.0
        level[0] = min(levels, float(int(abs(size))))
        shown_mode[0] = mode
        message[0] = 1.0
        if active:
            message[0] = 3.0 if abs(size) >= levels else 2.0


class Plan(cosim.Component):
    """Constant outputs for the inputs of a `Controller`; ``other`` has one choice too many for ``order``."""

    enable = cosim.output(dtype=bool)
    mode = cosim.output(choices=MODES)
    order = cosim.output(choices=("hold", "go"), dtype=str)
    other = cosim.output(choices=("hold", "go", "stop"))
    count = cosim.output(dtype=int)
    place = cosim.output(unit="m")

    @cosim.kernel
    def plan(enable, mode, order, other, count, place):
        enable[0] = 1.0
        mode[0] = 1.0
        order[0] = 2.0
        other[0] = 3.0
        count[0] = 3.0
        place[0] = 0.25
