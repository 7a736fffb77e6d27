"""Nothing, as a signal."""

from __future__ import annotations

import cosim
from cosim_measures.constant import Constant


class Zero(Constant):
    """The number 0.

    Law: value = 0, all derivatives are 0.

    Examples
    --------
    >>> Zero().value
    0.0
    """

    value = cosim.parameter(default=0.0, minimum=0.0, maximum=0.0, description="0")
