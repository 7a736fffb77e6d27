"""Articulated inertias in the cache: what a body and all that hangs on it put up against a motion."""

from __future__ import annotations

from typing import Any

from cosim.kit import Record, rows_of
from cosim_dynamics.spatial_vectors import Six


class ArticulatedInertia(Record):
    """A symmetric 6 by 6 matrix about a point: times a spatial acceleration it gives (moment, force).

    Pairs of a column lie beside each other, which a processor takes two at a time, then what is left of the
    diagonal. Functions read all before they write: then pairs are stored as pairs, and a load of a pair need
    not wait for two stores. Pairs that are added to each other do not lie beside each other: LLVM would load
    the second of one with the first of the next. The two reals behind say how much there was before joints
    gave way.
    """

    i02: float
    i12: float
    i04: float
    i14: float
    i24: float
    i34: float
    i03: float
    i13: float
    i05: float
    i15: float
    i25: float
    i35: float
    i01: float
    i11: float
    i23: float
    i33: float
    i45: float
    i55: float
    i00: float
    i22: float
    i44: float
    moments: float  # the sum of the moments of inertia of all that hangs on the body
    mass: float  # of all that

    def set_rigid(I, body: Any) -> None:
        """Set the articulated inertia of a rigid body, from its ten reals (`inertias`)."""
        mass, x, y, z, xx, yy, zz, xy, xz, yz = body
        entries = (
            xz, yz, -z, 0.0, x, 0.0,
            0.0, z, y, -x, 0.0, 0.0,
            xy, yy, -y, mass, 0.0, mass,
            xx, zz, mass,
        )  # fmt: skip
        I.put(entries)
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

    def put(I, entries: Any) -> None:
        """Write all entries, in their order."""
        I.i02 = entries[0]
        I.i12 = entries[1]
        I.i04 = entries[2]
        I.i14 = entries[3]
        I.i24 = entries[4]
        I.i34 = entries[5]
        I.i03 = entries[6]
        I.i13 = entries[7]
        I.i05 = entries[8]
        I.i15 = entries[9]
        I.i25 = entries[10]
        I.i35 = entries[11]
        I.i01 = entries[12]
        I.i11 = entries[13]
        I.i23 = entries[14]
        I.i33 = entries[15]
        I.i45 = entries[16]
        I.i55 = entries[17]
        I.i00 = entries[18]
        I.i22 = entries[19]
        I.i44 = entries[20]

    def released(I, U: Any, V: Any) -> Any:
        """The entries of I - U V^T: what is left where a free motion gives way, with V parallel to U."""
        return (
            I.i02 - U[0] * V[2],
            I.i12 - U[1] * V[2],
            I.i04 - U[0] * V[4],
            I.i14 - U[1] * V[4],
            I.i24 - U[2] * V[4],
            I.i34 - U[3] * V[4],
            I.i03 - U[0] * V[3],
            I.i13 - U[1] * V[3],
            I.i05 - U[0] * V[5],
            I.i15 - U[1] * V[5],
            I.i25 - U[2] * V[5],
            I.i35 - U[3] * V[5],
            I.i01 - U[0] * V[1],
            I.i11 - U[1] * V[1],
            I.i23 - U[2] * V[3],
            I.i33 - U[3] * V[3],
            I.i45 - U[4] * V[5],
            I.i55 - U[5] * V[5],
            I.i00 - U[0] * V[0],
            I.i22 - U[2] * V[2],
            I.i44 - U[4] * V[4],
        )

    def release(I, U: Any, V: Any) -> None:
        """Take away what a free motion gives way to."""
        I.put(I.released(U, V))

    def add_released(I, other: ArticulatedInertia, U: Any, V: Any) -> None:
        """Add what another body hands on through its joint, which gives way."""
        more = other.released(U, V)
        entries = (
            I.i02 + more[0],
            I.i12 + more[1],
            I.i04 + more[2],
            I.i14 + more[3],
            I.i24 + more[4],
            I.i34 + more[5],
            I.i03 + more[6],
            I.i13 + more[7],
            I.i05 + more[8],
            I.i15 + more[9],
            I.i25 + more[10],
            I.i35 + more[11],
            I.i01 + more[12],
            I.i11 + more[13],
            I.i23 + more[14],
            I.i33 + more[15],
            I.i45 + more[16],
            I.i55 + more[17],
            I.i00 + more[18],
            I.i22 + more[19],
            I.i44 + more[20],
        )
        I.put(entries)
        I.moments += other.moments
        I.mass += other.mass

    def bound(I, S: Any) -> float:
        """A bound on what the motion S would meet if no joint further out gave way."""
        moments = I.moments * (S[0] * S[0] + S[1] * S[1] + S[2] * S[2])
        return moments + I.mass * (S[3] * S[3] + S[4] * S[4] + S[5] * S[5])


def articulated_inertia_at(c: Any, slot: int) -> ArticulatedInertia:
    """The articulated inertia at a slot."""
    return rows_of(ArticulatedInertia, c, slot, 1)[0]
