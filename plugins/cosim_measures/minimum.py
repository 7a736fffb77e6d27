"""The smallest value that a signal has had."""

from __future__ import annotations

import cosim
from cosim_measures.extreme import Extreme


class Minimum(Extreme):
    """The smallest value that a signal has had.

    Law: value(t) = min of source over the run so far, inside of steps too.
    See `Extreme` for its parameters and limits.

    Examples
    --------
    >>> Minimum(source="mount.f[5]").located
    True
    """

    kind = cosim.option(0, choices=(0,))
