"""Instance stage: joint frames as the position stage wants them.

Most frames are placed without being turned; a flag for that spares matrix products in every evaluation.
"""

from __future__ import annotations

from typing import Any

from cosim_mechanics.spatial import compose, compose_shift, inverse, is_turned, put12

#: Body: X_PF and X_BM (parameters), and where the result lies in the cache: X_MB, then flags, 1.0 where F
#: (where M) is turned against its body, and where F is not turned and M is the child's own frame.
X_PF, X_BM, RESULT = range(3)
WIDTH = 3
F_TURNED, M_TURNED, PLAIN = 12, 13, 14
SIZE = 15


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
        c[result + F_TURNED] = 1.0 if is_turned(p[at : at + 12]) else 0.0
        c[result + M_TURNED] = 1.0 if is_turned(X_MB) else 0.0
        is_own = c[result + M_TURNED] == 0.0 and X_MB[9] == 0.0 and X_MB[10] == 0.0 and X_MB[11] == 0.0
        c[result + PLAIN] = 1.0 if is_own and c[result + F_TURNED] == 0.0 else 0.0


def composed(X_AB: Any, X_BC: Any, turned: float) -> Any:
    """X_AB X_BC; `turned` says whether C is turned against B."""
    return compose(X_AB, X_BC) if turned != 0.0 else compose_shift(X_AB, X_BC)
