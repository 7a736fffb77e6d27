"""An exported FMU uses installed packages if they are identical to those inside it, else its own.

If another version is loaded in its process, it refuses to start.
"""

from pathlib import Path

import pytest
from export_tools import Fmu
from fmu_of_oscillator import (
    WITHOUT_MACHINE_CODE,
    references,
)
from fmu_script import run_script

import cosim

SHOW_PACKAGES = """
import importlib.metadata, pathlib
# fails if plugins are discovered
all_entry_points = importlib.metadata.entry_points
def entry_points(**arguments):
    if arguments.get("group") == "cosim":
        raise AssertionError("plugins are discovered")
    return all_entry_points(**arguments)
importlib.metadata.entry_points = entry_points
fmu, folder = start(sys.argv[1], messages)
assert fmu is not None, messages
rows = run(fmu, json.loads(sys.argv[2]))
fmu.terminate(); fmu.freeInstance()
import cosim, cosim_measures
in_fmu = [pathlib.Path(module.__file__).is_relative_to(folder) for module in (cosim, cosim_measures)]
print(json.dumps([rows, cosim.__version__, *in_fmu, str(folder) in str(sys.path), messages]))
"""


@pytest.mark.thorough
def test_an_fmu_of_another_version_runs_with_the_packages_inside_it(
    fmu_of_other_version: Path, expected_rows: list[list[float]]
) -> None:
    rows, version, has_own_cosim, has_own_plugins, in_path, messages = run_script(
        SHOW_PACKAGES, fmu_of_other_version, references(fmu_of_other_version), **WITHOUT_MACHINE_CODE
    )
    assert (version, has_own_cosim, has_own_plugins, in_path) == ("99.1.2", True, True, False)
    assert messages == []
    assert rows == expected_rows


def test_identical_installed_packages_are_used(
    oscillator_fmu: Path, expected_rows: list[list[float]]
) -> None:
    rows, version, has_own_cosim, has_own_plugins, _, _ = run_script(
        SHOW_PACKAGES, oscillator_fmu, references(oscillator_fmu)
    )
    assert (version, has_own_cosim, has_own_plugins) == (cosim.__version__, False, False)
    assert rows == expected_rows


@pytest.mark.thorough
def test_another_version_in_the_process_is_refused(fmu_of_other_version: Path, oscillator_fmu: Path) -> None:
    with pytest.raises(Exception, match="instantiate"):
        Fmu(fmu_of_other_version)
    script = """
    first, _ = start(sys.argv[1], messages)
    second, _ = start(sys.argv[2], messages)
    print(json.dumps([first is not None, second is not None, messages]))
    """
    first, second, messages = run_script(script, oscillator_fmu, fmu_of_other_version, **WITHOUT_MACHINE_CODE)
    assert (first, second) == (True, False)
    text = "\n".join(messages)
    assert f"made with cosim 99.1.2, but this process holds cosim {cosim.__version__} already" in text
    assert "process of its own" in text
    first, second, messages = run_script(script, fmu_of_other_version, oscillator_fmu, **WITHOUT_MACHINE_CODE)
    assert (first, second) == (True, False)
    assert f"made with cosim {cosim.__version__}, but this process holds cosim 99.1.2 already" in messages[0]


def test_missing_packages_are_reported_in_one_message(oscillator_fmu: Path) -> None:
    script = """
    hide("pluggy", "llvmlite")
    fmu, _ = start(sys.argv[1], messages)
    print(json.dumps([fmu is None, messages]))
    """
    refused, messages = run_script(script, oscillator_fmu)
    assert refused
    assert len(messages) == 1
    assert "packages are missing" in messages[0] and "pip install pluggy" in messages[0]
    assert "numpy (" not in messages[0] and "Traceback" not in messages[0]


SHOW_LLVMLITE = """
if sys.argv[3] == "hidden":
    hide("llvmlite")
fmu, _ = start(sys.argv[1], messages)
print(json.dumps([run(fmu, json.loads(sys.argv[2])), "llvmlite" in sys.modules, messages]))
"""


@pytest.mark.thorough
@pytest.mark.parametrize("llvmlite", ["hidden", "switched off"])
def test_without_llvmlite_the_bits_are_the_same(
    oscillator_fmu: Path, expected_rows: list[list[float]], llvmlite: str
) -> None:
    switch = WITHOUT_MACHINE_CODE if llvmlite == "switched off" else {}
    rows, loaded, messages = run_script(
        SHOW_LLVMLITE, oscillator_fmu, references(oscillator_fmu), llvmlite, **switch
    )
    assert not loaded and messages == []
    assert rows == expected_rows
