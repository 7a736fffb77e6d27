"""Samples of a coupling: however they arrive and are thinned, their integrals are exact."""

import numpy as np
import pytest

from cosim_master.recording.collect_samples import SINGLE, Collected
from cosim_master.recording.coupling_samples import CouplingSamples, SampledInput


@pytest.mark.parametrize("most_numbers", [1 << 17, 4096], ids=["all samples", "thinned"])
def test_inputs_that_jump_with_their_outputs_have_no_defects(
    most_numbers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cosim_master.recording.coupling_samples.MOST_NUMBERS", most_numbers)
    samples = CouplingSamples([SampledInput("b", 0, 0, 1.0, 0.0, "a.y → b.u")], 1, jumping=[0])
    samples.start(0.0, [0.0])
    times = np.linspace(0.0, 1.0, 9001)
    steps = np.floor(7.3 * times)[:, None]
    for part in np.array_split(np.arange(9000), 9):
        samples.extend(times[part + 1], steps[part + 1], steps[part])
    assert samples.samples().defects == pytest.approx(0.0, abs=1e-12)


def test_samples_added_one_by_one_and_in_pieces_are_the_same() -> None:
    inputs = [SampledInput("b", 0, 0, 2.0, 1.0, "a.y → b.u"), SampledInput("a", 0, 1, 1.0, 0.0, "b.y → a.u")]
    times = np.linspace(0.0, 5.0, 4001)
    outputs = np.array([np.sin(times), np.cos(times)]).T
    held = np.array([2.0 * outputs[:-1, 0] + 1.0, outputs[:-1, 1]]).T
    single, pieces = CouplingSamples(inputs, 2), CouplingSamples(inputs, 2)
    for samples in (single, pieces):
        samples.start(0.0, outputs[0].tolist())
    for k in range(4000):
        single.extend(times[k + 1 : k + 2], outputs[k + 1 : k + 2], held[k : k + 1], np.zeros((1, 2)))
    for part in np.array_split(np.arange(4000), 7):
        pieces.extend(times[part + 1], outputs[part + 1], held[part])
    for array, expected in zip(single.samples(), pieces.samples(), strict=True):
        assert array.tobytes() == expected.tobytes()
    # held inputs are half a step h late: the integral of the defect is h/2 times the change of the output
    defects = single.samples().defects[-1]
    assert defects[0] == pytest.approx(-0.5 * times[1] * (outputs[-1, 0] - outputs[0, 0]), rel=2e-3)


def test_thinned_samples_keep_the_integrals(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = [SampledInput("b", 0, 0, 1.0, 0.0, "a.y → b.u")]
    times = np.linspace(0.0, 1.0, 9001)
    results = []
    for most_numbers in (1 << 20, 4096):
        monkeypatch.setattr("cosim_master.recording.coupling_samples.MOST_NUMBERS", most_numbers)
        samples = CouplingSamples(inputs, 1)
        samples.start(0.0, [0.0])
        for part in np.array_split(np.arange(9000), 20):
            samples.extend(times[part + 1], np.sin(times[part + 1, None]), np.sin(times[part, None]))
        results.append(samples.samples())
    whole, thinned = results
    assert thinned.times.size < 0.5 * whole.times.size
    assert (thinned.times[0], thinned.times[-1]) == (0.0, 1.0)
    places = np.searchsorted(whole.times, thinned.times)
    assert thinned.defects == pytest.approx(whole.defects[places], abs=1e-14)
    assert thinned.inputs == pytest.approx(whole.inputs[places], abs=1e-12)
    assert thinned.outputs.tolist() == whole.outputs[places].tolist()


def test_the_kept_samples_do_not_depend_on_the_pieces_in_which_they_arrive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("cosim_master.recording.coupling_samples.MOST_NUMBERS", 4096)
    inputs = [SampledInput("b", 0, 0, 1.0, 0.0, "a.y → b.u")]
    times = np.append(np.linspace(0.0, 1.0, 9001), 1.00005)  # the last step is shorter
    results = []
    for pieces in (1, 7, 300):
        samples = CouplingSamples(inputs, 1)
        samples.start(0.0, [0.0])
        for part in np.array_split(np.arange(9001), pieces):
            samples.extend(times[part + 1], np.sin(times[part + 1, None]), np.sin(times[part, None]))
        results.append(samples.samples())
    for result in results[1:]:
        for array, expected in zip(result, results[0], strict=True):
            assert array.tobytes() == expected.tobytes()


@pytest.mark.parametrize("slopes", [None, 0.3], ids=["held", "lines"])
@pytest.mark.parametrize("group", [1, 3])
def test_thinned_samples_are_evenly_spaced(
    slopes: float | None, group: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each halving drops every other sample, but for the first ones; the last interval may be shorter."""
    monkeypatch.setattr("cosim_master.recording.coupling_samples.MOST_NUMBERS", 4096)
    inputs = [SampledInput("b", 0, 0, 1.0, 0.0, "a.y → b.u")]
    samples = CouplingSamples(inputs, 1, group)
    samples.start(0.0, [0.0])
    times = np.arange(1.0, 300_001.0)[:, None]
    input_slopes = None if slopes is None else np.full_like(times, slopes)
    samples.extend(times.ravel(), np.sin(1e-4 * times), np.cos(1e-4 * times), input_slopes)
    sample_times = samples.samples().times
    assert samples.is_thinned
    assert sample_times[: SINGLE + 1].tolist() == [group * k for k in range(SINGLE + 1)]
    gaps = np.diff(sample_times[SINGLE + 1 :])
    assert np.unique(gaps[:-1]).size == 1
    assert gaps[-1] <= gaps[0]
    assert sample_times[SINGLE + 1] == gaps[0]  # they are multiples of the gap


def test_reading_samples_during_a_run_does_not_change_them() -> None:
    """An observer and a checkpoint read them."""
    inputs = [SampledInput("b", 0, 0, 1.0, 0.0, "a.y → b.u")]
    read, unread = CouplingSamples(inputs, 1, 4), CouplingSamples(inputs, 1, 4)
    for samples in (read, unread):
        samples.start(0.0, [0.0])
        for k in range(1, 11):
            samples.extend(np.array([0.1 * k]), np.array([[k * k]]), np.array([[k]]))
            if samples is read:
                assert samples.samples().times[-1] == 0.1 * k
    for array, expected in zip(read.samples(), unread.samples(), strict=True):
        assert array.tobytes() == expected.tobytes()


def test_saved_samples_without_all_counts_are_refused() -> None:
    """As an earlier version has saved them."""
    samples = CouplingSamples([SampledInput("b", 0, 0, 1.0, 0.0, "a.y → b.u")], 1)
    samples.start(0.0, [0.0])
    memory = samples.memory()
    collected = list(memory["collected"])
    place = Collected._fields.index("counts")
    collected[place] = collected[place][:-1]
    samples.put_back(memory)
    with pytest.raises(ValueError, match="damaged"):
        samples.put_back({**memory, "collected": tuple(collected)})
