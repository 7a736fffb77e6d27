"""A rod with a heater: a vector of states of any length."""

import cosim


class HeatedRod(cosim.Component):
    """Temperatures along a rod, insulated but for its ends.

    Law: T_i' = a (T_(i-1) - 2 T_i + T_(i+1)) / h^2 + share_i power / (c A h); the first end is
    insulated, the last one held at `ambient`; h = length / cells, as many as there are shares.

    The derivative of a cell follows its neighbours alone, so implicit methods see three diagonals.
    """

    power = cosim.input(unit="W", description="of the heater")
    ambient = cosim.input(unit="K", start=293.15, description="behind the last cell")
    length = cosim.parameter(unit="m", default=1.0, above=0.0, description="of the rod")
    area = cosim.parameter(unit="m2", default="1 cm2", above=0.0, description="of its section")
    conductivity = cosim.parameter(unit="W/(m.K)", default=400.0, above=0.0, description="k")
    heat_capacity = cosim.parameter(unit="J/(m3.K)", default=3.4e6, above=0.0, description="of a volume")
    shares = cosim.parameter(
        unit="1", shape="cells", default=(1.0, *(0.0,) * 9), description="of the power, into each cell"
    )
    temperature = cosim.auxiliary_state(unit="K", shape="cells", start=293.15, description="of each cell")
    hottest = cosim.output(unit="K", description="of all cells")

    @cosim.kernel
    def conduct(
        power, ambient, length, area, conductivity, heat_capacity, shares, temperature, temperature_dot
    ):
        n = temperature.shape[0]
        h = length / n
        a = conductivity / (heat_capacity * h * h)
        for i in range(n):
            before = temperature[i - 1] if i > 0 else temperature[i]
            behind = temperature[i + 1] if i < n - 1 else 2.0 * ambient - temperature[i]
            heat = shares[i] * power / (heat_capacity * area * h)
            temperature_dot[i] = a * (before - 2.0 * temperature[i] + behind) + heat

    @cosim.kernel
    def find_hottest(temperature, hottest):
        highest = temperature[0]
        for i in range(1, temperature.shape[0]):
            highest = max(highest, temperature[i])
        hottest[0] = highest
