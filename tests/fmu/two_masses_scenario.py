"""A scenario of two FMUs, with a comment, parameters with and without units, and options."""

from __future__ import annotations

from pathlib import Path

TWO_MASSES = """\
# two masses
[participants.left]
fmu = "mass.fmu"
[participants.right]
fmu = "mass.fmu"
[participants.left.parameters]
kc = 2.0
cc = "0.1 N.s/m"

[[connections]]
from = "left.force"
to = "right.f"
[[connections]]
from = "right.x"
to = "left.x_other"
[[connections]]
from = "right.v"
to = "left.v_other"

[master]
algorithm = "gauss_seidel"
step = "1 ms"
until = 0.5

[output]
signals = ["*.x", "left.force"]
file = "out.csv"
"""


def write_scenario(folder: Path, text: str, name: str = "loop.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
