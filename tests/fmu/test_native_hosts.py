"""Programs in C that load a native FMU: Model Exchange of both versions, with no Python in the process."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import pytest
from c_programs import SOURCES, build
from export_parts import Oscillator
from fmpy import read_model_description
from native_tools import InProcess, export_native, needs_compiler

import cosim

pytestmark = needs_compiler
NAMES = ["osc.x", "osc.acceleration", "osc.dissipated_energy"]
STEPS, H = 50, 0.01


@pytest.mark.parametrize("version", [pytest.param(2, marks=pytest.mark.thorough), 3])
def test_euler_by_a_host_in_c_is_euler_in_python(version: int, tmp_path: Path) -> None:
    model = cosim.Model("oscillator")
    model.add(Oscillator, "osc")
    path = export_native(model, tmp_path / "oscillator.fmu", fmi=version, expose=["*"])
    host = build(tmp_path / "host", ["-O1", "-w", "-ldl"], [SOURCES / "host_me.c"])
    with zipfile.ZipFile(path) as archive:
        (name,) = (n for n in archive.namelist() if n.startswith("binaries/"))
        library = Path(archive.extract(name, tmp_path))
    description = read_model_description(str(path))
    references = {v.name: str(v.valueReference) for v in description.modelVariables}
    words = [str(version), str(library), description.guid, "3", str(STEPS), str(H)]
    words += [references[n] for n in NAMES]
    done = subprocess.run([str(host), *words], capture_output=True, text=True, check=True, env={})
    rows = [[float(x) for x in line.split()] for line in done.stdout.splitlines()]
    here = InProcess(model, "integrators.explicit_euler", 1e-6, expose=["*"], fixed_step=H).start()
    assert len(rows) == STEPS
    for i, row in enumerate(rows):
        here.advance((i + 1) * H)
        assert row == [here[name] for name in NAMES], i
