"""The addresses of the project stand in one file; wheels and texts contain them, and an upload needs them."""

import email
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = {
    "repository": "https://example.org/cosim",
    "documentation": "https://docs.example.org/",
    "issues": "https://example.org/cosim/issues",
    "security": "mailto:security@example.org",
    "files": "https://example.org/cosim/blob/v{version}/",
    "pictures": "https://example.org/cosim/raw/v{version}/",
}
FILES = (
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "CITATION.cff",
    "SECURITY.md",
    "cosim/version.py",
    "cosim/__init__.py",
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the files of the project that a build needs."""
    for name in (
        *FILES,
        *(f"release/{name}" for name in ("addresses.py", "addresses.toml", "build_hook.py")),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def write_addresses(project: Path, addresses: dict[str, str]) -> None:
    lines = [f'{name} = "{address}"\n' for name, address in addresses.items()]
    (project / "release" / "addresses.toml").write_text("".join(lines), "utf-8")


def run(project: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a Python command in the copy, with further environment variables."""
    environment = {**os.environ, "COSIM_SHIP": "0", **variables}
    return subprocess.run(
        [sys.executable, *command],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


def test_wheel_and_texts_state_the_addresses(project: Path) -> None:
    # a wheel without addresses, for later, and one with them
    built = run(project, "-m", "hatchling", "build", "-d", "old")
    assert built.returncode == 0, built.stderr
    write_addresses(project, EXAMPLES)
    assert run(project, "-m", "hatchling", "build", "-d", "dist").returncode == 0
    (wheel,) = (project / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        metadata = email.message_from_bytes(archive.read(name))
    assert metadata.get_all("Project-URL") == [
        f"{name.capitalize()}, {EXAMPLES[name]}" for name in ("repository", "documentation", "issues")
    ]
    readme, version = metadata.get_payload(), metadata["Version"]
    assert f"](https://example.org/cosim/raw/v{version}/docs/images/engine_mount.png)" in readme
    assert f"](https://example.org/cosim/blob/v{version}/CITATION.cff)" in readme
    assert re.findall(r"\]\((?!https://)[^)]*\)", readme) == []

    # the check writes them into the texts, and only once
    archives = [str(path) for path in (project / "dist").iterdir()]
    assert len(archives) == 2
    checked = run(project, "release/addresses.py", *archives)
    assert (checked.returncode, checked.stderr) == (0, "")
    citation = (project / "CITATION.cff").read_text("utf-8").splitlines()
    assert f"repository-code: {EXAMPLES['repository']}" in citation
    assert f"url: {EXAMPLES['documentation']}" in citation
    assert f"in private, at <{EXAMPLES['security']}>, and not" in (project / "SECURITY.md").read_text("utf-8")
    before = [(project / name).read_bytes() for name in ("CITATION.cff", "SECURITY.md")]
    assert run(project, "release/addresses.py").returncode == 0
    assert [(project / name).read_bytes() for name in ("CITATION.cff", "SECURITY.md")] == before

    # the wheel without addresses is refused
    old = run(project, "release/addresses.py", *archives, *map(str, (project / "old").iterdir()))
    assert old.returncode == 1
    assert "without the addresses" in old.stderr and old.stderr.count("cosim_framework-") == 2


def test_a_wheel_contains_the_machine_code_for_its_own_python_alone(project: Path) -> None:
    (project / "release" / "ship.py").write_text("")
    shipped = project / "compiler" / "cosim_compiler" / "shipped"
    shipped.mkdir(parents=True)
    of_this_python = [f"{kind}-{sys.implementation.cache_tag}-plan9-mips.zip" for kind in ("units", "texts")]
    for name in (*of_this_python, "units-cpython-300-linux-x86_64.zip"):
        (shipped / name).write_bytes(b"code")
    (project / ".gitignore").write_text("shipped/\n")
    assert run(project, "-m", "hatchling", "build", "-t", "wheel", COSIM_SHIP="1").returncode == 0
    (wheel,) = (project / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        shipped_files = {name for name in archive.namelist() if "/shipped/" in name}
    assert shipped_files == {f"cosim_compiler/shipped/{name}" for name in of_this_python}


def test_machine_code_is_compiled_with_the_packages_of_the_build(project: Path) -> None:
    """pip sets ``PYTHONPATH`` to the folder where it has installed the requirements of a build."""
    packages = project / "packages"
    packages.mkdir()
    (packages / "of_the_build.py").write_text("")
    (project / "release" / "ship.py").write_text("import of_the_build\n")
    path = os.pathsep.join([str(packages), os.environ.get("PYTHONPATH", "")])
    built = run(project, "-m", "hatchling", "build", "-t", "wheel", COSIM_SHIP="1", PYTHONPATH=path)
    assert built.returncode == 0, built.stderr


def test_nothing_is_uploaded_without_addresses(project: Path) -> None:
    write_addresses(project, EXAMPLES | {"security": "", "files": ""})
    refused = run(project, "release/addresses.py")
    assert refused.returncode == 1
    assert "release/addresses.toml has no security" in refused.stderr


@pytest.mark.parametrize("wrong", [{"home": "https://example.org"}, {"repository": "example.org"}])
def test_a_wrong_address_is_refused(project: Path, wrong: dict[str, str]) -> None:
    write_addresses(project, EXAMPLES | wrong)
    refused = run(project, "release/addresses.py")
    assert refused.returncode == 1
    assert refused.stderr.startswith("release/addresses.toml: ") and "Traceback" not in refused.stderr


def test_the_texts_of_the_repository_have_the_present_addresses(project: Path) -> None:
    before = [(project / name).read_bytes() for name in ("CITATION.cff", "SECURITY.md")]
    run(project, "release/addresses.py")
    assert [(project / name).read_bytes() for name in ("CITATION.cff", "SECURITY.md")] == before
