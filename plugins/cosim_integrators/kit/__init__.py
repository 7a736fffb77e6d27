"""Parts of integrators: base classes, tableaux, stages, step control, dense output.

Public: a package that brings integrators of its own imports from here.

======================= ===================================================================================
explicit                `ExplicitRungeKutta` needs a `ButcherTableau` and a docstring
diagonally implicit     `DiagonallyImplicitIntegrator` needs a `DiagonalTableau` and a docstring
other implicit methods  `ImplicitStepIntegrator`: a step is one kernel function (Rosenbrock, multistep …) of
                        `evaluate`, `differentiate_by_time`, `factor_matrix`, `solve_with_matrix` and
                        `solve_implicit`
anything else           `CompiledIntegrator`: its step, its step taken again and its dense output are kernel
                        functions
equations               `lu_factor` and `lu_solve`
======================= ===================================================================================

The modules of this package hold the kernel functions that such steps are made of.
"""

from typing import TYPE_CHECKING

import cosim.kit

if TYPE_CHECKING:
    from cosim_integrators.implicit.diagonal_tableau import DiagonalTableau as DiagonalTableau
    from cosim_integrators.implicit.diagonally_implicit_integrator import (
        DiagonallyImplicitIntegrator as DiagonallyImplicitIntegrator,
    )
    from cosim_integrators.implicit.implicit_step_integrator import (
        ImplicitStepIntegrator as ImplicitStepIntegrator,
    )
    from cosim_integrators.implicit.implicit_step_integrator import (
        differentiate_by_time as differentiate_by_time,
    )
    from cosim_integrators.implicit.implicit_step_integrator import evaluate as evaluate
    from cosim_integrators.implicit.implicit_step_integrator import factor_matrix as factor_matrix
    from cosim_integrators.implicit.implicit_step_integrator import solve_implicit as solve_implicit
    from cosim_integrators.implicit.implicit_step_integrator import solve_with_matrix as solve_with_matrix
    from cosim_integrators.kit.butcher_tableau import ButcherTableau as ButcherTableau
    from cosim_integrators.kit.compiled_integrator import CompiledIntegrator as CompiledIntegrator
    from cosim_integrators.kit.dense_lu import lu_factor as lu_factor
    from cosim_integrators.kit.dense_lu import lu_solve as lu_solve
    from cosim_integrators.kit.explicit_runge_kutta import ExplicitRungeKutta as ExplicitRungeKutta
else:
    __getattr__, __dir__ = cosim.kit.late_names(__name__)
