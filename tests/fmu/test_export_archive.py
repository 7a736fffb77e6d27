"""Archives of exported FMUs: files, and equal bytes for equal models; an export leaves nothing behind."""

import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from export_tools import export, oscillator

import cosim
from cosim_export.interface.archive import read_archive, write_archive

EXPORT = """
import sys
from pathlib import Path
from export_tools import export, oscillator
export(oscillator("my oscillator"), Path(sys.argv[1]))
"""
EXPORT_TWICE = """
import sys
from pathlib import Path
from cosim_mechanics import Multibody
model = Multibody("cart", gravity=(0.0, 0.0, 0.0))
model.joint("slider", name="rail", child=model.body("cart", mass=1.0, inertia=(1.0, 1.0, 1.0)))
for name in ("first", "second"):
    model.export_fmu(Path(sys.argv[1]) / f"{name}.fmu", outputs=["cart.x"], native=False)
files = {name: getattr(module, "__file__", None) or "" for name, module in sys.modules.items()}
print([name for name, file in files.items() if file.endswith(".py") and not Path(file).is_file()])
print("cosim_signals" in files, "cosim_mechanics.forces.coupled_bushing" in files)
"""


@pytest.fixture(scope="module")
def oscillator_fmu(tmp_path_factory: pytest.TempPathFactory) -> Path:
    model = oscillator("my oscillator")
    model.simulation = {"until": 2.0, "accuracy": 1e-5}
    return export(model, tmp_path_factory.mktemp("fmu") / "oscillator.fmu", step_size=0.01)


def test_a_failed_export_leaves_an_older_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "x.fmu"
    path.write_bytes(b"old")
    with pytest.raises(cosim.ModelError):
        export(oscillator(), path, outputs=["nothing"])
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.thorough
def test_a_model_has_the_same_bytes_in_another_process_and_another_model_another_guid(
    tmp_path: Path,
) -> None:
    from fmpy import read_model_description

    path = export(oscillator("my oscillator"), tmp_path / "here.fmu")
    path_of_process = tmp_path / "sub" / "there.fmu"
    subprocess.run(
        [sys.executable, "-c", EXPORT, str(path_of_process)], cwd=Path(__file__).parent, check=True
    )
    assert path.read_bytes() == path_of_process.read_bytes()
    other_model = export(oscillator("my oscillator", mass=2.5), tmp_path / "other.fmu")
    assert read_model_description(str(other_model)).guid != read_model_description(str(path)).guid


def test_an_export_changes_neither_the_path_nor_the_modules(tmp_path: Path) -> None:
    path, modules = list(sys.path), set(sys.modules)
    export(oscillator(), tmp_path / "x.fmu")
    assert sys.path == path
    assert {name for name in set(sys.modules) - modules if "slave_" in name} == set()


@pytest.mark.thorough
def test_an_export_leaves_no_modules_of_its_temporary_folder(tmp_path: Path) -> None:
    """In a new process, the export has to import modules that the model does not use itself."""
    process = subprocess.run(
        [sys.executable, "-c", EXPORT_TWICE, str(tmp_path)],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
    )
    assert process.stdout.splitlines() == ["[]", "True False"], process.stderr


def test_an_archive_has_the_packages_and_files_that_the_model_needs(oscillator_fmu: Path) -> None:
    with zipfile.ZipFile(oscillator_fmu) as archive:
        names = archive.namelist()
        module = archive.read("resources/slavemodule.txt").decode()
        root = ElementTree.fromstring(archive.read("modelDescription.xml"))
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    # the files that all FMUs share come first
    shared = ("resources/cosim/", "resources/cosim_compiler/", "resources/cosim_export/")
    assert names == sorted(names, key=lambda name: (not name.startswith(shared), name))
    assert module.startswith("cosim_slave_") and f"resources/{module}.py" in names
    needed = ["cosim/__init__.py", "cosim_measures/delay.py", "cosim_integrators/runge_kutta_merson.py"]
    needed += ["export_parts.py", "manifest.json", "model.json", "interface.json", "registry.json"]
    assert {f"resources/{name}" for name in needed} <= set(names)
    assert {"binaries/linux64/my_oscillator.so", "binaries/win64/my_oscillator.dll"} <= set(names)
    unused = ["__pycache__", "cosim/testing", "shipped/texts-", "cosim_workbench", "test_export"]
    for text in [*unused, "cosim_mechanics"]:
        assert [name for name in names if text in name] == []
    assert root.attrib["generationDateAndTime"] == "2023-11-14T22:13:20Z"


def test_files_that_archives_share_have_the_contents_of_each_archive(tmp_path: Path) -> None:
    for content in (b"one", b"two", b"one"):
        files = {"b": content, "a": b"first", "d": b"", "c": content}
        write_archive(tmp_path / "x.zip", files, shared={"b", "a"})
        assert list(read_archive(tmp_path / "x.zip").items()) == sorted(files.items())


def test_an_installed_package_may_have_a_record_with_an_empty_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "strange-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: strange\nVersion: 1.0\n")
    (info / "RECORD").write_text('strange/__init__.py,,\n\n"odd,one.py",,\n')
    monkeypatch.syspath_prepend(tmp_path)
    assert export(oscillator(), tmp_path / "x.fmu").is_file()
