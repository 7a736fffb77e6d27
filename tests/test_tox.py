"""tox and `.ci/run` use one folder of compiled kernels, and tox runs two environments at a time."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CI = ROOT / ".ci" / "run"
STUB = """#!/bin/sh
case "$0 $*" in
    *"-m venv"*) mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; cp "$0" "$3/bin/tox" ;;
    */tox*) echo "${COSIM_CACHE_DIR-not set}" ;;
esac
"""


@pytest.mark.few(1)
@pytest.mark.parametrize("cache_folder", [None, "/somewhere/else"])
def test_tox_uses_the_same_cache_folder_each_time(tmp_path: Path, cache_folder: str | None) -> None:
    pytest.importorskip("tox")
    environment = {**os.environ, "COSIM_CACHE_DIR": cache_folder or ""}
    if cache_folder is None:
        del environment["COSIM_CACHE_DIR"]
    command = [sys.executable, "-m", "tox", "config", "--workdir", str(tmp_path), "-c", str(ROOT / "tox.ini")]
    command += ["-e", "tests,thorough,types", "-k", "set_env", "env_tmp_dir"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=tmp_path)
    folders = [line.partition("=")[2] for line in done.stdout.splitlines() if "COSIM_CACHE_DIR=" in line]
    expected = cache_folder or str(tmp_path / "kernels")
    assert folders == [expected] * 2
    assert f"  MYPY_CACHE_DIR={Path(expected, 'mypy')}" in done.stdout.splitlines()
    emptied = [tmp_path / name / "tmp" for name in ("tests", "thorough")]
    assert all(str(path) in done.stdout for path in emptied)


PRINT_PARALLEL = """
import json, sys
from tox.provision import provision
from tox.run import setup_state
for words in json.loads(sys.argv[2]):
    state = setup_state(["--workdir", sys.argv[1], "-c", sys.argv[3], *words])
    assert provision(state) is False
    print(state.conf.options.parallel, state.conf.options.parallel_live)
"""


def test_plain_tox_runs_two_environments_at_a_time(tmp_path: Path) -> None:
    """An option of the command line overrides it, as does an environment that is named."""
    pytest.importorskip("tox")
    words: list[list[str]] = [[], ["-e", "tests"], ["-p", "4"], ["--skip-pkg-install"]]
    command = [sys.executable, "-c", PRINT_PARALLEL, str(tmp_path), json.dumps(words), str(ROOT / "tox.ini")]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TOX")}
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path, env=environment)
    assert done.stdout.splitlines() == ["2 True", "0 False", "4 False", "2 True"]


def cache_folder_of_ci(tmp_path: Path, **environment: str) -> str:
    """The cache folder that `.ci/run` passes to tox; Python and tox are stubs."""
    if not CI.is_file() or os.name != "posix":
        pytest.skip("no .ci/run here")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").write_text(STUB)
    (tmp_path / "bin" / "python3").chmod(0o755)
    (tmp_path / "tmp").mkdir()
    variables = {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", "TMPDIR": str(tmp_path / "tmp"), **environment}
    done = subprocess.run(["bash", str(CI)], env=variables, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_cache_folder_of_ci_is_private_and_the_same_for_every_clone(tmp_path: Path) -> None:
    folder = Path(cache_folder_of_ci(tmp_path, HOME=str(tmp_path / "home")))
    assert folder == tmp_path / "home" / ".cache" / "cosim-tests"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_cache_folder_in_the_environment_is_used(tmp_path: Path) -> None:
    assert cache_folder_of_ci(tmp_path, HOME=str(tmp_path), COSIM_CACHE_DIR="/given") == "/given"
    assert not (tmp_path / ".cache").exists()


def test_without_a_writable_cache_tox_chooses_the_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert (
        cache_folder_of_ci(tmp_path, HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path / "file")) == "not set"
    )
