"""Draw the angle for delays on either side of the limit: python plot.py (writes stick_balancing.png)."""

from __future__ import annotations

import math
from pathlib import Path

import cosim

HERE = Path(__file__).parent


def main() -> None:
    """Run the model and draw."""
    from matplotlib import pyplot as plt

    model = cosim.Model.from_file(HERE / "stick_balancing.toml")
    a, p, d = 1.5 * 9.81, 21.0, 6.0  # theta'' = a theta - p theta(t - T) - d theta'(t - T)
    square = 0.5 * (d * d - 2.0 * a + math.sqrt((d * d - 2.0 * a) ** 2 + 4.0 * (p * p - a * a)))
    w = math.sqrt(square)
    limit = math.atan2(d * w, p) / w
    figure, axes = plt.subplots(1, 1, figsize=(7, 3.5), layout="constrained")
    for part in (0.9, 1.0, 1.05):
        for name in ("felt_angle", "felt_rate"):
            model.set_start(f"{name}.delay", part * limit)
        result = model.simulate()
        label = f"{1e3 * part * limit:.1f} ms, {part:g} of the limit"
        axes.plot(result.time, 1e3 * result["stick_joint.angle"], label=label, linewidth=0.9)
    axes.set_xlabel("time, s")
    axes.set_ylabel("angle, mrad")
    axes.legend(loc="upper left", fontsize="small")
    figure.savefig(HERE / "stick_balancing.png", dpi=120)


if __name__ == "__main__":
    main()
