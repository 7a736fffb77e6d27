"""Force elements and components with a view, some wrong in one way, and their contracts."""

from right_elements import documented
from toy_components import Leak
from wrapped_integers import wrapped_integer

import cosim
import cosim_mechanics
from cosim.testing import ComponentContract
from cosim_mechanics.testing import ForceElementContract


def pull(s, share):
    """Adds the force on body 1, and a share of it to body 2."""
    for i in range(3):
        f = s.stiffness * (s.X_GB2[9 + i] - s.X_GB1[9 + i])
        s.F_GB1[3 + i] += f
        s.F_GB2[3 + i] -= share * f


@documented
class Pull(cosim_mechanics.ForceElement):
    """Pulls the origins of two bodies together.

    Law: f = k (p2 - p1) on body 1, -f on body 2.
    """

    stiffness = cosim.parameter(unit="N/m", minimum=0.0)
    potential_energy = cosim.cache_slot(unit="J")

    @cosim.kernel
    def force(s):
        pull(s, 1.0)

    @cosim.kernel
    def energy(s):
        s.potential_energy = 0.0
        for i in range(3):
            stretch = s.X_GB2[9 + i] - s.X_GB1[9 + i]
            s.potential_energy += 0.5 * s.stiffness * stretch * stretch


@documented
class OneSided(Pull):
    """Forgets half of the reaction.

    Law: f = k (p2 - p1) on body 1, -f / 2 on body 2.
    """

    @cosim.kernel
    def force(s):
        pull(s, 0.5)


class Overflowing(Leak):
    """Integers that leave 64 bits. Law: outflow = rate level + a number that should always be the same."""

    @cosim.kernel
    def derivatives(s):
        number = wrapped_integer()
        s.outflow = s.rate * s.level + number
        s.level_dot = -s.rate * s.level


class Wearing(Leak):
    """Changes the State while it computes. Law: as `Leak`."""

    wear = cosim.discrete(shape=1)

    def derivatives(self, s):
        s.wear.fill(s.wear[0] + 1.0)
        s.outflow = s.rate * s.level
        s.level_dot = -s.rate * s.level


class PullCase(ForceElementContract):
    make = staticmethod(lambda: Pull(stiffness=100.0))


class OneSidedCase(ForceElementContract):
    make = staticmethod(lambda: OneSided(stiffness=100.0))


class OverflowingCase(ComponentContract):
    make = staticmethod(lambda: Overflowing(rate=2.0))


class WearingCase(ComponentContract):
    make = staticmethod(lambda: Wearing(rate=2.0))
