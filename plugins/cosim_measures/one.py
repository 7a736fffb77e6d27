"""One, as a signal."""

from __future__ import annotations

import cosim
from cosim_measures.constant import Constant


class One(Constant):
    """The number 1.

    Law: value = 1, all derivatives are 0.

    Examples
    --------
    >>> One().value
    1.0
    """

    value = cosim.parameter(default=1.0, minimum=1.0, maximum=1.0, description="1")
