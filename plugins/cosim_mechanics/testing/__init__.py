"""The contract kit of mechanics: checks that plugin authors run on their own force elements and joints.

A test file begins with a subclass that says how the component is made; pytest runs all checks of its
kind on it::

    from cosim_mechanics.testing import ForceElementContract

    class TestQuadraticDamper(ForceElementContract):
        make = staticmethod(lambda: QuadraticDamper(damping=40.0))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cosim.testing.kit_names import kit_names

if TYPE_CHECKING:
    from cosim_mechanics.testing.constraint_contract import ConstraintContract as ConstraintContract
    from cosim_mechanics.testing.contact_contract import ContactContract as ContactContract
    from cosim_mechanics.testing.force_element_contract import ForceElementContract as ForceElementContract
    from cosim_mechanics.testing.joint_contract import JointContract as JointContract
else:
    __getattr__, __dir__ = kit_names(__name__)
