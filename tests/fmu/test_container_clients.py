"""FMUs of scenarios run in other tools, and in a Python without cosim, with the bits of the co-simulation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import fmpy
import pytest
from benchmark_peers import CLIENTS, peers
from fmu_script import run_script
from native_tools import needs_compiler
from scenario_files import write_loop
from scenario_fmus import MASTERS, SCENARIOS, MakeFmu, exported

from cosim_fmu import CoSimulation

STEPS = 20
RUN_WITH_CARRIED_PACKAGES = """
from importlib.machinery import PathFinder
class Carried:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("cosim") and "." not in name and not name.startswith("cosim_slave"):
            spec = PathFinder.find_spec(name, [p for p in sys.path if "resources" in p])
            if spec is None:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            return spec
        return None
sys.meta_path.insert(0, Carried())
fmu, folder = start(sys.argv[1], messages)
assert fmu is not None, messages
fmu.doStep(0.0, 600.0)
import cosim
print(json.dumps([fmu.getReal([int(sys.argv[2])]), str(folder) in cosim.__file__]))
"""


@pytest.mark.thorough
@pytest.mark.parametrize("client", ["libcosim", "ecos"])
@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, "--python") for name in SCENARIOS]
    + [pytest.param(name, "--native", marks=needs_compiler) for name in MASTERS],
)
def test_other_tools_compute_the_same_bits(
    client: str, name: str, kind: str, tmp_path: Path, make_fmu: MakeFmu, compiled: Callable[..., Path]
) -> None:
    """The tools set one parameter, to the value that it has."""
    path = SCENARIOS[name](tmp_path, make_fmu, compiled)
    loop = CoSimulation.from_file(path)
    fmu = exported(path, kind=kind)
    reals = [v for v in fmpy.read_model_description(str(fmu)).modelVariables if v.type == "Real"]
    parameter = next(v for v in reals if v.causality in ("parameter", "input") and v.start is not None)
    outputs = [v for v in reals if v.causality == "output" and not v.name.startswith("coupling.")]
    environment, script, _, by_reference, _ = CLIENTS[client]
    step = round(loop.step * 10**9) if client == "libcosim" else loop.step
    reference_of_parameter, *references_of_outputs = (
        v.valueReference if by_reference else v.name for v in (parameter, *outputs)
    )
    site_packages = Path(fmpy.__file__).parents[1]  # packages that the environments of the tools lack
    arguments = [fmu, site_packages, STEPS, step, reference_of_parameter, parameter.start]
    arguments += references_of_outputs
    tools = peers()
    try:
        answer = tools.run_peer(environment, f"fmu/{script}", [str(word) for word in arguments])
    except tools.PeerError as error:
        if "install" in str(error) or "libtbb" in str(error):
            pytest.skip(f"{client} cannot be installed here (ecos needs Debian's libtbb12): {error}")
        raise
    result = loop.simulate((STEPS + 1) * loop.step)
    places = {round(time, 9): i for i, time in enumerate(result.time)}
    rows = [places[round((i + 1) * loop.step, 9)] for i in range(STEPS)]
    assert answer["rows"] == [[result[v.name][i] for v in outputs] for i in rows]


@pytest.mark.thorough
def test_a_container_runs_with_the_packages_inside_it(tmp_path: Path) -> None:
    """They are packed as those of a model, which `test_export_packages` tests also in a short run."""
    path = write_loop(tmp_path)
    fmu = exported(path)
    variables = fmpy.read_model_description(str(fmu)).modelVariables
    reference = next(v.valueReference for v in variables if v.name == "room.temperature")
    values, is_carried = run_script(RUN_WITH_CARRIED_PACKAGES, fmu, reference)
    result = CoSimulation.from_file(path).simulate()
    assert values == [result["room.temperature"][60]] and is_carried
