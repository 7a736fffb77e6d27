"""One way in which a linear system moves by itself."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Mode:
    """An eigenvalue of A with its shape; a pair of conjugate ones is one mode.

    Attributes
    ----------
    eigenvalue : complex, 1/s
        Of a pair the one with positive imaginary part.
    shape : ndarray of complex, shape (n,)
        The eigenvector over the states, its largest element 1.

    Examples
    --------
    >>> mode = Mode(complex(-0.1, 6.28), np.array([1.0, 0.0]))
    >>> round(mode.frequency, 3), round(mode.damping_ratio, 4), mode.oscillates
    (1.0, 0.0159, True)
    """

    eigenvalue: complex
    shape: NDArray[np.complex128]

    @property
    def oscillates(self) -> bool:
        """Whether it swings; otherwise it grows or decays."""
        return self.eigenvalue.imag != 0.0

    @property
    def frequency(self) -> float:
        """Undamped eigenfrequency abs(eigenvalue) / 2 pi, Hz; 0 for a mode that does not swing."""
        return abs(self.eigenvalue) / (2.0 * math.pi) if self.oscillates else 0.0

    @property
    def damping_ratio(self) -> float:
        """-Re / abs of the eigenvalue; negative for what grows, NaN for an eigenvalue of zero."""
        return 0.0 - self.eigenvalue.real / abs(self.eigenvalue) if self.eigenvalue else math.nan

    @property
    def time_constant(self) -> float:
        """Time in which it decays to 1/e, s; negative for what grows, infinite for what does neither."""
        return -1.0 / self.eigenvalue.real if self.eigenvalue.real else math.inf
