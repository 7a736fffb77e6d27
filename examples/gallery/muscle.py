"""A muscle along a path: from its origin over a point on the same bone to the other bone."""

import math

import cosim
import cosim_mechanics
from cosim_mechanics import Law
from cosim_mechanics.spatial import add_force_at, dot, minus, norm, point_velocity, scaled, station


class Muscle(cosim_mechanics.ForceElement):
    """Hill's muscle with a stiff tendon, on a path of two straight pieces.

    Law: F = F_max (a fl(l) fv(v) + fp(l)), with the activation a' = (excitation - a) / time_constant and
    F_max the `maximum_isometric_force`.

    Length of the fibres: l = (length - slack) / optimal_length; v = l' / maximum_shortening_speed.
    Force by length: fl = exp(-((l - 1) / width)^2).
    Force by speed (Hill): fv = (1 + v) / (1 - 4 v) for v < 0; 1.4 - 0.4 (1 - v) / (1 + 11.5 v) for v >= 0.
    Passive fibres: fp = (exp(5 (l - 1)) - 1) / 150 for l > 1, else 0.

    Frames and signs
    ----------------
    The path goes from `origin` over `via`, both fixed on body 1, to `insertion` on body 2; a positive
    tension draws insertion and `via` together.

    Limits
    ------
    The tendon is stiff, and the path has one via point. The last piece has no direction where `insertion`
    meets `via`: the computation stops there with an error. The excitation is limited to 0 to 1, v to -1 to 1,
    and 5 (l - 1) to 10.

    Energy
    ------
    Supplied: the work on the bodies, that of the passive fibres included.

    References
    ----------
    F. E. Zajac, "Muscle and tendon", Critical Reviews in Biomedical Engineering 17 (1989).

    Examples
    --------
    >>> Muscle(body1="humerus", body2="ulna", maximum_isometric_force="1.1 kN").optimal_length
    0.1
    """

    laws = Law.INTERNAL | Law.FRAME_INDIFFERENT

    excitation = cosim.input(unit="1", start=0.0, description="from 0 to 1")
    origin = cosim.parameter(unit="m", shape=3, default=(0.0, 0.0, 0.0), description="on body 1")
    via = cosim.parameter(unit="m", shape=3, default=(0.0, 0.0, 0.1), description="on body 1")
    insertion = cosim.parameter(unit="m", shape=3, default=(0.0, 0.0, 0.0), description="on body 2")
    maximum_isometric_force = cosim.parameter(
        unit="N", default=1000.0, minimum=0.0, description="force at the optimal length, at rest"
    )
    optimal_length = cosim.parameter(
        unit="m", default=0.1, above=0.0, description="length of the fibres at the maximum force"
    )
    slack = cosim.parameter(unit="m", default=0.1, minimum=0.0, description="length of the tendon")
    width = cosim.parameter(unit="1", default=0.5, above=0.0, description="width of the force-length curve")
    maximum_shortening_speed = cosim.parameter(
        unit="1/s", default=10.0, above=0.0, description="speed without a load, in optimal lengths"
    )
    time_constant = cosim.parameter(
        unit="s", default=0.03, above=0.0, description="time constant of the activation"
    )
    activation = cosim.auxiliary_state(unit="1", start=0.0, description="a")
    supplied_energy = cosim.auxiliary_state(unit="J", description="work done on the bodies")
    length = cosim.output(unit="m", description="of the whole path")
    tension = cosim.output(unit="N", description="along the path")

    @cosim.kernel
    def activate(activation, excitation, time_constant, activation_dot):
        activation_dot[0] = (min(1.0, max(0.0, excitation)) - activation) / time_constant

    @cosim.kernel
    def measure(s):
        line = minus(station(s.X_GB2, s.insertion), station(s.X_GB1, s.via))
        s.length = norm(minus(s.via, s.origin)) + norm(line)

    @cosim.kernel
    def force(s):
        via = station(s.X_GB1, s.via)
        end = station(s.X_GB2, s.insertion)
        line = minus(end, via)
        distance = norm(line)
        if distance == 0.0:
            raise ValueError("insertion and via point coincide: the last piece of the path has no direction")
        velocity = minus(point_velocity(s.V_GB2, s.X_GB2, end), point_velocity(s.V_GB1, s.X_GB1, via))
        lengthening_rate = dot(line, velocity) / distance
        stretch = (s.length - s.slack) / s.optimal_length
        deviation = (stretch - 1.0) / s.width
        force_length = math.exp(-deviation * deviation)
        v = min(1.0, max(-1.0, lengthening_rate / (s.optimal_length * s.maximum_shortening_speed)))
        # 1.4 is reached at v = 1; (1 + 4) / 0.4 - 1 = 11.5 makes the slope continuous at v = 0
        force_velocity = (1.0 + v) / (1.0 - 4.0 * v) if v < 0.0 else 1.4 - 0.4 * (1.0 - v) / (1.0 + 11.5 * v)
        # 150 is about exp(5) - 1: at twice the optimal length, passive fibres pull with the maximum force
        passive = math.exp(min(10.0, 5.0 * (stretch - 1.0))) - 1.0 if stretch > 1.0 else 0.0
        tension = s.maximum_isometric_force * (s.activation * force_length * force_velocity + passive / 150.0)
        s.tension = tension
        add_force_at(s.F_GB2, s.X_GB2, end, scaled(-tension / distance, line))
        add_force_at(s.F_GB1, s.X_GB1, via, scaled(tension / distance, line))
        s.supplied_energy_dot = -tension * lengthening_rate
