"""What integrators are made of: base classes, tableaux, stages, step control, dense output.

Public: a package that brings integrators of its own imports from here. ``ExplicitRungeKutta`` needs a
tableau and a docstring; ``CompiledIntegrator`` is for other methods whose steps are kernel functions. The
modules of this package hold the kernel functions that such steps are made of.
"""

from cosim_integrators.kit.butcher_tableau import ButcherTableau as ButcherTableau
from cosim_integrators.kit.compiled_integrator import CompiledIntegrator as CompiledIntegrator
from cosim_integrators.kit.dense_lu import lu_factor as lu_factor
from cosim_integrators.kit.dense_lu import lu_solve as lu_solve
from cosim_integrators.kit.explicit_runge_kutta import ExplicitRungeKutta as ExplicitRungeKutta
