"""What each of our methods makes of the random systems: a short digest of every outcome.

The system, its options and what is done with it stay those of the seed; the method is another one. A method
that takes fixed steps alone is given some. A monitor ends a run after many steps: a method of low order would
need hours for a tight accuracy.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

from oracle_run import run_plan
from random_systems import Plan, random_plan

import cosim

FILE = Path(__file__).parents[1] / "data" / "step_oracle" / "methods.json.gz"
DIGITS = 12
"""Of a digest."""
MOST_STEPS = 1000
"""Behind which a run is ended."""
FIXED_STEP = 1 / 32
OF_ACCURACY = ("accuracy", "relative_tolerance", "maximum_step")
"""Options that a method with a fixed step has no use for."""
OF_OTHERS = "cosim_integrators.library."
"""Methods that another library computes: their last bits are not ours."""
Digests = dict[str, str]
"""By the id of the method."""


@functools.cache
def methods() -> tuple[str, ...]:
    """The ids of all methods of ours."""
    entries = cosim.registry().entries("integrator")
    ours = (e.id for e in entries if e.id.startswith("integrators.") and not e.target.startswith(OF_OTHERS))
    return tuple(sorted(ours))


def digests_of(seed: int) -> Digests:
    """What all methods make of the system of a seed."""
    plan = random_plan(seed)
    system = plan.build()
    same = replace(plan, build=lambda: system)
    return {name: digest_of(replace(same, integrator=name)) for name in methods()}


def digest_of(plan: Plan) -> str:
    """Of the outcome of a plan; of one that is refused what is raised, and that with a fixed step."""
    try:
        return _digest(plan)
    except cosim.CosimError as refusal:
        found = type(refusal).__name__
    options = {name: value for name, value in plan.options.items() if name not in OF_ACCURACY}
    try:
        return f"{found} {_digest(replace(plan, options={**options, 'fixed_step': FIXED_STEP}))}"
    except cosim.CosimError as refusal:
        return f"{found} {type(refusal).__name__}"


def _digest(plan: Plan) -> str:
    text = json.dumps(run_plan(plan, most_steps=MOST_STEPS), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def digests_of_all(seeds: Iterable[int], processes: int | None = None) -> Iterator[tuple[int, Digests]]:
    """Seeds with their digests, computed in several processes, in the order of the seeds."""
    given = list(seeds)
    with ProcessPoolExecutor(processes or len(os.sched_getaffinity(0))) as pool:
        yield from zip(given, pool.map(digests_of, given), strict=True)


@functools.cache
def written_digests() -> dict[int, Digests]:
    """Those of the file, by seed."""
    with gzip.open(FILE, "rt", encoding="utf-8") as file:
        return {int(seed): digests for seed, digests in json.load(file).items()}


def write_digests(digests: dict[int, Digests]) -> None:
    """Write the file; the same digests give the same bytes."""
    text = json.dumps({str(seed): found for seed, found in digests.items()}, separators=(",", ":"))
    FILE.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
