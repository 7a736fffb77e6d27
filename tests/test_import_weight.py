"""What an import loads: `cosim` no large library, a process for an FMU no registry, an exporter no master."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LARGE_LIBRARIES = {
    "llvmlite",
    "scipy",
    "fmpy",
    "lxml",
    "pythonfmu",
    "rich",
    "matplotlib",
    "pandas",
    "pyarrow",
    "xarray",
    "distributed",
    "trimesh",
    "pygltflib",
    "pytest",
    "hypothesis",
}


@pytest.mark.parametrize("statement", ["import cosim", "import cosim.cli", "from cosim import *"])
def test_importing_cosim_loads_no_large_library_and_no_plugin(statement: str) -> None:
    code = f"{statement}\nimport sys\nprint(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "cosim" in loaded
    assert loaded & LARGE_LIBRARIES == set()
    assert {name for name in loaded if name.startswith("cosim_")} <= {"cosim_compiler"}


def test_a_process_for_an_fmu_loads_no_registry() -> None:
    """So that it starts sooner; a run may have one such process for each FMU."""
    modules = ["processes.process_worker", "participants.create_participants", "participants.fmu_participant"]
    imports = "; ".join(f"import cosim_master.{name}" for name in modules)
    code = f"{imports}; import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "cosim_fmi.binding.fmu_instance" in loaded
    assert not {"cosim.registration.registry", "cosim_fmu.co_simulation"} & loaded


def test_exporting_a_model_loads_no_co_simulation(tmp_path: Path) -> None:
    """All exporters are asked whether they read a file; writers of C or Python are loaded later."""
    (tmp_path / "m.toml").write_text('[model]\nname = "m"\n', "utf-8")
    code = (
        "import sys, pathlib, cosim\n"
        "exporters = [entry.cls for entry in cosim.registry().entries('file_exporter')]\n"
        "assert exporters and not any(each.reads(pathlib.Path('m.toml')) for each in exporters)\n"
        "import cosim_export.native.native_exporter\n"
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    loaded = set(done.stdout.split())
    assert "cosim_lowering.machine_code" in loaded
    loaded_later = {"cosim_master", "cosim_compiler.printers", "cosim_export.python_fmu", "llvmlite"}
    assert not loaded_later & loaded
