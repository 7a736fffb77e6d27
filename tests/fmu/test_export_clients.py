"""Exported FMUs in co-simulation tools that others made, each in an environment of its own.

The environments are those of the benchmarks (``COSIM_PEERS``, else they are made, which takes a while and a
package index). They lack our packages, and mostly NumPy and llvmlite, so this also shows what an FMU carries.
"""

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pluggy
import pytest
from export_tools import export, oscillator
from fmpy import read_model_description
from native_tools import export_native, needs_compiler

import cosim

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
NAMES = ("osc.position", "felt", "osc.acceleration")
FORCE, STEPS, H = 1.5, 40, 0.01
CLIENTS = {  # environment, script, step, whether variables are numbers there, packages that it lacks
    "libcosim": ("libcosimpy", "client_libcosim.py", "10000000", True, (np, pluggy)),
    "ecos": ("ecospy", "client_ecos.py", "0.01", False, (np, pluggy)),
    "CoFMUPy": ("cofmupy", "client_cofmupy.py", "0.01", False, (pluggy,)),
}


def peers() -> ModuleType:
    spec = importlib.util.spec_from_file_location("peers_of_benchmarks", BENCHMARKS / "peers.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def packages(folder: Path, modules: tuple[ModuleType, ...]) -> Path:
    """A folder that shows some of our packages to another Python of the same version."""
    folder.mkdir()
    for module in modules:
        source = Path(str(module.__file__)).parent
        (folder / source.name).symlink_to(source)
        libraries = source.with_name(f"{source.name}.libs")
        if libraries.is_dir():
            (folder / libraries.name).symlink_to(libraries)
    return folder


@pytest.mark.thorough
@pytest.mark.parametrize(
    "native", [pytest.param(True, marks=needs_compiler), False], ids=["native", "python"]
)
@pytest.mark.parametrize("client", CLIENTS)
def test_the_same_numbers_in(client: str, native: bool, tmp_path: Path) -> None:
    environment, script, size, by_reference, lacks = CLIENTS[client]
    path = (export_native if native else export)(oscillator(), tmp_path / "oscillator.fmu")
    lacks = () if native else lacks
    references = {v.name: str(v.valueReference) for v in read_model_description(str(path)).modelVariables}
    words = [references[n] if by_reference else n for n in ("osc.force", *NAMES)]
    arguments = [path, packages(tmp_path / "packages", lacks), STEPS, size, words[0], FORCE, *words[1:]]
    tools = peers()
    try:
        found = tools.run_peer(environment, f"fmu/{script}", [str(word) for word in arguments])
    except tools.PeerError as error:
        if "install" in str(error):
            pytest.skip(f"{client} cannot be installed here: {error}")
        raise
    system = oscillator().build()
    state = system.default_state()
    state["osc.force"] = FORCE
    simulator = cosim.Simulator(system, state, accuracy=1e-6)
    simulator.initialize()
    for i, row in enumerate(found["rows"]):
        simulator.advance_to(i * H + H, within=1e-9 * H)
        simulator.state.realize(cosim.Stage.REPORT)
        np.testing.assert_allclose(row, [simulator.state[n] for n in NAMES], rtol=1e-9, err_msg=f"step {i}")
    assert len(found["rows"]) == STEPS
