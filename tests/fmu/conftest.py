"""Small FMUs, compiled from the C sources beside this file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from xml.etree.ElementTree import Element, tostring

import pytest
from c_programs import SOURCES, build, c_compiler
from faults_fmu import Cosimulate, command, make_faulty
from fmu_of_oscillator import expected_rows as expected_rows  # these three are fixtures
from fmu_of_oscillator import fmu_of_other_version as fmu_of_other_version
from fmu_of_oscillator import oscillator_fmu as oscillator_fmu
from forked_commands import ForkedCommands
from odd_fmu import make_odd
from same_as_fmpy import facts, facts_of_fmpy, read_by_fmpy
from serving import Server
from small_fmus import write_fmu

from cosim_fmi.description import read_interface
from cosim_fmi.description.model_description import ModelDescription
from cosim_fmi.description.read_model_description import read_model_description


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Compile ``c/<kind>.c`` with the given macros defined; each variant once in a run."""
    c_compiler()
    folder = tmp_path_factory.mktemp("libraries")

    def compile_library(kind: str, *macros: str) -> Path:
        library = folder / ("_".join([kind, *macros]) + ".so")
        if not library.exists():
            flags = ["-O2", "-std=c99", "-Wall", "-fPIC", "-shared", "-ffp-contract=off", "-lm"]
            build(library, [*flags, *(f"-D{macro}" for macro in macros)], [SOURCES / f"{kind}.c"])
        return library

    return compile_library


@pytest.fixture
def make_fmu(tmp_path: Path, compiled: Callable[..., Path]) -> Callable[..., Path]:
    """Make an FMU of a C source: ``make_fmu("gain", name="loud", macros=("ONLY_NEEDED",))``."""

    def make(kind: str, *, name: str = "", macros: tuple[str, ...] = (), **description: object) -> Path:
        return write_fmu(tmp_path / f"{name or kind}.fmu", kind, compiled(kind, *macros), **description)

    return make


@pytest.fixture
def make_odd_fmu(tmp_path: Path, compiled: Callable[..., Path]) -> Callable[..., Path]:
    """Make an FMU with any model description: ``make_odd_fmu("gain", "<ScalarVariable …")``."""
    return partial(make_odd, tmp_path, compiled)


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of participants for all tests of a file."""
    server = Server(tmp_path_factory.mktemp("served"))
    yield server
    server.close()


@pytest.fixture
def server(shared_server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """The shared server; the environment of the test has its token."""
    monkeypatch.setenv("COSIM_TOKEN_FILE", str(shared_server.token))
    return shared_server


@pytest.fixture(scope="module")
def commands(
    compiled: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ForkedCommands]:
    """A process that runs commands in forks; it has compiled what runs with ``c/faults.c`` need."""
    commands, folder = ForkedCommands(), tmp_path_factory.mktemp("first")
    without_fault = command(folder, make_faulty(folder, compiled, "NOWHERE", ""))
    assert commands.run(folder, without_fault, forks=False).returncode == 0
    yield commands
    commands.close()


@pytest.fixture(scope="module")
def cosimulate(commands: ForkedCommands) -> Cosimulate:
    """A function that runs a scenario with ``c/faults.c`` to its end."""
    return lambda folder, *arguments, **options: commands.run(folder, command(folder, *arguments, **options))


@pytest.fixture(scope="session", autouse=True)
def same_as_fmpy() -> Iterator[None]:
    """Compare each model description that a test reads with that of fmpy, if fmpy can read it."""
    compared: set[bytes] = set()

    def compare(root: Element) -> ModelDescription:
        description, key = read_model_description(root), hashlib.sha256(tostring(root)).digest()
        if key not in compared:
            compared.add(key)
            description_of_fmpy = read_by_fmpy(root)
            assert description_of_fmpy is None or facts(description) == facts_of_fmpy(description_of_fmpy)
        return description

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(read_interface, "read_model_description", compare)
        yield
