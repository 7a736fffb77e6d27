"""A run that an event of initialization stops ends at its start with one row, in all forms of the model."""

import functools
import math
from typing import Any

import pytest
from native_tools import needs_compiler
from stopping_parts import Stopper
from stored_pieces import StoredPieces

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
    """A function of the name of a form that returns the model or the FMU; each is exported once."""
    folder = tmp_path_factory.mktemp("stopper")

    @functools.cache
    def export_form(name: str) -> Any:
        if name == "system":
            return stopper(0.0)
        selection = {"outputs": ["s.x", "s.count"], "parameters": ["s.stop_at"]}
        return stopper(0.0).export_fmu(folder / f"{name}.fmu", **selection, **FORMS[name])

    return export_form


def run(form: Any, algorithm: str = "jacobi", others: Any = (), stop_at: float = 0.0, **options: Any) -> Any:
    """A run of the form as the participant m, after the others."""
    loop = CoSimulation({**dict(others), "m": form}, [], algorithm, 0.1, starts={"m.s.stop_at": stop_at})
    return loop.simulate(0.5, record=["m.s.x", "m.s.count"], **options)


@pytest.mark.few(2)
@needs_compiler
@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("algorithm", ["jacobi", "adaptive"])
@pytest.mark.parametrize("others", [(), (("drive", TimedInputs({"u": [[0.0, 1.0]]})),)], ids=["alone", "two"])
def test_a_co_simulation_ends_at_its_start(forms: Any, name: str, others: Any, algorithm: str) -> None:
    result = run(forms(name), algorithm, others)
    assert result.message.startswith("m asked to stop at 0 s: ")
    assert (result.time.tolist(), result["m.s.x"].tolist()) == ([0.0], [1.0])
    assert result.statistics["steps"] == 0
    # the termination adds 100; the host of a Model Exchange FMU terminates it later
    assert result["m.s.count"].tolist() == [1.0 if "Exchange" in name else 101.0]
    causes = [(event.time, event.cause) for event in result.events if event.handler == "m"]
    assert causes == [(0.0, cosim.EventCause.TERMINATION)]


def test_a_simulation_ends_at_its_start() -> None:
    result = stopper(0.0).simulate(until=0.5, output_interval=0.1)
    assert result.message == "a handler asked to stop at t = 0 s, s.begin"
    assert (result.time.tolist(), result["s.count"].tolist()) == ([0.0], [101.0])


@needs_compiler
@pytest.mark.parametrize("name", FORMS)
def test_observers_and_streams_get_the_first_row_only(forms: Any, name: str) -> None:
    observed_times: list[float] = []
    run(forms(name), observe=lambda time, values: observed_times.append(time))
    assert observed_times in ([], [0.0])
    stream = StoredPieces()
    run(forms(name), "gauss_seidel", stream=stream)
    assert stream.table().tolist() == [[0.0, 1.0, 1.0 if "Exchange" in name else 101.0]]


@pytest.mark.by_turns
@needs_compiler
@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("stop_at", [0.05, 0.2, 0.25])
def test_the_last_row_of_a_later_stop(forms: Any, name: str, stop_at: float) -> None:
    """Inside the first step, at a communication point, and between two: x = exp(-t) at the stop."""
    result = run(forms(name), stop_at=stop_at)
    assert "asked to stop" in result.message
    assert result["m.s.count"][-1] in (11.0, 111.0)
    assert result["m.s.x"][-1] == pytest.approx(math.exp(-stop_at), rel=1e-5)
    assert stop_at - 1e-9 <= result.time[-1] <= stop_at + 0.1 + 1e-9
