"""Bands that authors declare for vectors of states whose law is plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from vector_problems import columns, system_of

import cosim


def plain_rod_of(n: int, band: int | None) -> type[cosim.Component]:
    """As `rod_of`, by a method in plain Python, with the temperatures of the baths at its two ends."""

    class PlainRod(cosim.Component):
        """A rod. Law: T' = rate (T_left - 2 T + T_right), bath' = -bath."""

        T = cosim.auxiliary_state(shape=n, start=[1.0] * n, band=band)
        bath = cosim.auxiliary_state(shape=2, band=0)

        def derivatives(self, T, bath, T_dot, bath_dot):
            around = np.concatenate([[bath[0]], T, [bath[1]]])
            T_dot[:] = (n + 1) ** 2 * (around[:-2] - 2.0 * T + around[2:])
            bath_dot[:] = -np.asarray(bath)

    return PlainRod


@pytest.mark.parametrize("n", [9, 30])
@pytest.mark.parametrize("band", [0, 1, 2])
def test_a_band_can_be_declared_for_plain_python(n: int, band: int) -> None:
    """Within a vector a band counts; between vectors of different lengths every element may depend on all."""
    within_band = [[*(i for i in range(n) if abs(i - j) <= band), n, n + 1] for j in range(n)]
    dependent = columns(system_of(plain_rod_of(n, band)))
    assert dependent[:n] == within_band
    assert dependent[n:] == [[*range(n), n], [*range(n), n + 1]]


def test_without_a_declaration_plain_python_counts_as_full() -> None:
    assert columns(system_of(plain_rod_of(9, None)))[:9] == [list(range(11))] * 9


@pytest.mark.parametrize("band", [-1, 0.5, True, "wide"])
def test_other_bands_are_refused(band: object) -> None:
    with pytest.raises(cosim.ContractError, match="needs.*number of elements"):
        cosim.auxiliary_state(shape=9, band=band)  # type: ignore[arg-type]
