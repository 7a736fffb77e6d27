"""Stages of realization, after Simbody's ``Stage``."""

from __future__ import annotations

from enum import IntEnum


class Stage(IntEnum):
    """The extent to which a State has been computed; each stage needs all stages before it.

    A State is *realized* one stage at a time by walking the blocks of the schedule that belong to
    the stage. Writing a variable drops the State to the stage below the one that the variable
    invalidates.

    References
    ----------
    Simbody 3.7, ``SimTKcommon/BigMatrix/.../Stage.h``: the same names in the same order.

    Examples
    --------
    >>> Stage.POSITION.previous
    <Stage.TIME: 4>
    """

    EMPTY = 0
    TOPOLOGY = 1
    MODEL = 2
    INSTANCE = 3
    TIME = 4
    POSITION = 5
    VELOCITY = 6
    DYNAMICS = 7
    ACCELERATION = 8
    REPORT = 9
    INFINITY = 10

    @property
    def next(self) -> Stage:
        """The stage above; ``ValueError`` above INFINITY."""
        return Stage(self + 1)

    @property
    def previous(self) -> Stage:
        """The stage below; ``ValueError`` below EMPTY."""
        return Stage(self - 1)
