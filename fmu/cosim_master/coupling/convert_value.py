"""What the value of an output becomes as an input, as a kernel function."""

from __future__ import annotations


def convert_value(value, pairs, factor, offset):
    """Map the value of an output, then scale it.

    Parameters
    ----------
    value : float
    pairs : ndarray, shape (2 * n,)
        Values, and what they become; others stay as they are.
    factor, offset : float
    """
    for i in range(pairs.shape[0] // 2):
        if pairs[2 * i] == value:
            value = pairs[2 * i + 1]
            break
    if factor != 1.0 or offset != 0.0:
        value = factor * value + offset
    return value
