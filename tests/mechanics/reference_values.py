"""Values of reference files as arrays, and the comparison with them."""

import numpy as np


def twelve(X):
    """Return a pose of a reference file as twelve numbers."""
    return np.array([*np.ravel(X["R"]), *X["p"]], dtype=float)


def flat(value):
    """Return a value of a reference file as an array."""
    return twelve(value) if isinstance(value, dict) else np.atleast_1d(np.array(value, dtype=float))


def assert_agrees(actual, expected, relative):
    """Compare a vector with its reference, relative to its largest element."""
    expected = np.asarray(expected)
    scale = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(actual, expected, rtol=0, atol=relative * scale)
