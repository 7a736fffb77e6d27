"""FMUs of random systems are valid, compute what the systems compute, and restore states to the bit."""

import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from export_random import models
from export_tools import Fmu, export, running
from how_many import many
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import cosim

STEPS = 12


def points(widths: list[float]) -> list[tuple[float, float]]:
    """Communication steps (time, size), each of which starts exactly where the one before ends."""
    ends = np.cumsum(widths).tolist()
    return [(start, end - start) for start, end in zip([0.0, *ends], ends, strict=False)]


def value(i: int, k: int) -> float:
    """The value of the k-th input in the i-th step; it changes each three steps."""
    return float(np.sin(1.7 * (i // 3) + k))


def drive(fmu: Fmu, free: list[str], steps: list[tuple[float, float]], first: int) -> list[list[Any]]:
    """The values of all variables after each step; `first` is the number of the first one."""
    rows = []
    for i, (time, size) in enumerate(steps, start=first):
        for k, name in enumerate(free):
            fmu[name] = value(i, k)
        fmu.slave.doStep(time, size)
        rows.append([fmu[name] for name in fmu.references])
    return rows


@settings(
    max_examples=many(3),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.generate),
)
@given(models(), st.lists(st.floats(0.003, 0.04), min_size=STEPS, max_size=STEPS), st.integers(1, STEPS - 1))
def test_fmus_of_random_systems(drawn: Any, widths: list[float], saved_at: int) -> None:
    from fmpy.validation import validate_fmu

    model, options, free = drawn
    steps = points(widths)
    folder = Path(tempfile.mkdtemp())
    try:
        path = export(model, folder / "random.fmu", expose=["*"], **options)
        assert validate_fmu(str(path)) == []
        with running(path, folder=folder / "one") as fmu:
            fmu.start()
            before = drive(fmu, free, steps[:saved_at], 0)
            saved = fmu.slave.getFMUState()
            data = fmu.slave.serializeFMUState(saved)
            after = drive(fmu, free, steps[saved_at:], saved_at)
            fmu.slave.setFMUState(saved)
            fmu.slave.freeFMUState(saved)
            np.testing.assert_array_equal(drive(fmu, free, steps[saved_at:], saved_at), after)
            # a finding about the start may be logged
            assert [m for m in fmu.messages if "at the start: it cannot" not in m] == []
        with running(path, folder=folder / "two", name="other") as restored:
            restored.slave.setFMUState(restored.slave.deserializeFMUState(data))
            np.testing.assert_array_equal(drive(restored, free, steps[saved_at:], saved_at), after)
        compare_with_system(model, options, free, steps, list(fmu.references), before + after)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def compare_with_system(
    model: cosim.Model, options: dict[str, Any], free: list[str], steps: list[tuple[float, float]],
    names: list[str], rows: list[list[Any]],
) -> None:  # fmt: skip
    """Compare rows with those of a simulator that holds the inputs over the same steps."""
    simulator = cosim.Simulator(model.build(), **options)
    simulator.initialize()
    present = dict.fromkeys(free, 0.0)
    for i, (time, size) in enumerate(steps):
        for k, name in enumerate(free):
            if present[name] != value(i, k):  # as in the FMU: only a change is a jump
                simulator.state[name] = present[name] = value(i, k)
        simulator.advance_to(time + size, within=1e-9 * size)
        simulator.state.realize(cosim.Stage.REPORT)
        for name, value_of_fmu in zip(names, rows[i], strict=True):
            path = f"{name[4:-1]}_dot" if name.startswith("der(") else name
            np.testing.assert_allclose(
                value_of_fmu, simulator.state[path], rtol=1e-9, atol=1e-12, err_msg=f"{name} in step {i}"
            )
