"""Instance stage: joint frames as the position stage wants them.

Most frames are placed without being turned; a flag for that spares matrix products in every evaluation.
"""

from __future__ import annotations

from typing import Any

from cosim_mechanics.spatial import compose, inverse, put12, station

#: Body: X_PF and X_BM (parameters), and where the result lies in the cache: X_MB, then two flags, 1.0 where F
#: (where M) is turned against its body.
X_PF, X_BM, RESULT = range(3)
WIDTH = 3
F_TURNED, M_TURNED = 12, 13
SIZE = 14


def frames_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """X_MB = X_BM^-1, and which of the frames are turned against their bodies."""
    for body in range(count):
        row = first + body * WIDTH
        at = ints[row + X_BM]
        X_MB = inverse(p[at : at + 12])
        at = ints[row + X_PF]
        result = ints[row + RESULT]
        put12(c[result : result + 12], X_MB)
        c[result + F_TURNED] = turned(p[at : at + 9])
        c[result + M_TURNED] = turned(X_MB)


def turned(R: Any) -> float:
    """1.0 unless R is exactly the identity."""
    same = R[0] == 1.0 and R[4] == 1.0 and R[8] == 1.0
    same = same and R[1] == 0.0 and R[2] == 0.0 and R[3] == 0.0
    same = same and R[5] == 0.0 and R[6] == 0.0 and R[7] == 0.0
    return 0.0 if same else 1.0


def composed(X_AB: Any, X_BC: Any, is_turned: float) -> Any:
    """X_AB X_BC, with less work where C is not turned against B."""
    if is_turned != 0.0:
        return compose(X_AB, X_BC)
    p = station(X_AB, (X_BC[9], X_BC[10], X_BC[11]))
    return (X_AB[0], X_AB[1], X_AB[2], X_AB[3], X_AB[4], X_AB[5], X_AB[6], X_AB[7], X_AB[8], p[0], p[1], p[2])
