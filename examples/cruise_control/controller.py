"""The controller of cruise.toml, in Python."""

import cosim


class CruiseControl(cosim.Component):
    """A force in proportion to the error of the speed and to its integral, between 0 and a limit.

    Law: f = k (v_w - v) + k / T z, z' = v_w - v while f lies between its limits.
    """

    speed = cosim.input(unit="m/s")
    wanted = cosim.input(unit="m/s")
    force = cosim.output(unit="N")
    gain = cosim.parameter(unit="N.s/m", default=800.0, minimum=0.0)
    integral_time = cosim.parameter(unit="s", default=8.0, minimum=0.0)
    limit = cosim.parameter(unit="N", default=4000.0, minimum=0.0)
    integral = cosim.auxiliary_state(unit="m")

    @cosim.kernel
    def law(speed, wanted, gain, integral_time, limit, integral, force, integral_dot):
        error = wanted - speed
        f = gain * (error + integral / integral_time)
        force[0] = min(max(f, 0.0), limit)
        integral_dot[0] = error if 0.0 < f < limit else 0.0
