"""Twelve scenarios as FMUs without Python: the bits of `cosim cosimulate` in fmpy, libcosim, ecos and C."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from benchmark_peers import CLIENTS, peers
from c_programs import SOURCES as C_SOURCES
from c_programs import c_compiler
from mixed_scenarios import SCENARIOS, cosimulated, exported, mixed, reals
from native_tools import needs_compiler

from cosim_export.native.compilers import write_objects
from cosim_export.native.native_sources import SHELL
from cosim_fmu import CoSimulation
from cosim_fmu.container.container_interface import container_interface
from cosim_fmu.container.native_container import NativeContainer
from cosim_lowering.machine_code import own_target

pytestmark = [needs_compiler, pytest.mark.thorough]
STEPS, H = 40, 0.01


@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("name", SCENARIOS)
def test_the_bits_in_fmpy(name: str, fmi: int, tmp_path: Path, compiled: Callable[..., Path]) -> None:
    path = SCENARIOS[name](tmp_path, compiled)
    wanted = cosimulated(path)
    fmu = exported(path, "--fmi", str(fmi))
    description = fmpy.read_model_description(str(fmu), validate=True)
    names = [v.name for v in reals(description)]
    given = {"stop_time": STEPS * H, "output_interval": H, "output": names}
    found = fmpy.simulate_fmu(str(fmu), fmi_type="CoSimulation", **given)
    for each in names:
        assert found[each].tolist() == wanted[each].tolist(), each
    assert sum(len(set(found[each])) > 10 for each in names) >= 4


@pytest.mark.parametrize("client", ["libcosim", "ecos"])
@pytest.mark.parametrize("name", SCENARIOS)
def test_the_bits_in(client: str, name: str, tmp_path: Path, compiled: Callable[..., Path]) -> None:
    """An input or a parameter that the tool sets has the value that it had."""
    path = SCENARIOS[name](tmp_path, compiled)
    wanted, fmu = cosimulated(path), exported(path)
    description = fmpy.read_model_description(str(fmu))
    first = next(v for v in description.modelVariables if v.causality == "parameter" and v.type == "Real")
    outputs = reals(description)
    environment, script, _, by_reference, _ = CLIENTS[client]
    step = round(H * 10**9) if client == "libcosim" else H
    given, *others = (v.valueReference if by_reference else v.name for v in (first, *outputs))
    tools = peers()
    try:
        words = [fmu, tmp_path, STEPS - 1, step, given, first.start, *others]
        found = tools.run_peer(environment, f"fmu/{script}", list(map(str, words)))
    except tools.PeerError as error:
        if "install" in str(error) or "libtbb" in str(error):
            pytest.skip(f"{client} cannot be installed here (ecos needs Debian's libtbb12): {error}")
        raise
    assert found["rows"] == np.transpose([wanted[v.name][1:STEPS] for v in outputs]).tolist()


class Built:
    """A scenario of all kinds of participants as a library that a host in C loads."""

    def __init__(self, folder: Path, algorithm: str, compiled: Callable[..., Path], *flags: str) -> None:
        path = mixed(algorithm)(folder, compiled)
        self.wanted = cosimulated(path)
        loop = CoSimulation.from_file(path)
        interface, _ = container_interface(loop, path)
        sources = NativeContainer(loop, interface, 2)
        objects = write_objects(sources.codes, own_target(), folder)
        for name, text in sources.generated.items():
            (folder / name).write_text(text, "utf-8")
        files = [*sources.files, *(folder / name for name in sources.generated), *objects]
        self.library, self.host = folder / "whole.so", folder / "host"
        words = [c_compiler(), "-std=c11", "-g", *flags, f"-I{SHELL}"]
        self.make([*words, "-fPIC", "-shared", "-o", self.library, *files, "-lm", "-ldl"])
        self.make([*words, "-o", self.host, C_SOURCES / "host.c", "-ldl", "-lm"])
        with zipfile.ZipFile(exported(path)) as archive:
            archive.extractall(folder / "whole")
        self.resources, self.token = folder / "whole" / "resources", sources.token
        shown = fmpy.read_model_description(str(folder / "whole"))
        self.outputs = {v.name: v.valueReference for v in reals(shown)}
        assert self.token == shown.guid

    @staticmethod
    def make(words: list[Any]) -> None:
        made = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
        if made.returncode and "san" in made.stderr:
            pytest.skip(f"no sanitizers here: {made.stderr[-200:]}")
        assert made.returncode == 0, made.stderr[-3000:]

    def run(self, *before: str, runs: int = 1, **environment: str) -> None:
        """Each step after one of a third of its size that is taken back; the bits are those of no trial."""
        words = [*before, self.host, self.library, f"file://{self.resources}", self.token, STEPS, H, runs]
        done = subprocess.run(
            [*map(str, words), *map(str, self.outputs.values())],
            capture_output=True,
            text=True,
            check=False,
            timeout=900,
            env={**os.environ, **environment},
        )
        assert done.returncode == 0, done.stderr[-3000:]
        assert "runtime error" not in done.stderr and "ERROR SUMMARY" not in done.stderr
        rows = np.array([[float(word) for word in line.split()] for line in done.stdout.splitlines()])
        assert rows.shape == (runs * STEPS, len(self.outputs))
        for i, name in enumerate(self.outputs):
            assert rows[:, i].tolist() == self.wanted[name].tolist()[1:] * runs, name


@pytest.mark.skipif(sys.platform != "linux", reason="the host is Linux's")
class TestInC:
    """Rollback in each step, under tools that watch memory."""

    @pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel", "adaptive", "waveform_iteration"])
    def test_rollback(self, algorithm: str, tmp_path: Path, compiled: Callable[..., Path]) -> None:
        Built(tmp_path, algorithm, compiled, "-O2").run(runs=2)

    @pytest.mark.parametrize("algorithm", ["gauss_seidel", "interface_newton"])
    def test_sanitizers(self, algorithm: str, tmp_path: Path, compiled: Callable[..., Path]) -> None:
        flags = ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
        Built(tmp_path, algorithm, compiled, *flags).run(runs=2)

    @pytest.mark.parametrize("algorithm", ["adaptive", "waveform_iteration"])
    def test_valgrind(self, algorithm: str, tmp_path: Path, compiled: Callable[..., Path]) -> None:
        valgrind = shutil.which("valgrind")
        if valgrind is None:
            pytest.skip("no valgrind here")
        words = [valgrind, "--quiet", "--error-exitcode=9", "--leak-check=full"]
        Built(tmp_path, algorithm, compiled, "-O1").run(*words, runs=2)
