"""Draw the runs of a study: python plot.py study (writes cruise_control.png)."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent


def main(study: Path) -> None:
    """Speed and force of all runs, and what was wanted."""
    import pandas as pd
    from matplotlib import pyplot as plt

    runs = pd.read_parquet(study / "series")
    table = pd.read_csv(study / "table.csv", index_col="point")
    figure, axes = plt.subplots(2, 1, sharex=True, figsize=(7, 5), layout="constrained")
    for point, run in runs.groupby("point"):
        gain = table.loc[point, "controller.gain"]
        axes[0].plot(run["time"], 3.6 * run["car.car.vx"], label=f"{gain:g} N.s/m", linewidth=0.9)
        axes[1].plot(run["time"], 0.001 * run["controller.force"], linewidth=0.9)
    axes[0].plot(run["time"], run["road.wanted"], "k--", label="wanted", linewidth=0.9)
    axes[0].set_ylabel("speed, km/h")
    axes[0].legend(loc="best", fontsize="small")
    axes[1].set_ylabel("force, kN")
    axes[1].set_xlabel("time, s")
    figure.savefig(HERE / "cruise_control.png", dpi=120)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "study"))
