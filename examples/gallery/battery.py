"""A battery: open-circuit voltage from a table, one lag, and a switch that opens when it is empty."""

import cosim
from cosim.functions import interp


class Battery(cosim.Component):
    """Terminal voltage of a cell from its charge and the current drawn.

    Law: charge' = -i / capacity, v' = (i R1 - v) / (R1 C1), voltage = ocv(charge) - v - R0 i, where
    i is the current that is drawn until the cell is empty, and 0 from then on.
    """

    current = cosim.input(unit="A", description="drawn; negative to charge")
    capacity = cosim.parameter(unit="C", default="2.5 A.h", above=0.0, description="of the full cell")
    charges = cosim.parameter(
        unit="1", shape="points", default=(0.0, 0.1, 0.5, 0.9, 1.0), description="state of charge, rising"
    )
    voltages = cosim.parameter(
        unit="V", shape="points", default=(3.0, 3.5, 3.7, 4.0, 4.2), description="without current, there"
    )
    R0 = cosim.parameter(unit="Ohm", default=0.02, minimum=0.0, description="resistance")
    R1 = cosim.parameter(unit="Ohm", default=0.01, above=0.0, description="resistance of the lag")
    C1 = cosim.parameter(unit="F", default=2000.0, above=0.0, description="capacity of the lag")
    charge = cosim.auxiliary_state(unit="1", start=1.0, description="from 0 (empty) to 1")
    polarization = cosim.auxiliary_state(unit="V", description="voltage v of the lag")
    is_empty = cosim.discrete(dtype=bool, description="whether it was cut off")
    voltage = cosim.output(unit="V", description="at the terminals")

    @cosim.kernel
    def discharge(current, capacity, R1, C1, is_empty, polarization, charge_dot, polarization_dot):
        drawn = 0.0 if is_empty and current > 0.0 else current
        charge_dot[0] = -drawn / capacity
        polarization_dot[0] = (drawn * R1 - polarization) / (R1 * C1)

    @cosim.kernel
    def calc_voltage(current, charges, voltages, R0, charge, polarization, is_empty, voltage):
        drawn = 0.0 if is_empty and current > 0.0 else current
        voltage[0] = interp(charge, charges, voltages) - polarization - R0 * drawn

    @cosim.witness(direction="falling")
    def left(charge):
        return charge

    @cosim.on(left, does="discrete")
    def cut_off(is_empty_next):
        is_empty_next[0] = True
