"""Block functions that move numbers: copies into the cache, scaling, zeroing.

The integers of a row are offsets and sizes; their number is in ``__row__`` of each function.
"""

from cosim_compiler.record import rows_of


def zero(t, y, p, d, k, h, c, ints, first, count):
    """Zero accumulators. Row: offset, size."""
    for i in range(count):
        row = rows_of(int, ints, first + 2 * i, 2)
        size = row[1]
        target = rows_of(float, c, row[0], size)
        for j in range(size):
            target[j] = 0.0


def copy_reals(source, c, ints, first, count):
    """Copy stretches of an array into the cache; a row has the offsets in both and the size."""
    for i in range(count):
        row = rows_of(int, ints, first + 3 * i, 3)
        size = row[2]
        part = rows_of(float, source, row[0], size)
        target = rows_of(float, c, row[1], size)
        for j in range(size):
            target[j] = part[j]


def copy_y(t, y, p, d, k, h, c, ints, first, count):
    """Row: offset in y, offset in c, size."""
    copy_reals(y, c, ints, first, count)


def copy_p(t, y, p, d, k, h, c, ints, first, count):
    """Row: offset in p, offset in c, size."""
    copy_reals(p, c, ints, first, count)


def copy_d(t, y, p, d, k, h, c, ints, first, count):
    """Row: offset in d, offset in c, size."""
    copy_reals(d, c, ints, first, count)


def copy_k(t, y, p, d, k, h, c, ints, first, count):
    """Row: offset in k, offset in c, size."""
    for i in range(count):
        row = rows_of(int, ints, first + 3 * i, 3)
        size = row[2]
        source = rows_of(int, k, row[0], size)
        target = rows_of(float, c, row[1], size)
        for j in range(size):
            target[j] = float(source[j])


def follow_course(t, y, p, d, k, h, c, ints, first, count):
    """Inputs. Row: value, slope (NaN: held) and time of the value in d, value and derivative in c, size."""
    for i in range(count):
        row = first + 6 * i
        value_at = ints[row]
        slope_at = ints[row + 1]
        time_at = ints[row + 2]
        target = ints[row + 3]
        rate_target = ints[row + 4]
        for j in range(ints[row + 5]):
            value = d[value_at + j]
            slope = d[slope_at + j]
            if slope == slope:
                value += (t - d[time_at + j]) * slope
            c[target + j] = value
            c[rate_target + j] = slope


def convert(t, y, p, d, k, h, c, ints, first, count):
    """Change of unit. Row: source, target, factor and offset in p."""
    for i in range(count):
        row = first + 4 * i
        factor = p[ints[row + 2]]
        offset = p[ints[row + 3]]
        c[ints[row + 1]] = c[ints[row]] * factor + offset


COPIES = {"y": copy_y, "p": copy_p, "d": copy_d, "k": copy_k}
# Integers in a row of each.
for _block, _width in (
    (zero, 2),
    (copy_y, 3),
    (copy_p, 3),
    (copy_d, 3),
    (copy_k, 3),
    (follow_course, 6),
    (convert, 4),
):
    _block.__dict__["__row__"] = _width
