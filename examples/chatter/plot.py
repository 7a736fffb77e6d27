"""Draw the lobes, and what runs on either side of them do: python plot.py (writes chatter.png)."""

from __future__ import annotations

import math
from pathlib import Path

import cosim

HERE = Path(__file__).parent


def lobe(frequency: float, number: int) -> tuple[float, float]:
    """Time of a revolution, s, and limit, N/m, from the frequency, rad/s, and the number of waves."""
    compliance = 1.0 / (6e6 - 0.6 * frequency**2 + 120j * frequency)
    turn = 2.0 * math.atan2(compliance.imag, compliance.real) + math.pi
    period = (2.0 * math.pi * number + turn % (2.0 * math.pi)) / frequency
    return period, -1.0 / (2.0 * compliance.real)


def main() -> None:
    """Run the model and draw."""
    from matplotlib import pyplot as plt

    model = cosim.Model.from_file(HERE / "chatter.toml")
    figure, axes = plt.subplots(1, 1, figsize=(7, 4), layout="constrained")
    for number in range(2, 8):
        points = [lobe(frequency, number) for frequency in range(3165, 4400, 5)]
        speeds, limits = [60.0 / period for period, _ in points], [1e-6 * limit for _, limit in points]
        axes.plot(speeds, limits, color="tab:blue", linewidth=1.0)
    for number, frequencies in ((2, (3230, 3500)), (3, (3230, 3350)), (4, (3300, 3500)), (5, (3350,))):
        for frequency in frequencies:
            period, limit = lobe(frequency, number)
            for part in (0.85, 1.15):
                model.set_start("left.delay", period)
                model.set_start("cutting.factor", part * limit)
                result = model.simulate(until=40.0 * period, output_interval=period / 20.0)
                size = abs(result["tool_joint.position"])
                grows = max(size[700:]) > max(size[300:400])
                mark = {"marker": "x", "color": "tab:red"} if grows else {"marker": "o", "color": "tab:green"}
                axes.scatter(60.0 / period, 1e-6 * part * limit, s=25, **mark)
    axes.set_ylim(0.0, 1.5)
    axes.set_xlabel("revolutions per minute")
    axes.set_ylabel("width times specific force, N/µm")
    axes.set_title("lobes: closed form; green: the run decays, red: it grows", fontsize="medium")
    figure.savefig(HERE / "chatter.png", dpi=120)


if __name__ == "__main__":
    main()
