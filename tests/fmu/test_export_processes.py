"""What an exported FMU does about the process that it comes into."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from export_tools import Fmu, ball, export, oscillator, running

import cosim
from cosim_export.interface.archive import read_archive, write_archive
from cosim_export.python_fmu.slave import package_digest

RUN = """
import json, sys
from fmpy import extract, read_model_description
from fmpy.fmi2 import FMU2Slave, defaultCallbacks, fmi2CallbackFunctions, fmi2CallbackLoggerTYPE

def start(path, messages):
    description = read_model_description(path)
    def log(environment, instance, status, category, message):
        messages.append(message.decode())
    callbacks = fmi2CallbackFunctions()
    callbacks.logger = fmi2CallbackLoggerTYPE(log)
    callbacks.allocateMemory = defaultCallbacks.allocateMemory
    callbacks.freeMemory = defaultCallbacks.freeMemory
    folder = extract(path)
    fmu = FMU2Slave(guid=description.guid, unzipDirectory=folder, instanceName="x",
                    modelIdentifier=description.coSimulation.modelIdentifier)
    try:
        fmu.instantiate(callbacks=callbacks, loggingOn=True)
    except Exception:
        return None, folder
    fmu.setupExperiment(startTime=0.0)
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    return fmu, folder

def run(fmu, references):
    rows = []
    for i in range(20):
        fmu.doStep(i * 0.01, 0.01)
        rows.append(list(fmu.getReal(references)))
    return rows

def hide(*names):
    class Hidden:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] in names:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            return None
    sys.meta_path.insert(0, Hidden())

messages = []
"""


def python(script: str, *arguments: Any, **environment: str) -> Any:
    """Run a script in a process of its own; what it printed last, as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", RUN + script, *map(str, arguments)],
        env={**os.environ, **environment}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def of_version(path: Path, version: str, folder: Path) -> Path:
    """The same FMU as if it had been made with another version of the framework."""
    files = read_archive(path)
    place = "resources/cosim/version.py"
    files[place] = files[place].replace(cosim.__version__.encode(), version.encode())
    manifest = json.loads(files["resources/manifest.json"])
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    framework = next(row for row in manifest["packages"] if row["name"] == "cosim")
    framework["digest"] = package_digest(folder / "resources" / "cosim")
    for row in manifest["packages"]:
        if row["distribution"] == framework["distribution"]:
            row["version"] = version
    files["resources/manifest.json"] = json.dumps(manifest).encode()
    changed = folder / f"{path.stem}-{version}.fmu"
    write_archive(changed, files)
    return changed


@pytest.fixture(scope="module")
def oscillator_fmu(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(oscillator(), tmp_path_factory.mktemp("fmu") / "oscillator.fmu")


@pytest.fixture(scope="module")
def strange_fmu(oscillator_fmu: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return of_version(oscillator_fmu, "99.1.2", tmp_path_factory.mktemp("strange"))


@pytest.fixture(scope="module")
def expected(oscillator_fmu: Path) -> list[list[float]]:
    rows = []
    with running(oscillator_fmu) as fmu:
        fmu.start()
        for i in range(20):
            fmu.slave.doStep(i * 0.01, 0.01)
            rows.append(fmu.all())
    return rows


CARRIED = """
import importlib.metadata, pathlib, shutil
def entry_points(**given):
    if given.get("group") == "cosim":
        raise AssertionError("plugins are discovered")
    return all_of_them(**given)
all_of_them, importlib.metadata.entry_points = importlib.metadata.entry_points, entry_points
fmu, folder = start(sys.argv[1], messages)
assert fmu is not None, messages
rows = run(fmu, json.loads(sys.argv[2]))
fmu.terminate(); fmu.freeInstance()
import cosim, cosim_measures
ours, plugins = [str(pathlib.Path(m.__file__).is_relative_to(folder)) for m in (cosim, cosim_measures)]
print(json.dumps([rows, cosim.__version__, ours, plugins, str(folder) in str(sys.path), messages]))
"""


def references(path: Path) -> str:
    from fmpy import read_model_description

    return json.dumps([v.valueReference for v in read_model_description(str(path)).modelVariables])


PLAINLY = {"COSIM_PLAIN": "1"}
"""Where all machine code would have to be made, as of a version that is not ours: the bits are the same."""


@pytest.mark.thorough
def test_it_runs_on_the_packages_that_it_carries(strange_fmu: Path, expected: list[list[float]]) -> None:
    rows, version, ours, plugins, in_path, messages = python(
        CARRIED, strange_fmu, references(strange_fmu), **PLAINLY
    )
    assert (version, ours, plugins, in_path) == ("99.1.2", "True", "True", False)
    assert messages == []
    assert rows == expected


def test_identical_installed_packages_are_used(oscillator_fmu: Path, expected: list[list[float]]) -> None:
    rows, version, ours, plugins, _, _ = python(CARRIED, oscillator_fmu, references(oscillator_fmu))
    assert (version, ours, plugins) == (cosim.__version__, "False", "False")
    assert rows == expected


@pytest.mark.thorough
def test_another_version_in_the_process_is_refused(strange_fmu: Path, oscillator_fmu: Path) -> None:
    with pytest.raises(Exception, match="instantiate"):
        Fmu(strange_fmu)
    script = """
    first, _ = start(sys.argv[1], messages)
    second, _ = start(sys.argv[2], messages)
    print(json.dumps([first is not None, second is not None, messages]))
    """.replace("\n    ", "\n")
    first, second, messages = python(script, oscillator_fmu, strange_fmu, **PLAINLY)
    assert (first, second) == (True, False)
    text = "\n".join(messages)
    assert f"made with cosim 99.1.2, but this process holds cosim {cosim.__version__} already" in text
    assert "process of its own" in text
    first, second, messages = python(script, strange_fmu, oscillator_fmu, **PLAINLY)
    assert (first, second) == (True, False)
    assert f"made with cosim {cosim.__version__}, but this process holds cosim 99.1.2 already" in messages[0]


def test_missing_packages_are_one_message(oscillator_fmu: Path) -> None:
    script = """
    hide("pluggy", "llvmlite")
    fmu, _ = start(sys.argv[1], messages)
    print(json.dumps([fmu is None, messages]))
    """.replace("\n    ", "\n")
    refused, messages = python(script, oscillator_fmu)
    assert refused
    assert len(messages) == 1
    assert "packages are missing" in messages[0] and "pip install pluggy" in messages[0]
    assert "numpy (" not in messages[0] and "Traceback" not in messages[0]


PLAIN = """
if sys.argv[3] == "hidden":
    hide("llvmlite")
fmu, _ = start(sys.argv[1], messages)
print(json.dumps([run(fmu, json.loads(sys.argv[2])), "llvmlite" in sys.modules, messages]))
"""


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["hidden", pytest.param("switched off", marks=pytest.mark.thorough)])
def test_without_llvm_no_bit_changes(oscillator_fmu: Path, expected: list[list[float]], how: str) -> None:
    switch = PLAINLY if how == "switched off" else {}
    rows, loaded, messages = python(PLAIN, oscillator_fmu, references(oscillator_fmu), how, **switch)
    assert not loaded and messages == []
    assert rows == expected


@pytest.mark.thorough
def test_the_folder_of_the_first_fmu_may_go(strange_fmu: Path) -> None:
    script = """
    import importlib, pathlib, shutil
    first, folder = start(sys.argv[1], messages)
    first.terminate(); first.freeInstance(); shutil.rmtree(folder)
    second, folder = start(sys.argv[1], messages)
    names = sorted(p.stem for p in pathlib.Path(folder, "resources", "cosim").glob("*.py"))
    later = next(n for n in names if f"cosim.{n}" not in sys.modules and not n.startswith("_"))
    importlib.import_module(f"cosim.{later}")
    print(json.dumps([second is not None, later, messages]))
    """.replace("\n    ", "\n")
    again, later, messages = python(script, strange_fmu, **PLAINLY)
    assert again and later and messages == []


@pytest.mark.thorough
def test_the_process_ends_well(oscillator_fmu: Path) -> None:
    """Pythonfmu's library releases an object twice at the end of the process; ours does not."""
    script = """
    fmu, _ = start(sys.argv[1], messages)
    fmu.freeInstance()
    print(json.dumps(len(messages)))
    """.replace("\n    ", "\n")
    for switch in ({}, PLAINLY):
        assert python(script, oscillator_fmu, **switch) == 0


def test_two_fmus_in_one_process(oscillator_fmu: Path, tmp_path: Path, expected: list[list[float]]) -> None:
    with running(oscillator_fmu) as one, running(export(ball(), tmp_path / "ball.fmu")) as two:
        one.start()
        two.start()
        rows = []
        for i in range(20):
            one.slave.doStep(i * 0.01, 0.01)
            two.slave.doStep(i * 0.01, 0.01)
            rows.append(one.all())
        assert rows == expected
        assert two["ball.height"] == pytest.approx(1.0 - 9.81 / 2 * 0.2**2, abs=1e-6)


PARTS = '''
import cosim

class Source(cosim.Component):
    """A constant."""
    value = cosim.output(unit="1")
    level = cosim.parameter(unit="1", default=1.0)
    @cosim.kernel
    def give(level, value):
        value[0] = FACTOR * level
'''
EXPORT = """
import cosim
from cosim_export.python_fmu.pythonfmu_exporter import PythonFmuExporter
for folder in sys.argv[1:]:
    sys.path.insert(0, folder)
    from acme_parts import Source
    model = cosim.Model("source")
    model.add(Source, "source")
    PythonFmuExporter().export(model, f"{folder}.fmu")
    del sys.modules["acme_parts"]
print("null")
"""


@pytest.mark.thorough
def test_modules_of_one_name_are_not_mixed_up(tmp_path: Path) -> None:
    """Of two different FMUs the second does not run the first one's code without a word."""
    folders = [tmp_path / "3.0", tmp_path / "5.0"]
    for folder in folders:
        folder.mkdir()
        (folder / "acme_parts.py").write_text(PARTS.replace("FACTOR", folder.name))
    python(EXPORT, *folders, **PLAINLY)
    script = """
    values = []
    for path in sys.argv[1:]:
        fmu, _ = start(path, messages)
        values.append(fmu and fmu.getReal([0])[0])
    print(json.dumps([values, messages]))
    """.replace("\n    ", "\n")
    paths = [tmp_path / "3.0.fmu", tmp_path / "5.0.fmu"]
    values, messages = python(script, *paths, **PLAINLY)
    assert values == [3.0, None]
    assert "this process holds acme_parts" in messages[0]
    assert python(script, *reversed(paths), paths[1], **PLAINLY)[0] == [5.0, None, 5.0]


def test_the_script_has_a_name_of_its_own(oscillator_fmu: Path, tmp_path: Path) -> None:
    names = set()
    for path in (
        oscillator_fmu,
        export(ball(), tmp_path / "a.fmu"),
        export(oscillator(mass=3.0), tmp_path / "b.fmu"),
    ):
        with zipfile.ZipFile(path) as archive:
            names.add(archive.read("resources/slavemodule.txt").decode())
    assert len(names) == 3


NAMES = ["with space", "a@b", "gr\u00f6\u00dfe", "100% +,;=#[]", "%41%4", "\u65e5\u672c", "p%q%"]


@pytest.mark.few(2)
@pytest.mark.parametrize("name", NAMES)
def test_names_of_folders(name: str, oscillator_fmu: Path, tmp_path: Path) -> None:
    with running(oscillator_fmu, folder=tmp_path / name / "b") as fmu:
        fmu.start()
        fmu.steps(0, 2)
        assert fmu["osc.x"] != 0.1


def test_a_script_that_is_not_there_is_an_error(oscillator_fmu: Path, tmp_path: Path) -> None:
    """There is no instance, and a message, and no crash."""
    script = """
    import fmpy, pathlib
    def extract(path, folder=sys.argv[2]):
        found = fmpy.extract(path, folder)
        (pathlib.Path(found) / "resources" / "slavemodule.txt").unlink()
        return found
    fmu, _ = start(sys.argv[1], messages)
    print(json.dumps([fmu is None, messages]))
    """.replace("\n    ", "\n")
    refused, messages = python(script, oscillator_fmu, tmp_path / "gr\u00f6\u00dfe")
    assert refused and "findClass" in messages[0]


@pytest.mark.thorough
def test_an_export_after_a_run_has_its_binaries(oscillator_fmu: Path, tmp_path: Path) -> None:
    """Where an FMU has run, pythonfmu is the copy that the FMU carries, which has no binaries."""
    script = """
    fmu, _ = start(sys.argv[1], messages)
    carried = sys.modules["pythonfmu"].__file__
    from pathlib import Path
    from export_tools import export, oscillator
    written = export(oscillator(), Path(sys.argv[2]))
    same = carried == sys.modules["pythonfmu"].__file__ and "resources" in carried
    print(json.dumps([same, written.read_bytes() == Path(sys.argv[1]).read_bytes()]))
    """.replace("\n    ", "\n")
    assert python(script, oscillator_fmu, tmp_path / "again.fmu") == [True, True]
