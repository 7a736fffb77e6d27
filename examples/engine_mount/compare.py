"""The whole model against the same model cut in two FMUs, at several communication steps."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import cosim
from cosim_fmu import CoSimulation
from cosim_workbench import ModelFile

HERE = Path(__file__).parent
STEPS = (0.8e-3, 0.4e-3, 0.2e-3, 0.1e-3)  # s
CONNECTIONS = [
    ("plant.felt", "ecu.controller.speed"),
    ("ecu.controller.force", "plant.active_damper.force"),
]


@dataclass(frozen=True)
class Comparison:
    """Acceleration of the engine, whole and cut in two, at the same times.

    Attributes
    ----------
    step : float, s
        Communication step.
    time : ndarray, shape (n,), s
    whole, cut : ndarray, shape (n,), m/s2
    """

    step: float
    time: np.ndarray
    whole: np.ndarray
    cut: np.ndarray

    @property
    def difference(self) -> float:
        """Largest difference, as a fraction of the largest acceleration of the whole model."""
        return float(np.abs(self.cut - self.whole).max() / np.abs(self.whole).max())


def export(folder: Path) -> dict[str, Path]:
    """Write plant.fmu and controller.fmu into a folder."""
    plant = ModelFile.read(HERE / "plant.toml")
    controller = ModelFile.read(HERE / "controller.toml")
    return {
        "plant": plant.export_fmu(folder / "plant.fmu", native=False),
        "ecu": controller.export_fmu(folder / "controller.fmu", native=False),
    }


def compare(
    fmus: dict[str, Path], step: float, until: float | None = None, algorithm: str = "gauss_seidel"
) -> Comparison:
    """Run the whole model and the two FMUs.

    Parameters
    ----------
    fmus : dict of str to Path
        As `export` returns them.
    step : float, s
        Communication step.
    until : float, s, optional
        End; that of engine_mount.toml unless given.
    algorithm : str
        How the FMUs exchange values.
    """
    model = ModelFile.read(HERE / "engine_mount.toml")
    end = model.simulation["until"] if until is None else until
    whole = model.simulate(until=end, output_interval=step, signals=["engine.az"])
    loop = CoSimulation(fmus, CONNECTIONS, algorithm, step)
    cut = loop.simulate(end, record=["plant.engine.az"])
    return Comparison(step, whole.time, whole["engine.az"], at(cut, "plant.engine.az", whole.time))


def at(result: cosim.Result, path: str, time: np.ndarray) -> np.ndarray:
    """A signal at the same communication points, which differ in the last bit only."""
    np.testing.assert_allclose(result.time, time, rtol=0.0, atol=1e-9)
    return result[path]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        exported = export(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(folder))
        print("communication step   gauss_seidel   jacobi       (largest difference / peak acceleration)")
        for size in STEPS:
            differences = [
                compare(exported, size, algorithm=name).difference for name in ("gauss_seidel", "jacobi")
            ]
            print(f"{size * 1e3:14.1f} ms", *(f"{100 * value:12.2f} %" for value in differences))
