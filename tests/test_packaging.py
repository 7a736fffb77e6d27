"""The wheel holds all packages whole and nothing else; what is installed is what pyproject says."""

import email
import os
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

import cosim

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PACKAGES = {
    path.name: path
    for path in (
        ROOT / "cosim",
        *(p for f in ("compiler", "plugins", "fmu") for p in ROOT.glob(f"{f}/cosim_*")),
    )
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        env={**os.environ, "COSIM_SHIP": "0"},
        check=True,
    )
    (built,) = folder.glob("*.whl")
    assert built.name == f"cosim_framework-{cosim.__version__}-py3-none-any.whl"
    return zipfile.ZipFile(built)


def in_info(wheel: zipfile.ZipFile, name: str) -> str:
    return wheel.read(f"cosim_framework-{cosim.__version__}.dist-info/{name}").decode("utf-8")


def test_top_level_of_the_wheel(wheel: zipfile.ZipFile) -> None:
    top = {name.partition("/")[0] for name in wheel.namelist()}
    assert top == {*PACKAGES, f"cosim_framework-{cosim.__version__}.dist-info"}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_file_is_in_the_wheel(wheel: zipfile.ZipFile, package: str) -> None:
    """A careless line of .gitignore would leave files out without a word."""
    folder = PACKAGES[package]
    here = {f"{package}/{p.relative_to(folder).as_posix()}" for p in folder.rglob("*") if p.is_file()}
    # machine code is in wheels that are built for it
    here = {name for name in here if "/__pycache__/" not in name and "/shipped/" not in name}
    assert {f"{package}/__init__.py", f"{package}/py.typed"} <= here
    assert {name for name in wheel.namelist() if name.startswith(f"{package}/")} == here


def test_license_is_in_the_wheel(wheel: zipfile.ZipFile) -> None:
    assert "Apache License" in in_info(wheel, "licenses/LICENSE")
    assert email.message_from_string(in_info(wheel, "METADATA"))["License-Expression"] == "Apache-2.0"


def test_no_minor_version_is_pinned(wheel: zipfile.ZipFile) -> None:
    required = email.message_from_string(in_info(wheel, "METADATA")).get_all("Requires-Dist") or []
    ours = [line for line in required if "extra ==" not in line]
    assert ours and not [line for line in ours if "<" in line or "==" in line or "~=" in line]


def test_installed_entry_points_are_those_of_pyproject() -> None:
    declared = {
        "console_scripts": PROJECT["scripts"],
        **PROJECT["entry-points"],
    }
    installed: dict[str, dict[str, str]] = {}
    for point in distribution("cosim-framework").entry_points:
        installed.setdefault(point.group, {})[point.name] = point.value
    assert installed == declared, "pyproject.toml has changed: run `pip install -e .` again"


def test_installed_version_is_that_of_the_package() -> None:
    assert distribution("cosim-framework").version == cosim.__version__


@pytest.mark.skipif(
    "TOX_ENV_NAME" not in os.environ, reason="the working tree is meant to be tested outside tox"
)
def test_the_wheel_is_what_is_tested() -> None:
    assert not Path(cosim.__file__).is_relative_to(ROOT / "cosim")
