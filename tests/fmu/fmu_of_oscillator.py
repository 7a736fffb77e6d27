"""An exported oscillator, its values, and a copy as of another version, for tests of processes with FMUs."""

import json
from pathlib import Path

import pytest
from export_tools import export, oscillator, running

import cosim
from cosim_export.interface.archive import read_archive, write_archive
from cosim_export.python_fmu.slave import package_digest

WITHOUT_MACHINE_CODE = {"COSIM_PLAIN": "1"}
"""Runs kernel functions as plain Python, with the same bits.

For an FMU of another version all machine code would have to be compiled.
"""


@pytest.fixture(scope="module")
def oscillator_fmu(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(oscillator(), tmp_path_factory.mktemp("fmu") / "oscillator.fmu")


@pytest.fixture(scope="module")
def fmu_of_other_version(oscillator_fmu: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_version(oscillator_fmu, "99.1.2", tmp_path_factory.mktemp("other"))


@pytest.fixture(scope="module")
def expected_rows(oscillator_fmu: Path) -> list[list[float]]:
    """Values after each of 20 steps of 0.01 s in this process."""
    rows = []
    with running(oscillator_fmu) as fmu:
        fmu.start()
        for i in range(20):
            fmu.slave.doStep(i * 0.01, 0.01)
            rows.append(fmu.all())
    return rows


def references(path: Path) -> str:
    from fmpy import read_model_description

    return json.dumps([v.valueReference for v in read_model_description(str(path)).modelVariables])


def with_version(path: Path, version: str, folder: Path) -> Path:
    """A copy of an FMU as if it had been exported with another version of the framework."""
    files = read_archive(path)
    place = "resources/cosim/version.py"
    files[place] = files[place].replace(cosim.__version__.encode(), version.encode())
    manifest = json.loads(files["resources/manifest.json"])
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    framework = next(row for row in manifest["packages"] if row["name"] == "cosim")
    framework["digest"] = package_digest(folder / "resources" / "cosim")
    for row in manifest["packages"]:
        if row["distribution"] == framework["distribution"]:
            row["version"] = version
    files["resources/manifest.json"] = json.dumps(manifest).encode()
    changed = folder / f"{path.stem}-{version}.fmu"
    write_archive(changed, files)
    return changed
