"""Articulated inertias in the cache: what a body and all that hangs on it put up against a motion."""

from __future__ import annotations

from typing import Any

from cosim.kit import Record, rows_of
from cosim_dynamics.spatial_vectors import Six


class ArticulatedInertia(Record):
    """A symmetric 6 by 6 matrix about a point: times a spatial acceleration it gives (moment, force).

    Pairs of a row lie beside each other, which a processor takes two at a time, then what is left of the
    diagonal. The two reals behind say how much there was before joints gave way.
    """

    i00: float
    i01: float
    i02: float
    i03: float
    i04: float
    i05: float
    i12: float
    i13: float
    i14: float
    i15: float
    i22: float
    i23: float
    i24: float
    i25: float
    i34: float
    i35: float
    i44: float
    i45: float
    i11: float
    i33: float
    i55: float
    moments: float  # the sum of the moments of inertia of all that hangs on the body
    mass: float  # of all that

    def set_rigid(I, body: Any) -> None:
        """Set the articulated inertia of a rigid body, from its ten reals (`inertias`)."""
        mass, x, y, z, xx, yy, zz, xy, xz, yz = body
        I.i00 = xx
        I.i01 = xy
        I.i02 = xz
        I.i03 = 0.0
        I.i04 = -z
        I.i05 = y
        I.i12 = yz
        I.i13 = z
        I.i14 = 0.0
        I.i15 = -x
        I.i22 = zz
        I.i23 = -y
        I.i24 = x
        I.i25 = 0.0
        I.i34 = 0.0
        I.i35 = 0.0
        I.i44 = mass
        I.i45 = 0.0
        I.i11 = yy
        I.i33 = mass
        I.i55 = mass
        I.moments = xx + yy + zz
        I.mass = mass

    def resistance(I, S: Any) -> Six:
        """The spatial force that gives the spatial acceleration S."""
        # pairs of terms: a sum that waits for all terms before takes longer
        return (
            (I.i00 * S[0] + I.i01 * S[1]) + (I.i02 * S[2] + I.i03 * S[3]) + (I.i04 * S[4] + I.i05 * S[5]),
            (I.i01 * S[0] + I.i11 * S[1]) + (I.i12 * S[2] + I.i13 * S[3]) + (I.i14 * S[4] + I.i15 * S[5]),
            (I.i02 * S[0] + I.i12 * S[1]) + (I.i22 * S[2] + I.i23 * S[3]) + (I.i24 * S[4] + I.i25 * S[5]),
            (I.i03 * S[0] + I.i13 * S[1]) + (I.i23 * S[2] + I.i33 * S[3]) + (I.i34 * S[4] + I.i35 * S[5]),
            (I.i04 * S[0] + I.i14 * S[1]) + (I.i24 * S[2] + I.i34 * S[3]) + (I.i44 * S[4] + I.i45 * S[5]),
            (I.i05 * S[0] + I.i15 * S[1]) + (I.i25 * S[2] + I.i35 * S[3]) + (I.i45 * S[4] + I.i55 * S[5]),
        )

    def release(I, U: Any, V: Any) -> None:
        """Take away what a free motion gives way to: I - U V^T, with V parallel to U."""
        I.i00 -= U[0] * V[0]
        I.i01 -= U[0] * V[1]
        I.i02 -= U[0] * V[2]
        I.i03 -= U[0] * V[3]
        I.i04 -= U[0] * V[4]
        I.i05 -= U[0] * V[5]
        I.i12 -= U[1] * V[2]
        I.i13 -= U[1] * V[3]
        I.i14 -= U[1] * V[4]
        I.i15 -= U[1] * V[5]
        I.i22 -= U[2] * V[2]
        I.i23 -= U[2] * V[3]
        I.i24 -= U[2] * V[4]
        I.i25 -= U[2] * V[5]
        I.i34 -= U[3] * V[4]
        I.i35 -= U[3] * V[5]
        I.i44 -= U[4] * V[4]
        I.i45 -= U[4] * V[5]
        I.i11 -= U[1] * V[1]
        I.i33 -= U[3] * V[3]
        I.i55 -= U[5] * V[5]

    def add_released(I, other: ArticulatedInertia, U: Any, V: Any) -> None:
        """Add what another body hands on through its joint, I - U V^T of its own, with V parallel to U."""
        I.i00 += other.i00 - U[0] * V[0]
        I.i01 += other.i01 - U[0] * V[1]
        I.i02 += other.i02 - U[0] * V[2]
        I.i03 += other.i03 - U[0] * V[3]
        I.i04 += other.i04 - U[0] * V[4]
        I.i05 += other.i05 - U[0] * V[5]
        I.i12 += other.i12 - U[1] * V[2]
        I.i13 += other.i13 - U[1] * V[3]
        I.i14 += other.i14 - U[1] * V[4]
        I.i15 += other.i15 - U[1] * V[5]
        I.i22 += other.i22 - U[2] * V[2]
        I.i23 += other.i23 - U[2] * V[3]
        I.i24 += other.i24 - U[2] * V[4]
        I.i25 += other.i25 - U[2] * V[5]
        I.i34 += other.i34 - U[3] * V[4]
        I.i35 += other.i35 - U[3] * V[5]
        I.i44 += other.i44 - U[4] * V[4]
        I.i45 += other.i45 - U[4] * V[5]
        I.i11 += other.i11 - U[1] * V[1]
        I.i33 += other.i33 - U[3] * V[3]
        I.i55 += other.i55 - U[5] * V[5]
        I.moments += other.moments
        I.mass += other.mass

    def bound(I, S: Any) -> float:
        """A bound on what the motion S would meet if no joint further out gave way."""
        moments = I.moments * (S[0] * S[0] + S[1] * S[1] + S[2] * S[2])
        return moments + I.mass * (S[3] * S[3] + S[4] * S[4] + S[5] * S[5])


def articulated_inertia_at(c: Any, slot: int) -> ArticulatedInertia:
    """The articulated inertia at a slot."""
    return rows_of(ArticulatedInertia, c, slot, 1)[0]
