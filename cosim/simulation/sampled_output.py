"""A dense output for compiled code, made from points of one that only Python can call."""

from __future__ import annotations

SAMPLES = 8


def sampled_output(t, coefficients, work, y, out):
    """``out`` = the polynomial through equidistant points of the last step, at `t` (Lagrange's form).

    `work` holds start and end of the step, then the state at each of the `SAMPLES` points; `y` only lends
    its length.
    """
    n = y.shape[0]
    s = (t - work[0]) / (work[1] - work[0]) * (SAMPLES - 1)
    for m in range(n):
        out[m] = 0.0
    for i in range(SAMPLES):
        weight = 1.0
        for j in range(SAMPLES):
            if j != i:
                weight *= (s - j) / (i - j)
        for m in range(n):
            out[m] += weight * work[2 + i * n + m]
