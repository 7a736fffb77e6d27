"""Other co-simulation tools compute the numbers of a simulator with exported FMUs.

Their environments lack the packages of cosim, and mostly NumPy and llvmlite, which an FMU has to bring along.
"""

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from benchmark_peers import CLIENTS, peers
from export_tools import export, oscillator
from fmpy import read_model_description
from native_tools import export_native, needs_compiler

import cosim

NAMES = ("osc.position", "felt", "osc.acceleration")
FORCE, STEPS, H = 1.5, 40, 0.01


def packages(folder: Path, modules: tuple[ModuleType, ...]) -> Path:
    """A folder with links to some installed packages, for another Python of the same version."""
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
def test_other_tools_compute_the_same_numbers(client: str, native: bool, tmp_path: Path) -> None:
    environment, script, size, by_reference, missing = CLIENTS[client]
    path = (export_native if native else export)(oscillator(), tmp_path / "oscillator.fmu")
    missing = () if native else missing
    references = {v.name: str(v.valueReference) for v in read_model_description(str(path)).modelVariables}
    force, *outputs = [references[n] if by_reference else n for n in ("osc.force", *NAMES)]
    arguments = [path, packages(tmp_path / "packages", missing), STEPS, size, force, FORCE, *outputs]
    tools = peers()
    try:
        answer = tools.run_peer(environment, f"fmu/{script}", [str(argument) for argument in arguments])
    except tools.PeerError as error:
        if "install" in str(error):
            pytest.skip(f"{client} cannot be installed here: {error}")
        raise
    system = oscillator().build()
    state = system.default_state()
    state["osc.force"] = FORCE
    simulator = cosim.Simulator(system, state, accuracy=1e-6)
    simulator.initialize()
    for i, row in enumerate(answer["rows"]):
        simulator.advance_to(i * H + H, within=1e-9 * H)
        simulator.state.realize(cosim.Stage.REPORT)
        np.testing.assert_allclose(row, [simulator.state[n] for n in NAMES], rtol=1e-9, err_msg=f"step {i}")
    assert len(answer["rows"]) == STEPS
