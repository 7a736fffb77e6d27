"""Draw the rocker's angle and the torque of the motor: python plot.py (writes four_bar.png)."""

from __future__ import annotations

from pathlib import Path

import cosim

HERE = Path(__file__).parent


def main() -> None:
    """Run the model and draw."""
    from matplotlib import pyplot as plt

    result = cosim.Model.from_file(HERE / "four_bar.toml").simulate(
        until=3.0, accuracy=1e-8, signals=["rocker_joint.angle", "motor.force_on_coordinate"]
    )
    figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(7, 4.5), layout="constrained")
    above.plot(result.time, result["rocker_joint.angle"])
    above.set_ylabel("rocker, rad")
    below.plot(result.time, result["motor.force_on_coordinate"])
    below.set_ylabel("torque of the motor, N.m")
    below.set_xlabel("time, s")
    figure.savefig(HERE / "four_bar.png", dpi=120)


if __name__ == "__main__":
    main()
