"""A lead screw: a nut that a turning shaft drives along a guide."""

import math

import cosim
import cosim_mechanics


class LeadScrew(cosim_mechanics.Constraint):
    """Keeps nut = offset + lead * shaft / (2 pi) against any force on the nut.

    Law: a_nut = lead / (2 pi) a_shaft.

    The reaction passes the load of the nut on to the shaft: F lead / (2 pi).
    """

    shaft = cosim_mechanics.coordinate(description="angle of a hinge")
    nut = cosim_mechanics.coordinate(description="way of a slide")
    lead = cosim.parameter(unit="m", default="5 mm", description="way of the nut in one turn")
    offset = cosim.parameter(unit="m", default=0.0, description="way of the nut at angle 0")

    def create_constraint_equations(self, s):
        """The nut's acceleration follows the shaft's."""
        gain = self.lead / (2.0 * math.pi)
        return [s.acceleration(self.nut) - gain * s.acceleration(self.shaft)]

    @cosim.kernel
    def position_error(q_shaft, q_nut, lead, offset, position_error):
        position_error[0] = q_nut - offset - lead * q_shaft / (2.0 * math.pi)
