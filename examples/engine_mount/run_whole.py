"""The whole model, with and without the active damper: writes engine_mount.csv and says what came of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import cosim
from cosim_workbench import ModelFile

HERE = Path(__file__).parent


def run(*, gain: float | str | None = None, output_interval: float | None = None) -> cosim.Result:
    """Run engine_mount.toml.

    Parameters
    ----------
    gain : float or str, N.s/m, optional
        Of the controller, instead of the file's; 0 switches the active damper off.
    output_interval : float, s, optional
        Instead of the file's.
    """
    model = ModelFile.read(HERE / "engine_mount.toml")
    if gain is not None:
        model.set_start("controller.gain", gain)
    return model.simulate(output_interval=output_interval)


def peak(values: np.ndarray) -> float:
    """The largest magnitude."""
    return float(np.abs(values).max())


if __name__ == "__main__":
    damped, undamped = run(), run(gain=0.0)
    damped.to_csv("engine_mount.csv")
    print("peak                      active damper on       off")
    for path in ("vertical_speed", "engine.az", "chassis.az", "controller.force"):
        on, off = peak(damped[path]), peak(undamped[path])
        print(f"{path:<18} {damped.unit(path):<6} {on:15.4g} {off:9.4g}")
    drift, put_in = np.ptp(damped["energy.residual"]), damped["shaker.supplied_energy"][-1]
    print(f"energy: the balance holds to {drift:.1g} J, {put_in:.2g} J were put in by shaking")
