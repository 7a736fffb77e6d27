"""The wheel contains all files of the packages and nothing else, and the installed metadata are current."""

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


def metadata_file(wheel: zipfile.ZipFile, name: str) -> str:
    """The text of a file in the folder of metadata."""
    return wheel.read(f"cosim_framework-{cosim.__version__}.dist-info/{name}").decode("utf-8")


def test_the_top_level_of_the_wheel_is_packages_and_metadata(wheel: zipfile.ZipFile) -> None:
    top = {name.partition("/")[0] for name in wheel.namelist()}
    assert top == {*PACKAGES, f"cosim_framework-{cosim.__version__}.dist-info"}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_file_is_in_the_wheel(wheel: zipfile.ZipFile, package: str) -> None:
    """A careless line of .gitignore would leave files out without an error."""
    folder = PACKAGES[package]
    files = {f"{package}/{p.relative_to(folder).as_posix()}" for p in folder.rglob("*") if p.is_file()}
    # only wheels of a release contain machine code
    files = {name for name in files if "/__pycache__/" not in name and "/shipped/" not in name}
    assert {f"{package}/__init__.py", f"{package}/py.typed"} <= files
    assert {name for name in wheel.namelist() if name.startswith(f"{package}/")} == files


def test_the_license_is_in_the_wheel(wheel: zipfile.ZipFile) -> None:
    assert "Apache License" in metadata_file(wheel, "licenses/LICENSE")
    assert email.message_from_string(metadata_file(wheel, "METADATA"))["License-Expression"] == "Apache-2.0"


def test_requirements_have_no_upper_bounds(wheel: zipfile.ZipFile) -> None:
    required = email.message_from_string(metadata_file(wheel, "METADATA")).get_all("Requires-Dist") or []
    required_always = [line for line in required if "extra ==" not in line]
    assert required_always and not [
        line for line in required_always if "<" in line or "==" in line or "~=" in line
    ]


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
def test_in_tox_the_installed_wheel_is_tested() -> None:
    assert not Path(cosim.__file__).is_relative_to(ROOT / "cosim")
