"""A rod with a heater: a vector of states of any length."""

import cosim


class HeatedRod(cosim.Component):
    """Temperatures along a rod, insulated but for its ends.

    Law: T_i' = k (T_(i-1) - 2 T_i + T_(i+1)) / (c h^2) + share_i power / (c A h); the first end is
    insulated, the last one held at `ambient`; h = length / cells, as many as there are shares.

    The derivative of a cell follows its neighbours alone, so implicit methods see three diagonals.
    """

    power = cosim.input(unit="W", description="power of the heater")
    ambient = cosim.input(unit="K", start=293.15, description="temperature behind the last cell")
    length = cosim.parameter(unit="m", default=1.0, above=0.0, description="length of the rod")
    area = cosim.parameter(unit="m2", default="1 cm2", above=0.0, description="cross-section, A")
    conductivity = cosim.parameter(
        unit="W/(m.K)", default=400.0, above=0.0, description="thermal conductivity, k"
    )
    heat_capacity = cosim.parameter(
        unit="J/(m3.K)", default=3.4e6, above=0.0, description="heat capacity of a volume, c"
    )
    shares = cosim.parameter(
        unit="1",
        shape="cells",
        default=(1.0, *(0.0,) * 9),
        description="shares of the power that heat each cell",
    )
    temperature = cosim.auxiliary_state(
        unit="K", shape="cells", start=293.15, description="temperature of each cell"
    )
    hottest = cosim.output(unit="K", description="highest temperature of all cells")

    @cosim.kernel
    def conduct(
        power, ambient, length, area, conductivity, heat_capacity, shares, temperature, temperature_dot
    ):
        n = temperature.shape[0]
        h = length / n
        exchange_rate = conductivity / (heat_capacity * h * h)
        for i in range(n):
            before = temperature[i - 1] if i > 0 else temperature[i]
            behind = temperature[i + 1] if i < n - 1 else 2.0 * ambient - temperature[i]
            heat = shares[i] * power / (heat_capacity * area * h)
            temperature_dot[i] = exchange_rate * (before - 2.0 * temperature[i] + behind) + heat

    @cosim.kernel
    def find_hottest(temperature, hottest):
        highest = temperature[0]
        for i in range(1, temperature.shape[0]):
            highest = max(highest, temperature[i])
        hottest[0] = highest
