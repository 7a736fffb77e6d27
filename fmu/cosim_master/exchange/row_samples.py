"""Samples of the coupling from the rows of the machine, for a run without Python."""

from __future__ import annotations

from typing import NamedTuple

from cosim.kit import Integers, Reals, group_reader, integers_at
from cosim_master.exchange.exchange_arrays import machine_at, report_of
from cosim_master.exchange.part_steps import time_reached
from cosim_master.exchange.stop_codes import DONE
from cosim_master.recording.collect_samples import (
    BEGAN,
    LENGTH,
    REACHED,
    STEPS_OF_ONE,
    STORED,
    STRIDE,
    add_exchange,
    collected_at,
)


class Sampling(NamedTuple):
    """How rows become samples of the coupling; the samples (`Collected`) follow it in memory.

    Attributes
    ----------
    places : ndarray of int
        The places of outputs, means of inputs, their slopes and their last values in a row; of held inputs
        only the means.
    row : ndarray
        Work space for one exchange.
    limits : ndarray of int, shape (1,)
        The largest number of numbers in all samples.
    """

    places: Integers
    row: Reals
    limits: Integers


_read_sampling = group_reader(Sampling)
SAMPLING_HEAD = 2 * len(Sampling._fields)
WORD = 8
AT_ONCE = 40
"""Samples for which there must be room: one for each row, and those at the end of a run."""


def sampling_at(samples):
    """The `Sampling` whose head begins at an address."""
    return _read_sampling(integers_at(samples, SAMPLING_HEAD))


def collected_after(samples):
    """The `Collected` whose head follows that of the `Sampling` at an address."""
    return collected_at(samples + WORD * SAMPLING_HEAD)


def start_samples(address, samples):
    """Begin the samples with the present outputs; returns a stop code."""
    machine = machine_at(address)
    sampling = sampling_at(samples)
    s = collected_after(samples)
    for values in (s.present, s.rates, s.bends, s.teeth, s.sample, s.first):
        for i in range(len(values)):
            values[i] = 0.0
    for i in range(len(s.counts)):
        if i != STEPS_OF_ONE:
            s.counts[i] = 0
    s.counts[STRIDE] = 1
    s.counts[STORED] = 1
    time = time_reached(address)
    s.clock[REACHED] = time
    s.clock[BEGAN] = time
    s.clock[LENGTH] = 0.0
    s.present[0] = time
    for k in range(len(s.jumps)):
        place = machine.columns[sampling.places[k]]
        s.present[1 + k] = machine.outputs[place]
    for i in range(len(s.present)):
        s.kept[i] = s.present[i]
    return DONE


def collect_rows(machine, samples):
    """Add the rows of exchanges to the samples. Returns whether there is no room for further rows."""
    report = report_of(machine)
    if samples == 0:
        report.rows = 0
        return False
    sampling = sampling_at(samples)
    s = collected_after(samples)
    n = len(s.jumps)
    m = len(s.sources)
    width = len(machine.columns) + 2
    for i in range(report.rows):
        first = width * i
        sampling.row[0] = machine.rows[first]
        for k in range(n + m):
            sampling.row[1 + k] = machine.rows[first + 2 + sampling.places[k]]
        for k in range(n + m, n + 3 * m):
            if len(sampling.places) == n + m:
                sampling.row[1 + k] = 0.0 if k < n + 2 * m else sampling.row[1 + k - 2 * m]
            else:
                sampling.row[1 + k] = machine.rows[first + 2 + sampling.places[k]]
        add_exchange(s, sampling.row)
    report.rows = 0
    return (s.counts[STORED] + AT_ONCE) * len(s.present) > len(s.kept) and len(s.kept) < sampling.limits[0]
