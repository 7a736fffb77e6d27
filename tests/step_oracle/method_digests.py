"""Short digests of the outcomes of the random systems with each of our integration methods.

The system, its options and the actions are those of the seed; only the method is another one. A method
without error control gets a fixed step. A monitor ends a run after many steps: a method of low order would
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

from oracle_plan import Plan
from oracle_run import run_plan
from random_systems import random_plan

import cosim

FILE = Path(__file__).parents[1] / "data" / "step_oracle" / "methods.json.gz"
DIGITS = 12
"""The number of digits of a digest."""
MOST_STEPS = 1000
"""The number of steps after which a run is ended."""
FIXED_STEP = 1 / 32
OPTIONS_OF_ERROR_CONTROL = ("accuracy", "relative_tolerance", "maximum_step")
LIBRARIES = "cosim_integrators.library."
"""Modules of methods that another library computes: their last bits are not ours."""
Digests = dict[str, str]
"""Digests by the id of the method."""


@functools.cache
def methods() -> tuple[str, ...]:
    """The ids of all our methods."""
    entries = cosim.registry().entries("integrator")
    ours = (e.id for e in entries if e.id.startswith("integrators.") and not e.target.startswith(LIBRARIES))
    return tuple(sorted(ours))


def digests_of(seed: int) -> Digests:
    """The digests of the system of a seed with all methods."""
    plan = random_plan(seed)
    system = plan.build()
    same = replace(plan, build=lambda: system)
    return {name: digest_of(replace(same, integrator=name)) for name in methods()}


def digest_of(plan: Plan) -> str:
    """The digest of the outcome of a plan; if it is refused, the error and the digest with a fixed step."""
    try:
        return _digest(plan)
    except cosim.CosimError as refusal:
        error = type(refusal).__name__
    options = {name: value for name, value in plan.options.items() if name not in OPTIONS_OF_ERROR_CONTROL}
    try:
        return f"{error} {_digest(replace(plan, options={**options, 'fixed_step': FIXED_STEP}))}"
    except cosim.CosimError as refusal:
        return f"{error} {type(refusal).__name__}"


def _digest(plan: Plan) -> str:
    text = json.dumps(run_plan(plan, most_steps=MOST_STEPS), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def digests_of_all(seeds: Iterable[int], processes: int | None = None) -> Iterator[tuple[int, Digests]]:
    """The seeds with their digests, in order, computed in several processes."""
    listed = list(seeds)
    with ProcessPoolExecutor(processes or len(os.sched_getaffinity(0))) as pool:
        yield from zip(listed, pool.map(digests_of, listed), strict=True)


@functools.cache
def written_digests() -> dict[int, Digests]:
    """The digests of the file, by seed."""
    with gzip.open(FILE, "rt", encoding="utf-8") as file:
        return {int(seed): digests for seed, digests in json.load(file).items()}


def write_digests(digests: dict[int, Digests]) -> None:
    """Write the file; the same digests give the same bytes."""
    text = json.dumps({str(seed): of_seed for seed, of_seed in digests.items()}, separators=(",", ":"))
    FILE.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
