"""From the exchanges of a run to samples of its coupling, one at a time: a kernel function.

An exchange is a row: when it ended (s), the outputs then, the means of the inputs over it in their own units,
their slopes (per s), and their values when the outputs were read. As many exchanges as `STEPS_OF_ONE` says
are one sample.
"""

from __future__ import annotations

from typing import NamedTuple

from cosim.kit import Integers, Reals, group_reader, integers_at

STEPS_OF_ONE, STEPS, WAITS, SAMPLES, STRIDE, COUNTS = range(6)
"""`counts`: exchanges in one sample, and in the one under way; whether the first sample waits for the second;
samples so far; each so-manieth is kept."""
REACHED, BEGAN, LENGTH, CLOCK = range(4)
"""`clock`, s: the last exchange has ended, the sample under way has begun; length of the sample before it."""
SIGNATURE = "iFi>i"


class Collected(NamedTuple):
    """What is known of the coupling, and of all samples so far.

    Attributes
    ----------
    sources : ndarray of int, shape (inputs,)
        The output that each input stands for.
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
        That under way: outputs, then means, slopes and last values of the inputs.
    first : ndarray
        The first one, while it waits for the second, without which its bend is not known.
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


read_collected = group_reader(Collected)
HEAD = 2 * len(Collected._fields)


def collect_samples(address, rows, ends):
    """Add exchanges; when the run `ends`, also what is not complete. Returns how many samples are kept.

    Parameters
    ----------
    address : int
        Of the head of what is known so far (`Collected`).
    rows : ndarray
        One exchange after the other.
    ends : int
        Whether the run does.
    """
    a = read_collected(integers_at(address, HEAD))
    width = 1 + a.jumps.shape[0] + 3 * a.sources.shape[0]
    for i in range(rows.shape[0] // width):
        add_exchange(a, rows[width * i : width * (i + 1)])
    return finish_samples(a) if ends != 0 else a.counts[SAMPLES] // a.counts[STRIDE] + 1


def finish_samples(a):
    """The run ends: add what is not complete. Returns how many samples are kept."""
    counts = a.counts
    if counts[STEPS] != 0:
        end_sample(a)
    if counts[WAITS] != 0:
        end_first(a)
    if counts[SAMPLES] % counts[STRIDE] != 0:
        store(a, counts[SAMPLES] // counts[STRIDE] + 1)
        return counts[SAMPLES] // counts[STRIDE] + 2
    return counts[SAMPLES] // counts[STRIDE] + 1


def add_exchange(a, row):
    """Add one exchange to the sample under way."""
    n = a.jumps.shape[0]
    m = a.sources.shape[0]
    length = row[0] - a.clock[REACHED]
    middle = row[0] - 0.5 * length - a.clock[BEGAN]
    a.clock[REACHED] = row[0]
    for k in range(n):
        a.sample[k] = row[1 + k]
    for j in range(m):
        mean = (row[1 + n + j] - a.scales[2 * j + 1]) / a.scales[2 * j]
        slope = row[1 + n + m + j] / a.scales[2 * j]
        a.sample[n + 2 * m + j] = (row[1 + n + 2 * m + j] - a.scales[2 * j + 1]) / a.scales[2 * j]
        if a.counts[STEPS_OF_ONE] == 1:
            a.sample[n + j] = mean
            a.sample[n + m + j] = slope
        else:
            a.sample[n + j] += mean * length
            a.sample[n + m + j] += mean * length * middle + slope * length * length * length / 12.0
    a.counts[STEPS] += 1
    if a.counts[STEPS] == a.counts[STEPS_OF_ONE]:
        end_sample(a)


def end_sample(a):
    """The sample under way is complete."""
    n = a.jumps.shape[0]
    m = a.sources.shape[0]
    length = a.clock[REACHED] - a.clock[BEGAN]
    if a.counts[STEPS_OF_ONE] > 1:  # from the sums to the line that fits them
        for j in range(m):
            mean = a.sample[n + j] / length
            moment = a.sample[n + m + j] - 0.5 * length * length * mean
            a.sample[n + j] = mean
            a.sample[n + m + j] = 12.0 * moment / (length * length * length)
    if a.counts[SAMPLES] == 0 and a.counts[WAITS] == 0:
        for k in range(a.sample.shape[0]):
            a.first[k] = a.sample[k]
        a.counts[WAITS] = 1
    else:
        if a.counts[WAITS] != 0:
            before = a.clock[LENGTH]
            for k in range(n):
                rate = rate_of(a, k, a.present[1 + k], a.first[k], before)
                following = rate_of(a, k, a.first[k], a.sample[k], length)
                a.bends[k] = 2.0 * (following - rate) / (length + before)
            end_first(a)
        for k in range(n):
            rate = rate_of(a, k, a.present[1 + k], a.sample[k], length)
            a.bends[k] = 2.0 * (rate - a.rates[k]) / (length + a.clock[LENGTH])
            a.rates[k] = rate
        integrate_sample(a, a.sample, length, a.clock[REACHED])
    a.counts[STEPS] = 0
    a.clock[LENGTH] = length
    a.clock[BEGAN] = a.clock[REACHED]
    for k in range(a.sample.shape[0]):
        a.sample[k] = 0.0


def end_first(a):
    """The first sample waits no longer; its bends are set."""
    a.counts[WAITS] = 0
    for k in range(a.jumps.shape[0]):
        a.rates[k] = rate_of(a, k, a.present[1 + k], a.first[k], a.clock[LENGTH])
    integrate_sample(a, a.first, a.clock[LENGTH], a.clock[BEGAN])


def rate_of(a, k, before, after, length):
    """Slope of an output over a sample, per s; a discrete one holds until its end."""
    return 0.0 if a.jumps[k] != 0 else (after - before) / length


def integrate_sample(a, sample, length, end):
    """Add a sample, which ends at `end` (s), to the integrals, and keep it if it is its turn."""
    n = a.jumps.shape[0]
    m = a.sources.shape[0]
    b = a.bonds.shape[0] // 2
    inputs = 1 + n
    defects = inputs + m
    energy = defects + m
    for i in range(b):
        one = a.bonds[2 * i]
        other = a.bonds[2 * i + 1]
        a.present[energy + i] += length * (
            sample[n + one] * mean_output(a, a.sources[other], length)
            - sample[n + other] * mean_output(a, a.sources[one], length)
        )
    for j in range(m):
        k = a.sources[j]
        mean = sample[n + j]
        tooth = (sample[n + m + j] - a.rates[k]) * length * length / 12.0
        defect = mean - mean_output(a, k, length) - (tooth - a.teeth[j]) / length
        a.present[inputs + j] += mean * length
        a.present[defects + j] += defect * length
        a.present[energy + b + j] = sample[n + 2 * m + j]
        a.present[energy + b + m + j] += tooth * length
        a.teeth[j] = tooth
    a.present[0] = end
    for k in range(n):
        a.present[1 + k] = sample[k]
    store_sample(a)


def mean_output(a, k, length):
    """Mean of an output over a sample: of the parabola through its last three values."""
    return a.present[1 + k] + 0.5 * length * a.rates[k] - length * length / 12.0 * a.bends[k]


def store_sample(a):
    """Keep the present sample if it is its turn; where there is no room, drop every second one."""
    a.counts[SAMPLES] += 1
    if a.counts[SAMPLES] % a.counts[STRIDE] != 0:
        return
    width = a.present.shape[0]
    place = a.counts[SAMPLES] // a.counts[STRIDE]
    if place + 1 == a.kept.shape[0] // width:
        for i in range(1, (place + 1) // 2):
            for k in range(width):
                a.kept[width * i + k] = a.kept[2 * width * i + k]
        a.counts[STRIDE] *= 2
    else:
        store(a, place)


def store(a, place):
    """Keep the present sample there."""
    width = a.present.shape[0]
    for k in range(width):
        a.kept[width * place + k] = a.present[k]
