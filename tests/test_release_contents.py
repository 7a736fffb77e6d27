"""The contents of a release: checksums that other tools verify, and a complete bill of materials."""

import hashlib
import io
import json
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "release" / "contents.py"
METADATA = """Metadata-Version: 2.4
Name: some-framework
Version: 1.2
License-Expression: Apache-2.0
Requires-Dist: numpy>=2.0
Requires-Dist: pyarrow[all]>=16,<20; extra == 'parquet'

Text: that is not a header
"""


@pytest.fixture
def archives(tmp_path: Path) -> list[Path]:
    wheel, sources = tmp_path / "some_framework-1.2-py3-none-any.whl", tmp_path / "some_framework-1.2.tar.gz"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("some/module.py", "x = 1\n")
        archive.writestr("some_framework-1.2.dist-info/METADATA", METADATA)
    with tarfile.open(sources, "w:gz") as archive:
        for name, text in (("PKG-INFO", METADATA), ("some/module.py", "x = 1\n")):
            entry = tarfile.TarInfo(f"some_framework-1.2/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return [wheel, sources]


def run_contents(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), *map(str, words)], capture_output=True, text=True)


def test_checksums_are_those_of_other_tools_and_reveal_a_change(archives: list[Path]) -> None:
    assert run_contents(*archives).returncode == 0
    place = archives[0].parent
    lines = dict(reversed(line.split("  ")) for line in (place / "SHA256SUMS").read_text().splitlines())
    names = {*(a.name for a in archives), *(f"{a.name}.cdx.json" for a in archives)}
    assert set(lines) == names
    for name, digest in lines.items():
        assert hashlib.sha256((place / name).read_bytes()).hexdigest() == digest
    if shutil.which("sha256sum"):
        check = ["sha256sum", "--check", "--quiet", "SHA256SUMS"]
        assert subprocess.run(check, cwd=place).returncode == 0
        archives[0].write_bytes(archives[0].read_bytes() + b"x")
        assert subprocess.run(check, cwd=place, capture_output=True).returncode == 1


def test_the_bill_lists_the_package_its_files_and_requirements(archives: list[Path]) -> None:
    assert run_contents(*archives).returncode == 0
    for archive in archives:
        bill = json.loads((archive.parent / f"{archive.name}.cdx.json").read_text())
        package = bill["metadata"]["component"]
        assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5")
        assert (package["name"], package["version"], package["purl"]) == (
            "some-framework",
            "1.2",
            "pkg:pypi/some-framework@1.2",
        )
        assert package["licenses"] == [{"expression": "Apache-2.0"}]
        assert package["hashes"][0]["content"] == hashlib.sha256(archive.read_bytes()).hexdigest()
        files = {each["name"]: each["hashes"][0]["content"] for each in package["components"]}
        (module,) = (name for name in files if name.endswith("module.py"))
        assert len(files) == 2 and files[module] == hashlib.sha256(b"x = 1\n").hexdigest()
        required, optional = bill["components"]
        assert (required["name"], required["scope"]) == ("numpy", "required")
        assert required["properties"] == [{"name": "versions", "value": ">=2.0"}]
        assert (optional["name"], optional["scope"]) == ("pyarrow", "optional")
        assert {each["name"]: each["value"] for each in optional["properties"]} == {
            "versions": ">=16,<20",
            "when": "extra == 'parquet'",
        }
        assert bill["dependencies"] == [{"ref": package["bom-ref"], "dependsOn": ["pkg:pypi/numpy"]}]


def test_the_same_archives_give_the_same_bytes(archives: list[Path]) -> None:
    place = archives[0].parent
    assert run_contents(*archives).returncode == 0
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    assert run_contents(*place.iterdir()).returncode == 0  # the files that it wrote itself are skipped
    assert {path.name: path.read_bytes() for path in place.iterdir()} == before


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.whl", b"no zip", "cannot be read"),
        ("a.tar.gz", b"no tar", "cannot be read"),
        ("a.txt", b"", "is neither a wheel nor an archive of sources"),
        (None, b"", "Name the archives of a release"),
    ],
)
def test_a_file_that_is_not_an_archive_is_an_error(
    name: str | None, content: bytes, message: str, tmp_path: Path
) -> None:
    if name is not None:
        (tmp_path / name).write_bytes(content)
    done = run_contents(*([tmp_path / name] if name else []))
    assert done.returncode == 1 and message in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "SHA256SUMS").exists()
