"""Source text of a component, whose functions a test writes."""

from __future__ import annotations

import cosim
from cosim.kit import run_source


def class_with(body: str, before: str = "", declarations: str = "") -> type[cosim.Component]:
    """A component with this text in its body, behind further declarations; and text before the class."""
    text = (
        f"import cosim\n{before}class Part(cosim.Component):\n"
        '    """Law: torque."""\n'
        "    gain = cosim.parameter(default=2.0)\n    angle = cosim.position(start=0.3)\n"
        "    rate = cosim.speed()\n    torque = cosim.cache_slot()\n    force = cosim.cache_slot(shape=2)\n"
        "    hits = cosim.discrete(dtype=int)\n    @cosim.kernel\n    def move(s):\n"
        f"        s.angle_dot, s.rate_dot = s.rate, -s.angle\n{declarations}{body}"
    )
    return run_source(text, {"__name__": "of_a_test"}, "view")["Part"]
