"""Exported FMUs share a process with one another and with the exporter, and end it with status 0."""

from pathlib import Path

import pytest
from export_tools import ball, export, running
from fmu_of_oscillator import (
    WITHOUT_MACHINE_CODE,
)
from fmu_script import run_script


@pytest.mark.thorough
def test_the_first_fmu_may_be_removed_and_modules_can_still_be_imported(fmu_of_other_version: Path) -> None:
    script = """
    import importlib, pathlib, shutil
    first, folder = start(sys.argv[1], messages)
    first.terminate(); first.freeInstance(); shutil.rmtree(folder)
    second, folder = start(sys.argv[1], messages)
    names = sorted(p.stem for p in pathlib.Path(folder, "resources", "cosim").glob("*.py"))
    module_name = next(n for n in names if f"cosim.{n}" not in sys.modules and not n.startswith("_"))
    importlib.import_module(f"cosim.{module_name}")
    print(json.dumps([second is not None, module_name, messages]))
    """
    is_second_started, module_name, messages = run_script(
        script, fmu_of_other_version, **WITHOUT_MACHINE_CODE
    )
    assert is_second_started and module_name and messages == []


@pytest.mark.thorough
def test_a_process_with_an_fmu_ends_with_status_0(oscillator_fmu: Path) -> None:
    """The original library of pythonfmu releases an object twice at the end of the process."""
    script = """
    fmu, _ = start(sys.argv[1], messages)
    fmu.freeInstance()
    print(json.dumps(len(messages)))
    """
    # `run_script` checks the status; the script prints the number of messages
    for switch in ({}, WITHOUT_MACHINE_CODE):
        assert run_script(script, oscillator_fmu, **switch) == 0


def test_two_fmus_in_one_process(
    oscillator_fmu: Path, tmp_path: Path, expected_rows: list[list[float]]
) -> None:
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
        assert rows == expected_rows
        assert ball_instance["ball.height"] == pytest.approx(1.0 - 9.81 / 2 * 0.2**2, abs=1e-6)


SOURCE_MODULE = '''
import cosim

class Source(cosim.Component):
    """A constant."""
    value = cosim.output(unit="1")
    level = cosim.parameter(unit="1", default=1.0)
    @cosim.kernel
    def law(level, value):
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
    folders = [tmp_path / "three", tmp_path / "five"]
    for folder, factor in zip(folders, ("3.0", "5.0"), strict=True):
        folder.mkdir()
        (folder / "acme_parts.py").write_text(SOURCE_MODULE.replace("FACTOR", factor))
    run_script(EXPORT_SOURCES, *folders, **WITHOUT_MACHINE_CODE)
    script = """
    values = []
    for path in sys.argv[1:]:
        fmu, _ = start(path, messages)
        values.append(fmu and fmu.getReal([0])[0])
    print(json.dumps([values, messages]))
    """
    paths = [tmp_path / "three.fmu", tmp_path / "five.fmu"]
    values, messages = run_script(script, *paths, **WITHOUT_MACHINE_CODE)
    assert values == [3.0, None]
    assert "this process holds acme_parts" in messages[0]
    # also in the other order; an FMU that runs may be started again
    assert run_script(script, *reversed(paths), paths[1], **WITHOUT_MACHINE_CODE)[0] == [5.0, None, 5.0]


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
    """
    assert run_script(script, oscillator_fmu, tmp_path / "again.fmu") == [True, True]
