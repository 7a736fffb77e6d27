"""A hydraulic cylinder: two chambers whose oil is compressed by flow and piston."""

import cosim


class HydraulicCylinder(cosim.Component):
    """Double-acting cylinder: pressures in two chambers, and the force on the piston.

    Law: p1' = E (q1 - A1 v - leak (p1 - p2)) / (V + A1 x), p2' likewise with -x, F = A1 p1 - A2 p2.
    """

    position = cosim.input(unit="m", start=0.1, description="of the piston, from the end of chamber 1")
    speed = cosim.input(unit="m/s", description="of the piston")
    flow1 = cosim.input(unit="m3/s", description="into chamber 1")
    flow2 = cosim.input(unit="m3/s", description="into chamber 2")
    area1 = cosim.parameter(unit="m2", default="20 cm2", above=0.0, description="of the piston, chamber 1")
    area2 = cosim.parameter(unit="m2", default="12 cm2", above=0.0, description="beside the rod, chamber 2")
    stroke = cosim.parameter(unit="m", default=0.2, above=0.0, description="way of the piston")
    dead_volume = cosim.parameter(unit="m3", default="50 cm3", above=0.0, description="of each chamber")
    bulk_modulus = cosim.parameter(unit="Pa", default="1.2 GPa", above=0.0, description="of the oil")
    leakage = cosim.parameter(unit="m3/(s.Pa)", default=1e-13, minimum=0.0, description="past the piston")
    pressure1 = cosim.auxiliary_state(unit="Pa", start="5 MPa", nominal=1e6, description="in chamber 1")
    pressure2 = cosim.auxiliary_state(unit="Pa", start="5 MPa", nominal=1e6, description="in chamber 2")
    force = cosim.output(unit="N", description="on the piston, out of chamber 1")

    @cosim.kernel
    def compress(
        position,
        speed,
        flow1,
        flow2,
        area1,
        area2,
        stroke,
        dead_volume,
        bulk_modulus,
        leakage,
        pressure1,
        pressure2,
        pressure1_dot,
        pressure2_dot,
    ):
        leak = leakage * (pressure1 - pressure2)
        volume1 = dead_volume + area1 * position
        volume2 = dead_volume + area2 * (stroke - position)
        pressure1_dot[0] = bulk_modulus * (flow1 - area1 * speed - leak) / volume1
        pressure2_dot[0] = bulk_modulus * (flow2 + area2 * speed + leak) / volume2

    @cosim.kernel
    def push(pressure1, pressure2, area1, area2, force):
        force[0] = area1 * pressure1 - area2 * pressure2
