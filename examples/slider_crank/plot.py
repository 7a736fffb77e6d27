"""Draw the piston, its acceleration and the torque of the motor: python plot.py (writes slider_crank.png)."""

from __future__ import annotations

from pathlib import Path

import cosim

HERE = Path(__file__).parent


def main() -> None:
    """Run the model and draw."""
    from matplotlib import pyplot as plt

    result = cosim.Model.from_file(HERE / "slider_crank.toml").simulate()
    figure, axes = plt.subplots(3, 1, sharex=True, figsize=(7, 6.4), layout="constrained")
    axes[0].plot(result.time, 1000.0 * result["piston_joint.position"], label="piston", linewidth=0.9)
    axes[0].set_ylabel("piston, mm")
    axes[1].plot(result.time, result["piston.ax"], label="piston", linewidth=0.9)
    axes[1].set_ylabel("acceleration, m/s2")
    axes[2].plot(result.time, result["motor.force_on_coordinate"], label="motor", linewidth=0.9)
    axes[2].set_ylabel("torque, N.m")
    axes[2].set_xlabel("time, s")
    figure.savefig(HERE / "slider_crank.png", dpi=120)


if __name__ == "__main__":
    main()
