"""Base of diagonally implicit Runge–Kutta methods: everything but the tableau."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from cosim import ContractError
from cosim.kit import Capabilities, quote
from cosim_integrators.implicit.diagonal_tableau import DiagonalTableau
from cosim_integrators.implicit.diagonally_implicit import (
    diagonal_step,
    followed_diagonal_step,
    redo_diagonal_step,
)
from cosim_integrators.implicit.integrator import ImplicitIntegrator


class DiagonallyImplicitIntegrator(ImplicitIntegrator):
    """Base of diagonally implicit methods: a subclass gives its `tableau` and a docstring.

    Parameters
    ----------
    **options
        As `cosim.Integrator`.
    """

    tableau: ClassVar[DiagonalTableau]
    step_function = diagonal_step
    redo_function = redo_diagonal_step
    followed_function = followed_diagonal_step
    history = 3
    capabilities = Capabilities(adaptive=True, implicit=True, locates_kinks=True, supports_constraints=True)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        tableau = getattr(cls, "tableau", None)
        if tableau is None:
            return  # a base of others
        if not isinstance(tableau, DiagonalTableau):
            raise ContractError(f"{cls.__name__}: tableau is {quote(tableau)}, needs a DiagonalTableau(…)")
        cls.order, cls.vectors = cls.tableau.order, cls.tableau.stages
        cls.shifts = (1.0, 0.0, 0.0)
        cls.method = cls.tableau.flat()
        cls.capabilities = replace(cls.capabilities, dense_order=cls.tableau.dense_order)

    @property
    def error_order(self) -> int:
        """One more than the order of the embedded method; subclasses may have another."""
        return self.tableau.error_order + 1
