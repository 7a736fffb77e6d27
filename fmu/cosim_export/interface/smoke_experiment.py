"""An experiment with reference results, for tools that run an exported FMU elsewhere."""

from __future__ import annotations

import math
import shutil
import zipfile
from pathlib import Path
from typing import Any

import cosim
from cosim_export.interface.archive import EPOCH

STEPS = 50
"""The number of communication steps: few, so that the test is short everywhere."""
MOST_SIGNALS = 200
OF_TOLERANCE = 10.0
"""Results must agree within that many tolerances of the FMU's integrator."""
LEAST = 1e-9
"""The smallest allowed deviation, as a share of the range of a signal."""
WITHOUT_TOLERANCE = 1e-6
"""The allowed deviation of an FMU without a tolerance, as a share of the range of a signal."""
SECONDS = 60.0
"""Time limit of the run, s."""


def add_smoke_experiment(path: Path, without: str = "") -> str:
    """Run an FMU for some steps in a separate process, and add the results to its archive.

    Layered standard fmi-ls-ref: the experiment has the start values of the FMU, its outputs are the
    references.

    Parameters
    ----------
    path : Path
    without : str
        Outputs whose names begin with this text are not references.

    Returns
    -------
    str
        Why no experiment was added; "" if it was.
    """
    from cosim.kit import remove_folder
    from cosim_fmi.description.read_model_description import read_model_description
    from cosim_fmi.fmu_archive import FmuArchive
    from cosim_fmi.instances import place_of_library
    from cosim_fmi.validate.fmu_probe import FmuProbe, job_for
    from cosim_fmi.validate.write_experiment import write_experiment

    archive = FmuArchive(path)
    if "CoSimulation" not in archive.interfaces:
        return "no smoke experiment: it is run in Co-Simulation alone"
    platform, suffix = place_of_library(archive.version)
    try:
        archive.check_binary("CoSimulation", platform, suffix)
    except cosim.FmuError:
        return f"no smoke experiment: it has no binary for {platform}, where it was exported"
    description = read_model_description(archive.pop_description())
    folder = archive.unpack()
    try:
        identifier = description.interfaces["CoSimulation"].identifier
        library = folder / "binaries" / platform / f"{identifier}{suffix}"
        experiment = _experiment(job_for(folder, description, library), without)
        if len(experiment["references"]) == 1:
            return "no smoke experiment: it has no outputs that are numbers"
        recorded = FmuProbe(folder, description, library, SECONDS, "CoSimulation", [experiment]).recorded()
    except ValueError as error:
        return f"no smoke experiment: {error}"
    finally:
        remove_folder(folder)
    finite = {name: values for name, values in recorded.items() if all(map(math.isfinite, values))}
    if len(finite) == 1:  # the time alone
        return "no smoke experiment: none of its outputs is finite"
    _append(path, write_experiment({**experiment, "references": finite}))
    return ""


def _experiment(job: dict[str, Any], without: str) -> dict[str, Any]:
    outputs = [v for v in job["variables"] if v["causality"] == "output" and v["size"] == 1]
    outputs = [v for v in outputs if not (without and v["name"].startswith(without))]
    numbers = [v["name"] for v in outputs if v["type"] in ("Real", "Integer", "Enumeration", "Boolean")]
    step, tolerance = job["step"], job["tolerance"]
    return {
        "name": "smoke test",
        "description": f"{STEPS} communication steps with the start values of the FMU",
        "start": job["start"],
        "stop": job["start"] + STEPS * step,
        "step": step,
        "tolerance": tolerance,
        "parameters": {},
        "stimuli": {},
        "references": {name: [] for name in ["time", *numbers[:MOST_SIGNALS]]},
        "relative": WITHOUT_TOLERANCE
        if tolerance is None
        else float(f"{max(OF_TOLERANCE * tolerance, LEAST):.3g}"),
    }


def _append(path: Path, files: dict[str, bytes]) -> None:
    """Add files to an archive; the new one replaces it when it is complete."""
    part = path.with_name(f".{path.name[:50]}.part")
    try:
        shutil.copyfile(path, part)
        with zipfile.ZipFile(part, "a") as archive:
            for name, content in files.items():
                info = zipfile.ZipInfo(name, EPOCH)
                info.create_system, info.external_attr = 3, 0o644 << 16
                info.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(info, content)
        part.replace(path)
    except OSError as error:
        raise cosim.CosimError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)
