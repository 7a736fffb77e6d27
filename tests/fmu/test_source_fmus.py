"""FMUs of C99 sources, compiled without Python, give the bits of the run in this process."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_programs import SOURCES, c_compiler
from compiled_sources import CLEAN, compile_sources, export_sources, run_alone, unpack_sources
from driven import Driven, in_fmu, in_process, same
from export_parts import Ball
from export_tools import limited, running
from export_tools import oscillator as oscillator_with_delay
from fmpy import read_model_description
from native_random import driven_model
from native_tools import export_native, needs_compiler, oscillator

import cosim
from cosim.cli import main
from cosim_export.native.native_exporter import NativeFmuExporter

pytestmark = [
    needs_compiler,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the libraries are Linux's"),
]
EXAMPLES = Path(__file__).parents[2] / "examples"
MODELS = (
    *("cruise_control/car", "chatter/chatter", "dc_motor/dc_motor", "quarter_car/quarter_car"),
    *("four_bar/four_bar", "slider_crank/slider_crank", "thrown_crate/thrown_crate"),
)
WITH_CONSTRAINTS = 3
"""The seed of a random model that takes long to compile with optimization."""
QUICK = ("-std=c99", "-O0")
ALLOCATING_FUNCTIONS = ("malloc", "calloc", "realloc")


def check_bits(driven: Driven, folder: Path, *flags: str) -> None:
    """Compare the FMU of sources with the run in this process, after each step."""
    settings = {**driven.settings, "expose": ["*"], "kind": "cs"}
    fmu = compile_sources(export_sources(driven.model, folder / "sources.fmu", **settings), *flags)
    with running(fmu) as instance:
        names = list(instance.references)
        expected = in_process(driven, names)
        rows = in_fmu(instance, driven, names)
        assert len(rows) == len(expected) > 0, instance.messages
        for i, (row, expected_row) in enumerate(zip(rows, expected, strict=True)):
            differences = {
                n: (a, b) for n, a, b in zip(names, row, expected_row, strict=True) if not same(a, b)
            }
            assert not differences, (driven.seed, i, differences)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(40))
def test_random_models(seed: int, tmp_path: Path) -> None:
    check_bits(driven_model(seed), tmp_path, *(QUICK if seed == WITH_CONSTRAINTS else ()))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.thorough
@pytest.mark.parametrize("version", [2, 3])
def test_examples_give_the_bits_of_the_library(name: str, version: int, tmp_path: Path) -> None:
    from fmpy import simulate_fmu

    model = cosim.Model.from_file(EXAMPLES / f"{name}.toml")
    library = export_native(model, tmp_path / "library.fmu", fmi=version, all=False)
    sources = compile_sources(export_sources(model, tmp_path / "sources.fmu", fmi=version, all=False))
    for kind in ("CoSimulation", "ModelExchange"):
        results = [
            simulate_fmu(fmu, fmi_type=kind, stop_time=0.5, output_interval=0.02)
            for fmu in (library, sources)
        ]
        assert results[0].tobytes() == results[1].tobytes(), kind


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[Path, list[Path]]]:
    """Sources of one model, which several tests share: to write them takes long."""

    @functools.cache
    def sources(version: int, **options: Any) -> tuple[Path, list[Path]]:
        path = tmp_path_factory.mktemp("limited") / "limited.fmu"
        return unpack_sources(export_sources(limited(), path, fmi=version, **options))

    return sources


@pytest.fixture(scope="module")
def car(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """An FMU of sources from the command, and the output of the command."""
    target = tmp_path_factory.mktemp("car") / "car.fmu"
    command = ["export", str(EXAMPLES / "cruise_control/car.toml"), "--sources", "--fmi", "3"]
    with redirect_stdout(StringIO()) as output:
        assert main([*command, "-o", str(target)]) == 0
    return target, output.getvalue()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("version", "options"),
    [
        (3, {}),
        (2, {}),
        (2, {"integrator": "integrators.radau5"}),
    ],
    ids=str,
)
def test_sources_compile_without_warnings(
    version: int, options: dict[str, Any], exported: Callable[..., tuple[Path, list[Path]]], tmp_path: Path
) -> None:
    """The sources of an implicit method also call tangents."""
    sources, files = exported(version, **options)
    for file in files:
        run_alone([c_compiler(), *CLEAN, "-c", "-o", str(tmp_path / "object.o"), str(file)], sources)


@pytest.mark.thorough
@pytest.mark.parametrize("version", [2, 3])
def test_sources_stay_short_enough_to_read(version: int, tmp_path: Path) -> None:
    mount = cosim.Model.from_file(Path(__file__).parents[2] / "examples/engine_mount/engine_mount.toml")
    mount.export_fmu(tmp_path / "mount.fmu", sources=True, fmi=version)
    sources, _ = unpack_sources(tmp_path / "mount.fmu")
    assert sum(len(path.read_text("utf-8").splitlines()) for path in sources.glob("*.[ch]")) < 10_000


@pytest.mark.thorough
def test_rows_have_their_indices_as_constants(exported: Callable[..., tuple[Path, list[Path]]]) -> None:
    sources, _ = exported(3)
    assert re.search(r"p\.at\[\d+\]", (sources / "code.c").read_text("utf-8"))


def test_functions_name_their_origin_but_no_folder_of_this_machine(car: tuple[Path, str]) -> None:
    sources, _ = unpack_sources(car[0])
    code = (sources / "code.c").read_text("utf-8")
    assert "/* cosim/step/advance.py:" in code
    assert "/* adapter of " in code
    assert not re.search(r"/\* adapter of .* \d+ \*/", code)  # no number of this process
    texts = [path.read_text("utf-8") for path in sources.iterdir()]
    folders = (str(Path(cosim.__file__).parents[1]), str(sources.parents[1]))
    assert not any(folder in text for folder in folders for text in texts)
    assert "fopen" not in "".join(texts)
    included = {name for text in texts for name in re.findall(r'#include "(.*)"', text)}
    assert included == {path.name for path in sources.glob("*.h")}


@pytest.mark.thorough
def test_the_sources_of_two_fmus_are_linked_into_one_program(tmp_path: Path) -> None:
    """Global symbols start with the name of the model, or are weak functions of FMI."""
    main, objects = tmp_path / "main.c", []
    for model in (oscillator(), limited()):
        sources, files = unpack_sources(export_sources(model, tmp_path / f"{model.name}.fmu"))
        for file in files:
            objects.append(tmp_path / f"{model.name}_{file.stem}.o")
            run_alone([c_compiler(), "-std=c99", "-O1", "-c", "-o", str(objects[-1]), str(file)], sources)
            symbols = run_alone(
                ["nm", "-g", "--defined-only", str(objects[-1])], tmp_path
            ).stdout.splitlines()
            for _, kind, symbol in map(str.split, symbols):
                is_weak = kind == "W" and symbol.startswith("fmi2")
                assert is_weak or symbol.startswith(f"{model.name}_"), symbol
    main.write_text(
        "#include <stdio.h>\n"
        "const char *oscillator_fmi2GetVersion(void), *limited_fmi2GetVersion(void);\n"
        "int main(void) {\n"
        '    printf("%s %s", oscillator_fmi2GetVersion(), limited_fmi2GetVersion());\n    return 0;\n}\n'
    )
    program = tmp_path / "both"
    run_alone([c_compiler(), "-o", str(program), str(main), *map(str, objects), "-lm"], tmp_path)
    assert run_alone([str(program)], tmp_path).stdout == "2.0 2.0"


@pytest.mark.thorough
@pytest.mark.parametrize("version", [2, 3])
def test_no_memory_is_allocated_after_instantiation(version: int, tmp_path: Path) -> None:
    """A host steps, sets values, gets derivatives and resets; an allocation meanwhile is an error."""
    fmu = export_sources(limited(), tmp_path / "limited.fmu", fmi=version)
    sources, files = unpack_sources(fmu)
    token = re.search(r'\.token = "([^"]+)"', (sources / "model.c").read_text("utf-8"))
    assert token is not None
    program = tmp_path / "run"
    wraps = [f"-Wl,--wrap={name}" for name in ALLOCATING_FUNCTIONS]
    command = [c_compiler(), "-std=c99", "-g", "-O1"]
    command += ["-fsanitize=undefined", "-fno-sanitize-recover=all", *wraps]
    driver = SOURCES / f"no_memory{version}.c"
    run_alone([*command, "-I.", "-o", str(program), str(driver), *map(str, files), "-lm"], sources)
    (mass,) = [v.valueReference for v in read_model_description(fmu).modelVariables if v.name == "rod.mass"]
    output = run_alone([str(program), token[1], str(mass)], tmp_path).stdout.split()
    assert output[0] == "done" and int(output[1]) > 0


@pytest.mark.thorough
def test_a_full_history_is_named(tmp_path: Path) -> None:
    from fmpy.fmi1 import FMICallException

    model = oscillator_with_delay()
    with pytest.raises(cosim.ModelError, match="0.*number of values"):
        export_sources(model, tmp_path / "small.fmu", history=0)
    settings = {"integrator": "integrators.heun", "fixed_step": 1e-5}
    fmu = compile_sources(export_sources(model, tmp_path / "small.fmu", history=512, **settings), "-O0")
    (delay,) = model.build().remembering
    with running(fmu) as instance, pytest.raises(FMICallException):
        instance.start()
        instance.slave.doStep(0.0, 10.0)
    assert any(f"the history of {delay} is full, it has " in str(m) for m in instance.messages)


def test_models_that_cannot_be_exported_as_sources_are_refused(tmp_path: Path) -> None:
    model, target = cosim.Model("m"), tmp_path / "m.fmu"
    model.add(Ball, "ball")
    with pytest.raises(cosim.ModelError, match="give_up.*Python method; write"):
        export_sources(model, target)
    with pytest.raises(cosim.ModelError, match="integrators.dormand_prince"):
        export_sources(oscillator(), target, integrator="integrators.scipy_radau")
    with pytest.raises(cosim.ModelError, match="history: applies"):
        NativeFmuExporter().export(model, target, history=100)
    assert not target.exists()


def test_the_command_exports_sources_with_a_build_description(car: tuple[Path, str]) -> None:
    from fmpy.model_description import read_build_description

    target, output = car
    assert "C99 sources" in output
    (configuration,) = read_build_description(str(target))
    assert configuration.sourceFileSets[0].language == "C99"
    assert "code.c" in configuration.sourceFileSets[0].sourceFiles


@pytest.mark.thorough
def test_fmpy_compiles_the_sources(tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("no cmake")
    from fmpy import simulate_fmu

    library = export_native(oscillator(), tmp_path / "library.fmu")
    fmu = export_sources(oscillator(), tmp_path / "sources.fmu")
    subprocess.run([sys.executable, "-m", "fmpy.cli", "compile", str(fmu)], check=True, capture_output=True)
    results = [simulate_fmu(path, fmi_type="CoSimulation", stop_time=1.0) for path in (library, fmu)]
    assert np.array_equal(*(r.view(np.uint64) for r in results))
