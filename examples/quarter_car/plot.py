"""Draw road, wheel and car, and what the passengers feel: python plot.py (writes quarter_car.png)."""

from __future__ import annotations

from pathlib import Path

import cosim

HERE = Path(__file__).parent


def main() -> None:
    """Run the model and draw."""
    from matplotlib import pyplot as plt

    result = cosim.Model.from_file(HERE / "quarter_car.toml").simulate(until=10.0)
    figure, axes = plt.subplots(3, 1, sharex=True, figsize=(7, 6.4), layout="constrained")
    axes[0].plot(result.time, 1000.0 * result["road"], label="road", linewidth=0.9)
    axes[0].plot(result.time, 1000.0 * result["wheel_joint.q"], label="wheel", linewidth=0.9)
    axes[0].plot(result.time, 1000.0 * result["car_joint.q"], label="car", linewidth=0.9)
    axes[0].set_ylabel("height, mm")
    axes[0].legend(loc="best", fontsize="small")
    axes[1].plot(result.time, result["car.ax"], label="car", linewidth=0.9)
    axes[1].set_ylabel("acceleration, m/s2")
    axes[2].plot(result.time, 0.001 * result["tyre.effort"], label="tyre", linewidth=0.9)
    axes[2].set_ylabel("tyre, kN")
    axes[2].set_xlabel("time, s")
    figure.savefig(HERE / "quarter_car.png", dpi=120)


if __name__ == "__main__":
    main()
