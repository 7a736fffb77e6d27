"""Block functions that move numbers: copies into the cache, scaling, zeroing."""


def zero(t, y, p, d, k, h, c, ints, first, count):
    """Row: offset, size."""
    for i in range(count):
        r = first + 2 * i
        for j in range(ints[r + 1]):
            c[ints[r] + j] = 0.0


def copy_y(t, y, p, d, k, h, c, ints, first, count):
    """Row: offset in y, offset in c, size."""
    for i in range(count):
        r = first + 3 * i
        for j in range(ints[r + 2]):
            c[ints[r + 1] + j] = y[ints[r] + j]


def copy_p(t, y, p, d, k, h, c, ints, first, count):
    """Row: offset in p, offset in c, size."""
    for i in range(count):
        r = first + 3 * i
        for j in range(ints[r + 2]):
            c[ints[r + 1] + j] = p[ints[r] + j]


def copy_d(t, y, p, d, k, h, c, ints, first, count):
    """Row: offset in d, offset in c, size."""
    for i in range(count):
        r = first + 3 * i
        for j in range(ints[r + 2]):
            c[ints[r + 1] + j] = d[ints[r] + j]


def copy_k(t, y, p, d, k, h, c, ints, first, count):
    """Row: offset in k, offset in c, size."""
    for i in range(count):
        r = first + 3 * i
        for j in range(ints[r + 2]):
            c[ints[r + 1] + j] = float(k[ints[r] + j])


def follow_course(t, y, p, d, k, h, c, ints, first, count):
    """Inputs. Row: value, slope (NaN: held) and time of the value in d, value and derivative in c, size."""
    for i in range(count):
        r = first + 6 * i
        for j in range(ints[r + 5]):
            value = d[ints[r] + j]
            slope = d[ints[r + 1] + j]
            if slope == slope:
                value += (t - d[ints[r + 2] + j]) * slope
            c[ints[r + 3] + j] = value
            c[ints[r + 4] + j] = slope


def convert(t, y, p, d, k, h, c, ints, first, count):
    """Change of unit. Row: source, target, factor and offset in p."""
    for i in range(count):
        r = first + 4 * i
        c[ints[r + 1]] = c[ints[r]] * p[ints[r + 2]] + p[ints[r + 3]]


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
