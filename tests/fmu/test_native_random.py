"""Random systems give the same bits as FMUs, with Python and without, and however they are compiled."""

from __future__ import annotations

from pathlib import Path

import pytest
from driven import check_fmus, check_machine_code
from native_random import driven_model
from native_tools import needs_compiler

pytestmark = needs_compiler
QUICK = 1  # no bodies: a few small functions
WITH_BODIES = 12


@pytest.mark.thorough
def test_a_random_system(tmp_path: Path) -> None:
    check_fmus(driven_model(QUICK), tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [seed for seed in range(100) if seed != QUICK])
def test_random_systems(seed: int, tmp_path: Path) -> None:
    check_fmus(driven_model(seed), tmp_path)


@pytest.mark.parametrize("seeds", [[QUICK, WITH_BODIES], list(range(100))], ids=len)
@pytest.mark.thorough
def test_random_systems_give_the_same_bytes_however_they_are_compiled(seeds: list[int]) -> None:
    """Shipped machine code, code compiled here, plain Python; the FMUs are compared above."""
    check_machine_code("native_random", seeds)
