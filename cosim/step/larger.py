"""A maximum that keeps NaN."""


def larger(a, b):
    """The larger number; NaN when the second one is (``max`` is not the same everywhere then)."""
    if b > a or b != b:
        return b
    return a
