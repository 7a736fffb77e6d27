"""The problems of the work-precision comparison, for programs that take a function of numpy or jax arrays.

They are those of ``tests/integrators/problems.py``, which these programs cannot import.
"""

#: States at the start and the end, s; "Arenstorf" is a periodic orbit, which needs all digits.
SMALL = {
    "populations": ([1.0, 3.0], 20.0),
    "orbit": ([0.5, 0.0, 0.0, 3.0**0.5], 20.0),
    "van der Pol": ([2.0, 0.0], 20.0),
    "Brusselator": ([1.5, 3.0], 20.0),
    "Arenstorf": ([0.994, 0.0, 0.0, -2.00158510637908252240537862224], 17.0652165601579625588917206249),
}
# seven masses 1 … 7: their places x, y, then their speeds
STARS = [3, 3, -1, -3, 2, -2, 2, 3, -3, 2, 0, 0, -4, 4, 0, 0, 0, 0, 0, 1.75, -1.5, 0, 0, 0, -1.25, 1, 0, 0]
PROBLEMS = {**SMALL, "Pleiades": ([float(value) for value in STARS], 3.0)}


def laws(np):
    """The right-hand sides by name, with numpy or a module with the same functions."""

    def populations(t, y):
        return np.array([2.0 * (y[0] - y[0] * y[1]), -(y[1] - y[0] * y[1])])

    def orbit(t, y):
        r = (y[0] * y[0] + y[1] * y[1]) ** 1.5
        return np.array([y[2], y[3], -y[0] / r, -y[1] / r])

    def van_der_pol(t, y):
        return np.array([y[1], (1.0 - y[0] * y[0]) * y[1] - y[0]])

    def brusselator(t, y):
        return np.array([1.0 + y[0] * y[0] * y[1] - 4.0 * y[0], 3.0 * y[0] - y[0] * y[0] * y[1]])

    def arenstorf(t, y):
        moon = 0.012277471
        earth = 1.0 - moon
        a = earth / ((y[0] + moon) ** 2 + y[1] ** 2) ** 1.5
        b = moon / ((y[0] - earth) ** 2 + y[1] ** 2) ** 1.5
        return np.array(
            [
                y[2],
                y[3],
                y[0] + 2.0 * y[3] - a * (y[0] + moon) - b * (y[0] - earth),
                y[1] - 2.0 * y[2] - (a + b) * y[1],
            ]
        )

    masses = np.arange(1.0, 8.0)
    itself = np.eye(7)  # no mass pulls itself: instead of 0 its distance is 1

    def pleiades(t, s):
        x, y = s[:7], s[7:14]
        dx, dy = x[None, :] - x[:, None], y[None, :] - y[:, None]
        r = (dx * dx + dy * dy + itself) ** 1.5
        return np.concatenate([s[14:], (masses * dx / r).sum(axis=1), (masses * dy / r).sum(axis=1)])

    return {
        "populations": populations,
        "orbit": orbit,
        "van der Pol": van_der_pol,
        "Brusselator": brusselator,
        "Arenstorf": arenstorf,
        "Pleiades": pleiades,
    }
