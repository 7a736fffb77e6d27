"""Types of the spatial algebra: what it takes (anything that is indexed) and what it returns (tuples)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Real numbers behind an index: a tuple inside a kernel function, a view of a slot, a plain array in a test.
Reals = Sequence[float] | NDArray[np.float64]

Vector = tuple[float, float, float]
Angles = tuple[float, float, float]
#: Angular part first.
Spatial = tuple[float, float, float, float, float, float]
#: Rotation matrix row by row.
Rotation = tuple[float, float, float, float, float, float, float, float, float]
#: Rotation matrix row by row, then the position.
Pose = tuple[float, float, float, float, float, float, float, float, float, float, float, float]

#: A slot that a function writes to or adds to.
Slot = Any
