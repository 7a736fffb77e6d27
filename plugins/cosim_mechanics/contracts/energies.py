"""States that integrate the power an element dissipates or supplies: energy balances find them by name."""

from __future__ import annotations

from typing import Any

from cosim import auxiliary_state


def dissipated_energy() -> Any:
    """The energy dissipated so far, J: ``dissipated_energy = contracts.dissipated_energy()``."""
    return auxiliary_state(
        unit="J", minimum=0.0, description="energy dissipated since the start", diagnostic=True
    )


def supplied_energy() -> Any:
    """The energy supplied from outside so far, J: ``supplied_energy = contracts.supplied_energy()``."""
    return auxiliary_state(unit="J", description="work done since the start", diagnostic=True)
