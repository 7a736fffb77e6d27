"""A model file for these tests, and paths of two of its variables."""

from __future__ import annotations

from pathlib import Path

MASS = "engine.mass"
STIFFNESS = "mount_left.stiffness[5]"
MOUNT = """\
[model]
name = "engine_mount"

[bodies.engine]
mass = "120 kg"
center_of_mass = [0, 0, "0.1 m"]
inertia = [4.5, 6.0, 5.2]
joint = "free"

[elements.mount_left]
type = "mechanics.linear_bushing"
body1 = "ground"
body2 = "engine"
damping = [0, 0, 0, 300, 300, 600]
stiffness = [0, 0, 0, "120 N/mm", "120 N/mm", "240 N/mm"]

[measures.vertical_speed]
type = "mechanics.velocity"
of = "engine"
axis = "z"

[simulation]
until = "50 ms"
accuracy = 1e-6
output = { interval = "1 ms", signals = ["engine.z", "vertical_speed", "engine_joint.q", "energy.*"] }
"""


def write_model(folder: Path, *changes: tuple[str, str], more: str = "", name: str = "mount.toml") -> Path:
    """The model file with some of its text replaced; each piece has to be there exactly once."""
    text = MOUNT
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path = folder / name
    path.write_text(text + more, "utf-8")
    return path
