"""A ball on a floor, and a registry with a plugin that has it."""

from __future__ import annotations

from falling_ball import FallingBall

import cosim
from cosim import kit


class Ball(FallingBall):
    """A ball on a floor."""

    bounces = cosim.discrete(dtype=int)
    marks = cosim.discrete(shape=1)

    @cosim.on(FallingBall.floor, does="unrestricted")
    def bounce(speed, bounces, speed_next, bounces_next):
        speed_next[0] = -0.5 * speed
        bounces_next[0] = bounces + 1


BALL_FILE = """[model]
name = "ball"
[components.ball]
type = "toys.ball"
[simulation]
until = 1.5
"""


def registry_with_ball() -> kit.Registry:
    """All loaded plugins, and one that registers the ball as ``toys.ball``."""
    loaded = [plugin for plugin in cosim.registry().plugins if plugin.status == "loaded"]
    entry = kit.RegisteredClass("toys.ball", Ball, "toys", "toys", "1.0")
    toys = kit.PluginRecord("toys", "toys", "1.0", "toys", "loaded", None, (entry,))
    return kit.Registry([*loaded, toys])
