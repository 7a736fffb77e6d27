"""An exported FMU uses packages of its process that are identical, else those inside it, or refuses."""

import json
import zipfile
from pathlib import Path

import pytest
from export_tools import Fmu, ball, export, oscillator, running
from fmu_script import run_script

import cosim
from cosim_export.interface.archive import read_archive, write_archive
from cosim_export.python_fmu.slave import package_digest


def with_version(path: Path, version: str, folder: Path) -> Path:
    """A copy of an FMU as if it had been exported with another version of the framework."""
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
    return with_version(oscillator_fmu, "99.1.2", tmp_path_factory.mktemp("strange"))


@pytest.fixture(scope="module")
def expected(oscillator_fmu: Path) -> list[list[float]]:
    rows = []
    with running(oscillator_fmu) as fmu:
        fmu.start()
        for i in range(20):
            fmu.slave.doStep(i * 0.01, 0.01)
            rows.append(fmu.all())
    return rows


SHOW_PACKAGES = """
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


WITHOUT_MACHINE_CODE = {"COSIM_PLAIN": "1"}
"""For FMUs of another version all machine code would have to be compiled; plain Python has the same bits."""


@pytest.mark.thorough
def test_an_fmu_of_another_version_runs_with_the_packages_inside_it(
    strange_fmu: Path, expected: list[list[float]]
) -> None:
    rows, version, has_own_cosim, has_own_plugins, in_path, messages = run_script(
        SHOW_PACKAGES, strange_fmu, references(strange_fmu), **WITHOUT_MACHINE_CODE
    )
    assert (version, has_own_cosim, has_own_plugins, in_path) == ("99.1.2", "True", "True", False)
    assert messages == []
    assert rows == expected


def test_identical_installed_packages_are_used(oscillator_fmu: Path, expected: list[list[float]]) -> None:
    rows, version, has_own_cosim, has_own_plugins, _, _ = run_script(
        SHOW_PACKAGES, oscillator_fmu, references(oscillator_fmu)
    )
    assert (version, has_own_cosim, has_own_plugins) == (cosim.__version__, "False", "False")
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
    first, second, messages = run_script(script, oscillator_fmu, strange_fmu, **WITHOUT_MACHINE_CODE)
    assert (first, second) == (True, False)
    text = "\n".join(messages)
    assert f"made with cosim 99.1.2, but this process holds cosim {cosim.__version__} already" in text
    assert "process of its own" in text
    first, second, messages = run_script(script, strange_fmu, oscillator_fmu, **WITHOUT_MACHINE_CODE)
    assert (first, second) == (True, False)
    assert f"made with cosim {cosim.__version__}, but this process holds cosim 99.1.2 already" in messages[0]


def test_missing_packages_are_reported_in_one_message(oscillator_fmu: Path) -> None:
    script = """
    hide("pluggy", "llvmlite")
    fmu, _ = start(sys.argv[1], messages)
    print(json.dumps([fmu is None, messages]))
    """.replace("\n    ", "\n")
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
@pytest.mark.parametrize("llvmlite", ["hidden", pytest.param("switched off", marks=pytest.mark.thorough)])
def test_without_llvmlite_the_bits_are_the_same(
    oscillator_fmu: Path, expected: list[list[float]], llvmlite: str
) -> None:
    switch = WITHOUT_MACHINE_CODE if llvmlite == "switched off" else {}
    rows, loaded, messages = run_script(
        SHOW_LLVMLITE, oscillator_fmu, references(oscillator_fmu), llvmlite, **switch
    )
    assert not loaded and messages == []
    assert rows == expected


@pytest.mark.thorough
def test_the_folder_of_the_first_fmu_may_be_removed(strange_fmu: Path) -> None:
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
    is_second_started, later, messages = run_script(script, strange_fmu, **WITHOUT_MACHINE_CODE)
    assert is_second_started and later and messages == []


@pytest.mark.thorough
def test_a_process_with_an_fmu_ends_with_status_0(oscillator_fmu: Path) -> None:
    """The original library of pythonfmu releases an object twice at the end of the process."""
    script = """
    fmu, _ = start(sys.argv[1], messages)
    fmu.freeInstance()
    print(json.dumps(len(messages)))
    """.replace("\n    ", "\n")
    for switch in ({}, WITHOUT_MACHINE_CODE):
        assert run_script(script, oscillator_fmu, **switch) == 0


def test_two_fmus_in_one_process(oscillator_fmu: Path, tmp_path: Path, expected: list[list[float]]) -> None:
    with (
        running(oscillator_fmu) as oscillator_instance,
        running(export(ball(), tmp_path / "ball.fmu")) as ball_instance,
    ):
        oscillator_instance.start()
        ball_instance.start()
        rows = []
        for i in range(20):
            oscillator_instance.slave.doStep(i * 0.01, 0.01)
            ball_instance.slave.doStep(i * 0.01, 0.01)
            rows.append(oscillator_instance.all())
        assert rows == expected
        assert ball_instance["ball.height"] == pytest.approx(1.0 - 9.81 / 2 * 0.2**2, abs=1e-6)


SOURCE_MODULE = '''
import cosim

class Source(cosim.Component):
    """A constant."""
    value = cosim.output(unit="1")
    level = cosim.parameter(unit="1", default=1.0)
    @cosim.kernel
    def give(level, value):
        value[0] = FACTOR * level
'''
EXPORT_SOURCES = """
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
def test_a_second_fmu_with_another_module_of_the_same_name_is_refused(tmp_path: Path) -> None:
    """Otherwise it would run the code of the first one."""
    folders = [tmp_path / "3.0", tmp_path / "5.0"]
    for folder in folders:
        folder.mkdir()
        (folder / "acme_parts.py").write_text(SOURCE_MODULE.replace("FACTOR", folder.name))
    run_script(EXPORT_SOURCES, *folders, **WITHOUT_MACHINE_CODE)
    script = """
    values = []
    for path in sys.argv[1:]:
        fmu, _ = start(path, messages)
        values.append(fmu and fmu.getReal([0])[0])
    print(json.dumps([values, messages]))
    """.replace("\n    ", "\n")
    paths = [tmp_path / "3.0.fmu", tmp_path / "5.0.fmu"]
    values, messages = run_script(script, *paths, **WITHOUT_MACHINE_CODE)
    assert values == [3.0, None]
    assert "this process holds acme_parts" in messages[0]
    assert run_script(script, *reversed(paths), paths[1], **WITHOUT_MACHINE_CODE)[0] == [5.0, None, 5.0]


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
    """.replace("\n    ", "\n")
    refused, messages = run_script(script, oscillator_fmu, tmp_path / "gr\u00f6\u00dfe")
    assert refused and "findClass" in messages[0]


@pytest.mark.thorough
def test_an_export_in_a_process_that_has_run_an_fmu_has_binaries(
    oscillator_fmu: Path, tmp_path: Path
) -> None:
    """In that process, the module pythonfmu is the copy inside the FMU, which has no binaries."""
    script = """
    fmu, _ = start(sys.argv[1], messages)
    carried = sys.modules["pythonfmu"].__file__
    from pathlib import Path
    from export_tools import export, oscillator
    written = export(oscillator(), Path(sys.argv[2]))
    same = carried == sys.modules["pythonfmu"].__file__ and "resources" in carried
    print(json.dumps([same, written.read_bytes() == Path(sys.argv[1]).read_bytes()]))
    """.replace("\n    ", "\n")
    assert run_script(script, oscillator_fmu, tmp_path / "again.fmu") == [True, True]
