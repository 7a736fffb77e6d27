"""Mechanical energy of a model, and its balance."""

from __future__ import annotations

import cosim


class Energy(cosim.Component):
    """Kinetic, potential, dissipated and supplied energy of the whole model, and what does not balance.

    Law: each is the sum of what the parts report under the names ``kinetic_energy``, ``potential_energy``,
    ``dissipated_energy`` and ``supplied_energy``; total = kinetic + potential + dissipated, and
    residual = total - supplied, less its value when the run was initialized. Where every part reports what
    it does, the residual is zero, and its drift is the error of the integration.

    Limits
    ------
    What events, parameters that are changed during a run and parts that report nothing do to the energy
    stays in the residual.

    Stage
    -----
    REPORT: these values cost nothing while the model is integrated.

    Signals
    -------
    ``kinetic``, ``potential``, ``dissipated``, ``supplied``, ``total``, ``residual``, J.

    Examples
    --------
    >>> Energy.declarations["residual"].unit()
    'J'
    """

    moving = cosim.collect("kinetic_energy", description="kinetic energy of every part that has it")
    stored = cosim.collect("potential_energy", description="potential energy of every part that has it")
    lost = cosim.collect("dissipated_energy", description="dissipated energy of every part that has it")
    brought = cosim.collect("supplied_energy", description="supplied energy of every part that has it")
    reference = cosim.discrete(
        unit="J",
        internal=True,
        invalidates=cosim.Stage.REPORT,
        description="total - supplied at the initialization",
    )

    kinetic = cosim.output(
        unit="J", accumulates=True, description="sum of all kinetic energies", diagnostic=True
    )
    potential = cosim.output(
        unit="J", accumulates=True, description="sum of all potential energies", diagnostic=True
    )
    dissipated = cosim.output(
        unit="J", accumulates=True, description="sum of all dissipated energies", diagnostic=True
    )
    supplied = cosim.output(
        unit="J", accumulates=True, description="sum of all supplied energies", diagnostic=True
    )
    total = cosim.output(unit="J", description="kinetic + potential + dissipated", diagnostic=True)
    residual = cosim.output(
        unit="J", description="total - supplied, less its value at the start", diagnostic=True
    )

    @cosim.kernel(stage=cosim.Stage.REPORT)
    def add_kinetic(moving, kinetic):
        kinetic[0] += moving

    @cosim.kernel(stage=cosim.Stage.REPORT)
    def add_potential(stored, potential):
        potential[0] += stored

    @cosim.kernel(stage=cosim.Stage.REPORT)
    def add_dissipated(lost, dissipated):
        dissipated[0] += lost

    @cosim.kernel(stage=cosim.Stage.REPORT)
    def add_supplied(brought, supplied):
        supplied[0] += brought

    @cosim.kernel(stage=cosim.Stage.REPORT)
    def add_up(kinetic, potential, dissipated, supplied, reference, total, residual):
        total[0] = kinetic + potential + dissipated
        residual[0] = kinetic + potential + dissipated - supplied - reference

    @cosim.on(cosim.EventCause.INITIALIZATION, does="discrete")
    @cosim.kernel
    def _start(total, supplied, reference_next):
        reference_next[0] = total - supplied
