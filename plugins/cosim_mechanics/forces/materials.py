"""Materials of two surfaces that touch, as one law."""

from __future__ import annotations

from cosim_mechanics.spatial import Reals

MATERIAL = 5
"""Numbers of a material."""

MODULUS, POISSON_RATIO, DAMPING, DISSIPATION, FRICTION = range(5)
"""Where each of them stands: E / (1 - nu^2), nu, the damping ratio of its restitution, c and mu."""


def combined(first: Reals, second: Reals) -> tuple[float, float, float, float, float]:
    """The law of two surfaces: effective modulus, Poisson's ratio, damping ratio, dissipation, friction.

    Half-spaces in series: 1 / E = 1 / E1 + 1 / E2, and likewise for their compliance along the surfaces,
    (2 - nu) / ((1 - nu) E) (Mindlin); Poisson's ratio is that of one material with both. Damping counts by
    the share of the depth that each surface gives way. Friction is 2 mu1 mu2 / (mu1 + mu2), as in Simbody and
    Drake: that of equal surfaces is theirs, and one without friction slides on all others.

    >>> combined((2e9, 0.3, 0.1, 0.5, 0.6), (2e9, 0.3, 0.1, 0.5, 0.6))
    (1000000000.0, 0.3, 0.1, 0.5, 0.6)
    >>> soft, hard = (1e6, 0.5, 0.4, 0.2, 0.5), (3e6, 0.5, 0.0, 0.0, 0.25)
    >>> law = combined(soft, hard)
    >>> law[0], law[3], round(law[4], 4)
    (750000.0, 0.15000000000000002, 0.3333)
    """
    both = first[MODULUS] + second[MODULUS]
    share = 0.5
    if both > 0.0:
        share = second[MODULUS] / both
    modulus = share * first[MODULUS]
    ratio = first[POISSON_RATIO]
    if second[POISSON_RATIO] != ratio:
        along = share * (2.0 - ratio) / (1.0 - ratio)
        along += (1.0 - share) * (2.0 - second[POISSON_RATIO]) / (1.0 - second[POISSON_RATIO])
        ratio = (along - 2.0) / (along - 1.0)
    frictions = first[FRICTION] + second[FRICTION]
    friction = 0.0
    if frictions > 0.0:
        friction = 2.0 * first[FRICTION] * (second[FRICTION] / frictions)
    return (
        modulus,
        ratio,
        share * first[DAMPING] + (1.0 - share) * second[DAMPING],
        share * first[DISSIPATION] + (1.0 - share) * second[DISSIPATION],
        friction,
    )
