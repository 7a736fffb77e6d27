"""Making the file of units that a wheel carries: `shipped_units` finds in it what is made here."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shipping import Forms, Wanted, write_anew

from cosim_compiler import kernel_cache, shipped_units, units
from cosim_compiler.lowered_code import PLACEHOLDER

Job = tuple[str, Wanted, bool]
"""A digest, a function with its signature, and whether its text is wanted, not its unit."""


def make_units(
    wanted: Forms,
    path: Path,
    processes: int | None = None,
    progress: Callable[[int, int], Any] = lambda done, of: None,
) -> int:
    """Compile what was collected for every processor of this platform; how many units and texts there are.

    Parameters
    ----------
    wanted : dict
        From `shipping.collected`.
    path : Path
        Of the file.
    processes : int, optional
        As many as there are processors for this process unless given.
    progress : callable
        Called with the number of units that are done, and of all.
    """
    global _work
    jobs, made = _jobs(wanted), {}
    _work = jobs
    with multiprocessing.get_context("fork").Pool(processes or len(os.sched_getaffinity(0))) as pool:
        for digest, content in pool.imap_unordered(_compiled, range(len(jobs))):
            made[digest] = content
            progress(len(made), len(jobs))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_anew(path, shipped_units.packed(made))
    return len(made)


def _jobs(wanted: Forms) -> list[Job]:
    """One for each unit and each text; the largest unit, the Step, begins first."""
    found: dict[str, Job] = {}
    for (function, signature), forms in wanted.items():
        if forms & {"here", "c"}:
            digest = units.digest_of_unit(function, signature)
            found[digest] = digest, (function, signature), False
        if "text" in forms:
            digest = units.digest_of_text(function, signature, PLACEHOLDER)
            found[digest] = digest, (function, signature), True
    return sorted(found.values(), key=lambda job: "__together__" not in job[1][0].__dict__)


_work: list[Job]
"""What the processes that compile find: they are forked from the one that has collected."""


def _compiled(number: int) -> tuple[str, bytes]:
    """A unit or a text under its digest; what was compiled for an earlier wheel is found again."""
    digest, wanted, is_text = _work[number]
    key = f"{digest}-for-all"
    content = kernel_cache.kept(key)
    if content is None:
        content = units.text_anew(*wanted, PLACEHOLDER).encode() if is_text else units.unit_for_all(*wanted)
        kernel_cache.keep(key, content)
    return digest, content
