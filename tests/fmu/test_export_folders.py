"""Exported FMUs run in folders with any name, by scripts with names of their own."""

import zipfile
from pathlib import Path

import pytest
from export_tools import ball, export, oscillator, running
from fmu_script import run_script


def test_the_scripts_of_different_fmus_have_different_names(oscillator_fmu: Path, tmp_path: Path) -> None:
    names = set()
    for path in (
        oscillator_fmu,
        export(ball(), tmp_path / "a.fmu"),
        export(oscillator(mass=3.0), tmp_path / "b.fmu"),
    ):
        with zipfile.ZipFile(path) as archive:
            names.add(archive.read("resources/slavemodule.txt").decode())
    assert len(names) == 3


FOLDER_NAMES = ["with space", "a@b", "gr\u00f6\u00dfe", "100% +,;=#[]", "%41%4", "\u65e5\u672c", "p%q%"]


@pytest.mark.few(2)
@pytest.mark.parametrize("name", FOLDER_NAMES)
def test_an_fmu_runs_in_folders_with_any_name(name: str, oscillator_fmu: Path, tmp_path: Path) -> None:
    with running(oscillator_fmu, folder=tmp_path / name / "b") as fmu:
        fmu.start()
        fmu.steps(0, 2)
        assert fmu["osc.x"] != 0.1


def test_a_missing_script_is_an_error(oscillator_fmu: Path, tmp_path: Path) -> None:
    """Instantiation fails with a message."""
    script = """
    import fmpy, pathlib
    def extract(path, folder=sys.argv[2]):
        found = fmpy.extract(path, folder)
        (pathlib.Path(found) / "resources" / "slavemodule.txt").unlink()
        return found
    fmu, _ = start(sys.argv[1], messages)
    print(json.dumps([fmu is None, messages]))
    """
    refused, messages = run_script(script, oscillator_fmu, tmp_path / "gr\u00f6\u00dfe")
    assert refused and "findClass" in messages[0]
