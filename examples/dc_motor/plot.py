"""Draw angle and encoder, voltage and current: python plot.py (writes dc_motor.png)."""

from __future__ import annotations

from pathlib import Path

import cosim

HERE = Path(__file__).parent


def main() -> None:
    """Run the model and draw."""
    from matplotlib import pyplot as plt

    result = cosim.Model.from_file(HERE / "dc_motor.toml").simulate()
    figure, axes = plt.subplots(3, 1, sharex=True, figsize=(7, 6.4), layout="constrained")
    axes[0].plot(result.time, result["wanted"], label="wanted", linewidth=0.9)
    axes[0].plot(result.time, result["disc_joint.angle"], label="disc", linewidth=0.9)
    axes[0].plot(result.time, result["encoder"], "--", label="encoder", linewidth=0.9)
    axes[0].set_ylabel("angle, rad")
    axes[0].legend(loc="best", fontsize="small")
    axes[1].plot(result.time, result["control"], label="control", linewidth=0.9)
    axes[1].set_ylabel("voltage, V")
    axes[2].plot(result.time, result["current"], label="current", linewidth=0.9)
    axes[2].set_ylabel("current, A")
    axes[2].set_xlabel("time, s")
    figure.savefig(HERE / "dc_motor.png", dpi=120)


if __name__ == "__main__":
    main()
