"""The largest value that a signal has had."""

from __future__ import annotations

import cosim
from cosim_measures.extreme import Extreme


class Maximum(Extreme):
    """The largest value that a signal has had.

    Law: value(t) = max of source over the run so far, inside of steps too.
    See `Extreme` for its parameters and limits.

    Examples
    --------
    >>> Maximum(source="mount.f[5]").located
    True
    """

    kind = cosim.option(1, choices=(1,))
