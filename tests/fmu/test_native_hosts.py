"""A host in C integrates native FMUs of both FMI versions by Model Exchange, without Python."""

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
STEPS = 50
STEP_SIZE = 0.01


@pytest.mark.parametrize("version", [pytest.param(2, marks=pytest.mark.thorough), 3])
def test_euler_steps_of_a_host_in_c_equal_those_in_python(version: int, tmp_path: Path) -> None:
    model = cosim.Model("oscillator")
    model.add(Oscillator, "osc")
    path = export_native(model, tmp_path / "oscillator.fmu", fmi=version, expose=["*"])
    host = build(tmp_path / "host", ["-O1", "-w", "-ldl"], [SOURCES / "host_me.c"])
    with zipfile.ZipFile(path) as archive:
        (name,) = (n for n in archive.namelist() if n.startswith("binaries/"))
        library = Path(archive.extract(name, tmp_path))
    description = read_model_description(str(path))
    references = {v.name: str(v.valueReference) for v in description.modelVariables}
    arguments = [str(version), str(library), description.guid, "3", str(STEPS), str(STEP_SIZE)]
    arguments += [references[n] for n in NAMES]
    done = subprocess.run([str(host), *arguments], capture_output=True, text=True, check=True, env={})
    rows = [[float(x) for x in line.split()] for line in done.stdout.splitlines()]
    in_python = InProcess(
        model, "integrators.explicit_euler", 1e-6, expose=["*"], fixed_step=STEP_SIZE
    ).start()
    assert len(rows) == STEPS
    for i, row in enumerate(rows):
        in_python.advance((i + 1) * STEP_SIZE)
        assert row == [in_python[name] for name in NAMES], i
