"""The files that the examples of commands speak of."""

from __future__ import annotations

import shutil
from pathlib import Path

from workbench_tools import write_model

import cosim
from cosim.cli import main
from cosim.kit import commands

EXAMPLES = [(name, words) for name, entry in commands().items() for words, _ in entry.cls.examples]
"""The name of the command and the words of each example."""
LOOP = """\
connections = ["left.wave -> right.push.effort"]
[participants.left]
model = "drive.toml"
[participants.right]
model = "plant.toml"
[master]
algorithm = "gauss_seidel"
step = "1 ms"
until = "5 ms"
"""


def write_example_files(folder: Path) -> None:
    """Write a model, its results, its FMUs and a scenario of two models."""
    write_model(folder, ('until = "50 ms"', 'until = "5 ms"'))
    cosim.save_result(
        cosim.registry().get("result_sink", "workbench.csv")(),
        cosim.Model.from_file(folder / "mount.toml").simulate(until=0.005),
        folder / "mount.csv",
    )
    shutil.copy(folder / "mount.csv", folder / "reference.csv")
    model = cosim.Model.from_file(folder / "mount.toml")
    model.export_fmu(folder / "mount.fmu", native=False)
    shutil.copy(folder / "mount.fmu", folder / "small.fmu")
    assert main(["new", "scenario", "loop", "-C", str(folder)]) == 0
    for name in ("drive.toml", "plant.toml"):
        shutil.copy(folder / "loop" / name, folder / name)
    (folder / "loop.toml").write_text(LOOP)
