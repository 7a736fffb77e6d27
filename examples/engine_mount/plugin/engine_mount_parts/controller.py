"""Law of the active damper."""

from __future__ import annotations

import cosim


class Controller(cosim.Component):
    """Answers a speed with a force against it, as far as the actuator can.

    Law: force = -gain speed, no more than `force_limit` in either direction.

    Parameters
    ----------
    gain : float, N.s/m, >= 0
        0 switches the controller off.
    force_limit : float, N, >= 0
        What the actuator can do at most.
    speed : input, m/s
        Vertical speed of the engine, as the sensor reports it.

    Returns
    -------
    ``force`` : output, N
        What the active damper shall do, positive upwards on the engine.

    Raises
    ------
    ModelError
        A negative gain or limit.

    Stage
    -----
    The force is known as soon as the speed is.

    Examples
    --------
    >>> Controller(gain="2 N.s/mm", force_limit="0.4 kN").gain
    2000.0

    The kernel function can be called with plain numbers:

    >>> import numpy as np
    >>> force = np.zeros(1)
    >>> Controller.law(0.03, 2000.0, 400.0, force)
    >>> float(force[0])
    -60.0
    """

    speed = cosim.input(unit="m/s", description="vertical speed of the engine, as the sensor reports it")
    gain = cosim.parameter(unit="N.s/m", minimum=0.0, description="force over speed; 0 switches it off")
    force_limit = cosim.parameter(unit="N", minimum=0.0, description="what the actuator can do at most")
    force = cosim.output(unit="N", description="what the active damper shall do, upwards on the engine")

    @cosim.kernel
    def law(speed, gain, force_limit, force):
        force[0] = min(max(-gain * speed, -force_limit), force_limit)
