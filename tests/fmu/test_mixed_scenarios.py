"""Scenarios of all kinds of participants, exported without Python: any host gets the bits of cosim."""

from __future__ import annotations

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
def test_fmpy_gets_the_bits_of_the_co_simulation(
    name: str, fmi: int, tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    path = SCENARIOS[name](tmp_path, compiled)
    expected = cosimulated(path)
    fmu = exported(path, "--fmi", str(fmi))
    description = fmpy.read_model_description(str(fmu), validate=True)
    names = [v.name for v in reals(description)]
    settings = {"stop_time": STEPS * H, "output_interval": H, "output": names}
    result = fmpy.simulate_fmu(str(fmu), fmi_type="CoSimulation", **settings)
    for signal in names:
        assert result[signal].tolist() == expected[signal].tolist(), signal
    assert sum(len(set(result[signal])) > 10 for signal in names) >= 4  # they do not rest


@pytest.mark.parametrize("client", ["libcosim", "ecos"])
@pytest.mark.parametrize("name", SCENARIOS)
def test_other_hosts_get_the_bits_of_the_co_simulation(
    client: str, name: str, tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    """The host sets one parameter, to the value that it has: its script needs one."""
    path = SCENARIOS[name](tmp_path, compiled)
    expected, fmu = cosimulated(path), exported(path)
    description = fmpy.read_model_description(str(fmu))
    parameter = next(v for v in description.modelVariables if v.causality == "parameter" and v.type == "Real")
    outputs = reals(description)
    environment, script, _, by_reference, _ = CLIENTS[client]
    step = round(H * 10**9) if client == "libcosim" else H
    key, *output_keys = (v.valueReference if by_reference else v.name for v in (parameter, *outputs))
    tools = peers()
    try:
        arguments = [fmu, tmp_path, STEPS - 1, step, key, parameter.start, *output_keys]
        answer = tools.run_peer(environment, f"fmu/{script}", list(map(str, arguments)))
    except tools.PeerError as error:
        if "install" in str(error) or "libtbb" in str(error):
            pytest.skip(f"{client} cannot be installed here (ecos needs Debian's libtbb12): {error}")
        raise
    assert answer["rows"] == np.transpose([expected[v.name][1:STEPS] for v in outputs]).tolist()


class CompiledScenario:
    """A scenario of all kinds of participants as a library that a host in C loads."""

    def __init__(self, folder: Path, algorithm: str, compiled: Callable[..., Path], *flags: str) -> None:
        path = mixed(algorithm)(folder, compiled)
        self.expected = cosimulated(path)
        loop = CoSimulation.from_file(path)
        interface, _ = container_interface(loop, path)
        sources = NativeContainer(loop, interface, 2)
        objects = write_objects(sources.codes, own_target(), folder)
        for name, text in sources.generated.items():
            (folder / name).write_text(text, "utf-8")
        files = [*sources.files, *(folder / name for name in sources.generated), *objects]
        self.library, self.host = folder / "whole.so", folder / "host"
        compiler = [c_compiler(), "-std=c11", "-g", *flags, f"-I{SHELL}"]
        self.make([*compiler, "-fPIC", "-shared", "-o", self.library, *files, "-lm", "-ldl"])
        self.make([*compiler, "-o", self.host, C_SOURCES / "host.c", "-ldl", "-lm"])
        with zipfile.ZipFile(exported(path)) as archive:
            archive.extractall(folder / "whole")
        self.resources, self.token = folder / "whole" / "resources", sources.token
        description = fmpy.read_model_description(str(folder / "whole"))
        self.outputs = {v.name: v.valueReference for v in reals(description)}
        assert self.token == description.guid

    @staticmethod
    def make(command: list[Any]) -> None:
        compilation = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        if compilation.returncode and "san" in compilation.stderr:
            pytest.skip(f"no sanitizers here: {compilation.stderr[-200:]}")
        assert compilation.returncode == 0, compilation.stderr[-3000:]

    def run(self, *tool: str, runs: int = 1) -> None:
        """The host tries a third of each step, restores the state and takes the step: the same bits.

        `tool` is a command that runs the host, such as valgrind.
        """
        command = [*tool, self.host, self.library, f"file://{self.resources}", self.token, STEPS, H, runs]
        done = subprocess.run(
            [*map(str, command), *map(str, self.outputs.values())],
            capture_output=True,
            text=True,
            check=False,
            timeout=900,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        assert "runtime error" not in done.stderr and "ERROR SUMMARY" not in done.stderr
        rows = np.array([[float(word) for word in line.split()] for line in done.stdout.splitlines()])
        assert rows.shape == (runs * STEPS, len(self.outputs))
        for i, name in enumerate(self.outputs):
            assert rows[:, i].tolist() == self.expected[name].tolist()[1:] * runs, name


@pytest.mark.skipif(sys.platform != "linux", reason="the host is Linux's")
class TestInC:
    """A host in C that rolls back in each step, also under tools that check memory."""

    @pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel", "adaptive", "waveform_iteration"])
    def test_rollback(self, algorithm: str, tmp_path: Path, compiled: Callable[..., Path]) -> None:
        CompiledScenario(tmp_path, algorithm, compiled, "-O2").run(runs=2)

    @pytest.mark.parametrize("algorithm", ["gauss_seidel", "interface_newton"])
    def test_sanitizers(self, algorithm: str, tmp_path: Path, compiled: Callable[..., Path]) -> None:
        flags = ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
        CompiledScenario(tmp_path, algorithm, compiled, *flags).run(runs=2)

    @pytest.mark.parametrize("algorithm", ["adaptive", "waveform_iteration"])
    def test_valgrind(self, algorithm: str, tmp_path: Path, compiled: Callable[..., Path]) -> None:
        valgrind = shutil.which("valgrind")
        if valgrind is None:
            pytest.skip("no valgrind here")
        tool = [valgrind, "--quiet", "--error-exitcode=9", "--leak-check=full"]
        CompiledScenario(tmp_path, algorithm, compiled, "-O1").run(*tool, runs=2)
