"""Makes samples of a coupling from the exchanges of a run: a kernel function.

An exchange is a row: its end (s), the outputs at the end, the means of the inputs over it in their own units,
their slopes (per s), and their values when the outputs were read. A sample consists of one exchange, or of a
fixed number of successive ones (`STEPS_OF_ONE`).
"""

from __future__ import annotations

from typing import NamedTuple

from cosim.kit import Integers, Reals, group_reader, integers_at

STEPS_OF_ONE, STEPS, WAITS, SAMPLES, STRIDE, STORED, COUNTS = range(7)
"""`counts`: exchanges in one sample, and in the present one; whether the first sample waits for the second;
samples so far; one of so many samples is stored; the number of stored ones, with the start of the run."""
SINGLE = 4
"""The first samples, which are all stored: algorithms that extrapolate have no past there."""
REACHED, BEGAN, LENGTH, CLOCK = range(4)
"""`clock`, s: the end of the last exchange, the begin of the present sample, the length of the one before."""
SIGNATURE = "iFi>i"


class Collected(NamedTuple):
    """The memory of the sampling: facts of the coupling, the present sample, and all samples so far.

    Attributes
    ----------
    sources : ndarray of int, shape (inputs,)
        The output that feeds each input.
    jumps : ndarray of int, shape (outputs,)
        1 for outputs that are discrete.
    bonds : ndarray of int, shape (2 * bonds,)
        The two inputs of each power bond.
    scales : ndarray, shape (2 * inputs,)
        Factor and offset of each input.
    counts, clock : ndarray
        See above.
    present : ndarray
        The last sample: time, outputs, then the integrals of inputs, defects and energy, the last values of
        inputs, the integrals of their moments.
    rates, bends : ndarray, shape (outputs,)
        First and second derivatives of the outputs in the last sample.
    teeth : ndarray, shape (inputs,)
        Moments of the inputs in the last sample.
    sample : ndarray
        The present sample: outputs, then means, slopes and last values of the inputs.
    first : ndarray
        The first sample, while it waits for the second one, which its second derivatives need.
    kept : ndarray
        Rows as `present`, and room for one more at the end.
    """

    sources: Integers
    jumps: Integers
    bonds: Integers
    scales: Reals
    counts: Integers
    clock: Reals
    present: Reals
    rates: Reals
    bends: Reals
    teeth: Reals
    sample: Reals
    first: Reals
    kept: Reals


_read_collected = group_reader(Collected)
HEAD = 2 * len(Collected._fields)


def collected_at(address):
    """The `Collected` whose head begins at an address."""
    return _read_collected(integers_at(address, HEAD))


def collect_samples(address, rows, ends):
    """Add exchanges; when the run `ends`, complete the last sample. Returns the number of stored samples.

    Parameters
    ----------
    address : int
        The address of the head of a `Collected`.
    rows : ndarray
        One exchange after the other.
    ends : int
        Whether the run ends.
    """
    samples = collected_at(address)
    width = 1 + samples.jumps.shape[0] + 3 * samples.sources.shape[0]
    for i in range(rows.shape[0] // width):
        add_exchange(samples, rows[width * i : width * (i + 1)])
    return finish_samples(samples) if ends != 0 else samples.counts[STORED]


def finish_samples(samples):
    """Complete the last samples at the end of a run. Returns the number of stored samples."""
    counts = samples.counts
    if counts[STEPS] != 0:
        end_sample(samples)
    if counts[WAITS] != 0:
        end_first(samples)
    if not is_stored(counts):
        store(samples)
    return counts[STORED]


def add_exchange(samples, row):
    """Add one exchange to the present sample."""
    n = samples.jumps.shape[0]
    m = samples.sources.shape[0]
    length = row[0] - samples.clock[REACHED]
    middle = row[0] - 0.5 * length - samples.clock[BEGAN]
    samples.clock[REACHED] = row[0]
    for k in range(n):
        samples.sample[k] = row[1 + k]
    for j in range(m):
        mean = (row[1 + n + j] - samples.scales[2 * j + 1]) / samples.scales[2 * j]
        slope = row[1 + n + m + j] / samples.scales[2 * j]
        last_value = row[1 + n + 2 * m + j]
        samples.sample[n + 2 * m + j] = (last_value - samples.scales[2 * j + 1]) / samples.scales[2 * j]
        if samples.counts[STEPS_OF_ONE] == 1:
            samples.sample[n + j] = mean
            samples.sample[n + m + j] = slope
        else:
            samples.sample[n + j] += mean * length
            samples.sample[n + m + j] += mean * length * middle + slope * length * length * length / 12.0
    samples.counts[STEPS] += 1
    if samples.counts[STEPS] == samples.counts[STEPS_OF_ONE]:
        end_sample(samples)


def end_sample(samples):
    """Complete the present sample, and begin the next one."""
    n = samples.jumps.shape[0]
    m = samples.sources.shape[0]
    length = samples.clock[REACHED] - samples.clock[BEGAN]
    if samples.counts[STEPS_OF_ONE] > 1:  # from the sums to the line that fits them
        for j in range(m):
            mean = samples.sample[n + j] / length
            moment = samples.sample[n + m + j] - 0.5 * length * length * mean
            samples.sample[n + j] = mean
            samples.sample[n + m + j] = 12.0 * moment / (length * length * length)
    if samples.counts[SAMPLES] == 0 and samples.counts[WAITS] == 0:
        for k in range(samples.sample.shape[0]):
            samples.first[k] = samples.sample[k]
        samples.counts[WAITS] = 1
    else:
        if samples.counts[WAITS] != 0:
            before = samples.clock[LENGTH]
            for k in range(n):
                rate = rate_of(samples, k, samples.present[1 + k], samples.first[k], before)
                next_rate = rate_of(samples, k, samples.first[k], samples.sample[k], length)
                samples.bends[k] = 2.0 * (next_rate - rate) / (length + before)
            end_first(samples)
        for k in range(n):
            rate = rate_of(samples, k, samples.present[1 + k], samples.sample[k], length)
            samples.bends[k] = 2.0 * (rate - samples.rates[k]) / (length + samples.clock[LENGTH])
            samples.rates[k] = rate
        integrate_sample(samples, samples.sample, length, samples.clock[REACHED])
    samples.counts[STEPS] = 0
    samples.clock[LENGTH] = length
    samples.clock[BEGAN] = samples.clock[REACHED]
    for k in range(samples.sample.shape[0]):
        samples.sample[k] = 0.0


def end_first(samples):
    """Add the first sample, whose second derivatives are set."""
    samples.counts[WAITS] = 0
    for k in range(samples.jumps.shape[0]):
        samples.rates[k] = rate_of(
            samples, k, samples.present[1 + k], samples.first[k], samples.clock[LENGTH]
        )
    integrate_sample(samples, samples.first, samples.clock[LENGTH], samples.clock[BEGAN])


def rate_of(samples, k, before, after, length):
    """Slope of an output over a sample, per s; a discrete one holds until its end."""
    return 0.0 if samples.jumps[k] != 0 else (after - before) / length


def integrate_sample(samples, sample, length, end):
    """Add a sample, which ends at `end` (s), to the integrals, and store it if it is its turn."""
    n = samples.jumps.shape[0]
    m = samples.sources.shape[0]
    b = samples.bonds.shape[0] // 2
    inputs = 1 + n
    defects = inputs + m
    energy = defects + m
    for i in range(b):
        first = samples.bonds[2 * i]
        second = samples.bonds[2 * i + 1]
        samples.present[energy + i] += length * (
            sample[n + first] * mean_output(samples, samples.sources[second], length)
            - sample[n + second] * mean_output(samples, samples.sources[first], length)
        )
    for j in range(m):
        k = samples.sources[j]
        mean = sample[n + j]
        tooth = (sample[n + m + j] - samples.rates[k]) * length * length / 12.0
        defect = mean - mean_output(samples, k, length) - (tooth - samples.teeth[j]) / length
        samples.present[inputs + j] += mean * length
        samples.present[defects + j] += defect * length
        samples.present[energy + b + j] = sample[n + 2 * m + j]
        samples.present[energy + b + m + j] += tooth * length
        samples.teeth[j] = tooth
    samples.present[0] = end
    for k in range(n):
        samples.present[1 + k] = sample[k]
    store_sample(samples)


def mean_output(samples, k, length):
    """Mean of an output over a sample: of the parabola through its last three values."""
    end = samples.present[1 + k]
    return end + 0.5 * length * samples.rates[k] - length * length / 12.0 * samples.bends[k]


def store_sample(samples):
    """Store the last sample if it is its turn; if there is no room, drop every second one."""
    counts = samples.counts
    counts[SAMPLES] += 1
    if not is_stored(counts):
        return
    if counts[STORED] + 1 == samples.kept.shape[0] // samples.present.shape[0]:
        drop_every_second(samples)
        if not is_stored(counts):
            return
    store(samples)


def is_stored(counts):
    """Whether the last sample is one of those that are stored."""
    return counts[SAMPLES] <= SINGLE or counts[SAMPLES] % counts[STRIDE] == 0


def drop_every_second(samples):
    """Store half as many samples from now on, also of those so far, but for the first ones."""
    width = samples.present.shape[0]
    counts = samples.counts
    before_single = SINGLE // counts[STRIDE] - SINGLE
    count = min(counts[STORED], SINGLE + 1)
    for place in range(count, counts[STORED]):
        if (before_single + place) % 2 == 0:  # its number is a multiple of the new stride
            for k in range(width):
                samples.kept[width * count + k] = samples.kept[width * place + k]
            count += 1
    counts[STORED] = count
    counts[STRIDE] *= 2


def store(samples):
    """Store the last sample behind the others."""
    width = samples.present.shape[0]
    for k in range(width):
        samples.kept[width * samples.counts[STORED] + k] = samples.present[k]
    samples.counts[STORED] += 1
