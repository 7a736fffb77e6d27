"""A lookup table over two signals."""

import cosim


def place(x, points):
    """The interval that `x` lies in, and its share of it, from 0 to 1."""
    last = points.shape[0] - 2
    i = 0
    while i < last and x > points[i + 1]:
        i += 1
    share = (x - points[i]) / (points[i + 1] - points[i])
    return i, min(1.0, max(0.0, share))


class Map2d(cosim.Component):
    """A table of values over two inputs, straight between its points and constant beyond its ends.

    Law: result = sum over the four corners around (x, y) of the table's values, each with its share.
    """

    x = cosim.input(unit="1", description="along the rows of the table")
    y = cosim.input(unit="1", description="along its columns")
    x_points = cosim.parameter(shape="rows", description="of the rows, growing")
    y_points = cosim.parameter(shape="columns", description="of the columns, growing")
    table = cosim.parameter(shape=("rows", "columns"), description="a row for each point of x")
    result = cosim.output(unit="1", description="value of the table there")

    @cosim.kernel(refuses=["x_points do not grow", "y_points do not grow"])
    def check(x_points, y_points):
        for i in range(1, x_points.shape[0]):
            if not x_points[i] > x_points[i - 1]:
                return 1.0
        for j in range(1, y_points.shape[0]):
            if not y_points[j] > y_points[j - 1]:
                return 2.0
        return 0.0

    @cosim.kernel
    def look_up(x, y, x_points, y_points, table, result):
        i, s = place(x, x_points)
        j, r = place(y, y_points)
        at = i * y_points.shape[0] + j
        above = at + y_points.shape[0]
        low = (1.0 - r) * table[at] + r * table[at + 1]
        high = (1.0 - r) * table[above] + r * table[above + 1]
        result[0] = (1.0 - s) * low + s * high
