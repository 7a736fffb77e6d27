"""Draws docs/images/engine_mount.png: the start of the engine with and without the active damper."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from run_whole import run

PICTURE = Path(__file__).parents[2] / "docs" / "images" / "engine_mount.png"
PANELS = [
    ("vertical_speed", 1e3, "engine velocity\n[mm/s]"),
    ("engine.az", 1.0, "engine acceleration\n[m/s²]"),
    ("chassis.az", 1.0, "chassis acceleration\n[m/s²]"),
]
# The engine against the chassis on the three mounts together: sqrt(k (1/m_engine + 1/m_chassis)), rad/s.
RESONANCE = np.sqrt(3 * 240e3 * (1 / 120 + 1 / 700))
OFF, ON = "#b0b0b0", "#0b6e99"


def draw(path: Path) -> None:
    """Run the model twice and write the picture."""
    runs = [
        ("active damper off", OFF, run(gain=0.0, output_interval=0.5e-3)),
        ("active damper on, 5 ms late", ON, run(output_interval=0.5e-3)),
    ]
    figure = Figure(figsize=(8.0, 7.6), layout="constrained")
    axes = figure.subplots(4, 1, sharex=True, height_ratios=[1, 1, 1, 0.7])
    for axis, (signal, scale, label) in zip(axes, PANELS, strict=False):
        for name, colour, result in runs:
            axis.plot(result.time, scale * result[signal], color=colour, linewidth=1.3, label=name)
        axis.set_ylabel(label)
    on = runs[1][2]
    axes[3].plot(on.time, on["shaker.speed"] * 30.0 / np.pi, color="#444444", linewidth=1.4)
    # Until then the crank only gets faster.
    met = np.interp(RESONANCE, 2.0 * on["shaker.speed"], on.time)
    axes[3].text(met + 0.02, 40.0, "two pulses a turn meet the resonance of the mounts", fontsize=9)
    axes[3].set_ylabel("crank\n[1/min]")
    axes[3].set_xlabel("time [s]")
    for axis in axes:
        axis.grid(color="#e6e6e6")
        axis.axvline(met, color="#c8553d", linewidth=1.0, linestyle="--")
        axis.spines[["top", "right"]].set_visible(False)
        axis.margins(x=0.0)
    figure.align_ylabels(axes)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE)
