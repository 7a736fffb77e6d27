"""The stiff problems of the tests for programs that cannot import them; `np` is numpy or jax.numpy."""


def laws(np):
    """The right-hand sides ``law(t, y, parameters)`` by the names of the problems."""

    def van_der_pol(t, y, p):
        return np.array([y[1], p[0] * (1.0 - y[0] * y[0]) * y[1] - y[0]])

    def scaled_van_der_pol(t, y, p):
        return np.array([y[1], ((1.0 - y[0] * y[0]) * y[1] - y[0]) / p[0]])

    def robertson(t, y, p):
        slow, fast, quick = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] * y[1]
        return np.array([-slow + fast, slow - fast - quick, quick])

    def hires(t, y, p):
        reaction = 280.0 * y[5] * y[7]
        seventh = reaction - 1.81 * y[6]
        return np.array(
            [
                -1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007,
                1.71 * y[0] - 8.75 * y[1],
                -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4],
                8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3],
                -1.745 * y[4] + 0.43 * (y[5] + y[6]),
                -reaction + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6],
                seventh,
                -seventh,
            ]
        )

    def oregonator(t, y, p):
        return np.array(
            [
                77.27 * (y[1] + y[0] * (1.0 - 8.375e-6 * y[0] - y[1])),
                (y[2] - (1.0 + y[0]) * y[1]) / 77.27,
                0.161 * (y[0] - y[2]),
            ]
        )

    return {
        "van der Pol, mu = 1e3": van_der_pol,
        "van der Pol, mu = 1e6 (scaled)": scaled_van_der_pol,
        "Robertson": robertson,
        "HIRES": hires,
        "Oregonator": oregonator,
    }
