"""The contracts of mechanics: what joints, force elements, constraints and dynamics solvers derive from.

Public: plugins that bring such classes of their own import from here, or the same names from
`cosim_mechanics`.
"""

from typing import TYPE_CHECKING

import cosim.kit

if TYPE_CHECKING:
    from cosim_mechanics.contracts.bodies_attachment import bodies as bodies
    from cosim_mechanics.contracts.body_attachment import body as body
    from cosim_mechanics.contracts.constraint import Constraint as Constraint
    from cosim_mechanics.contracts.contact import Contact as Contact
    from cosim_mechanics.contracts.coordinate_attachment import coordinate as coordinate
    from cosim_mechanics.contracts.dynamics_solver import DynamicsSolver as DynamicsSolver
    from cosim_mechanics.contracts.energies import dissipated_energy as dissipated_energy
    from cosim_mechanics.contracts.energies import supplied_energy as supplied_energy
    from cosim_mechanics.contracts.force import Force as Force
    from cosim_mechanics.contracts.force_contribution import ForceContribution as ForceContribution
    from cosim_mechanics.contracts.force_element import ForceElement as ForceElement
    from cosim_mechanics.contracts.joint import Joint as Joint
    from cosim_mechanics.contracts.law import Law as Law
    from cosim_mechanics.contracts.surfaces import Surfaces as Surfaces
else:
    __getattr__, __dir__ = cosim.kit.late_names(__name__)
