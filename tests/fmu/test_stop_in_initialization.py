"""A stop that is asked for in initialization has one outcome: the run ends at its start, with one row."""

import functools
from typing import Any

import pytest
from native_tools import needs_compiler
from stopping_parts import Stopper
from test_streaming import Pieces

import cosim
from cosim_fmu import CoSimulation, TimedInputs

FORMS = {
    "system": {},
    "Python": {"exporter": "fmu.pythonfmu"},
    "native": {"exporter": "fmu.native"},
    "native, FMI 3.0": {"exporter": "fmu.native", "fmi": "3.0"},
    "native, Model Exchange": {"exporter": "fmu.native", "kind": "me"},
}


def stopper(stop_at: float) -> cosim.Model:
    model = cosim.Model("stopper")
    model.add(Stopper, "s", stop_at=stop_at)
    return model


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Each form, exported once."""
    folder = tmp_path_factory.mktemp("stopper")

    @functools.cache
    def form(name: str) -> Any:
        if name == "system":
            return stopper(0.0)
        shown = {"outputs": ["s.x", "s.count"], "parameters": ["s.stop_at"]}
        return stopper(0.0).export_fmu(folder / f"{name}.fmu", **shown, **FORMS[name])

    return form


def run(form: Any, algorithm: str = "jacobi", others: Any = (), stop_at: float = 0.0, **options: Any) -> Any:
    parts, starts = {**dict(others), "m": form}, {"m.s.stop_at": stop_at}
    loop = CoSimulation(parts, [], algorithm, 0.1, starts=starts)
    return loop.simulate(0.5, record=["m.s.x", "m.s.count"], **options)


@pytest.mark.few(2)
@needs_compiler
@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("algorithm", ["jacobi", "adaptive"])
@pytest.mark.parametrize("others", [(), (("drive", TimedInputs({"u": [[0.0, 1.0]]})),)], ids=["alone", "two"])
def test_it_ends_at_its_start(forms: Any, name: str, others: Any, algorithm: str) -> None:
    result = run(forms(name), algorithm, others)
    assert result.message.startswith("m asked to stop at 0 s: ")
    assert (result.time.tolist(), result["m.s.x"].tolist()) == ([0.0], [1.0])
    assert result.statistics["steps"] == 0
    # its host decides when a Model Exchange FMU is terminated; all others have been
    assert result["m.s.count"].tolist() == [1.0 if "Exchange" in name else 101.0]
    assert [(e.time, e.cause) for e in result.events if e.handler == "m"] == [
        (0.0, cosim.EventCause.TERMINATION)
    ]


def test_a_simulation_ends_there_too() -> None:
    result = stopper(0.0).simulate(until=0.5, output_interval=0.1)
    assert result.message == "a handler asked to stop at t = 0 s, s.begin"
    assert (result.time.tolist(), result["s.count"].tolist()) == ([0.0], [101.0])


@needs_compiler
@pytest.mark.parametrize("name", FORMS)
def test_observers_and_streams_see_the_first_row_alone(forms: Any, name: str) -> None:
    seen: list[float] = []
    run(forms(name), observe=lambda time, values: seen.append(time))
    assert seen in ([], [0.0])
    stream = Pieces()
    run(forms(name), "gauss_seidel", stream=stream)
    assert stream.table().tolist() == [[0.0, 1.0, 1.0 if "Exchange" in name else 101.0]]


@pytest.mark.by_turns
@needs_compiler
@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("stop_at", [0.05, 0.2, 0.25])
def test_a_later_stop_is_shown(forms: Any, name: str, stop_at: float) -> None:
    """Inside the first step, at a communication point, and between two: the last row is that of the stop."""
    result = run(forms(name), stop_at=stop_at)
    assert "asked to stop" in result.message
    assert result["m.s.count"][-1] in (11.0, 111.0)
    assert result["m.s.x"][-1] == pytest.approx(2.718281828459045**-stop_at, rel=1e-5)
    assert stop_at - 1e-9 <= result.time[-1] <= stop_at + 0.1 + 1e-9
