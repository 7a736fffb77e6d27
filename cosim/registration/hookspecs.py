"""The hooks of a plugin: signatures and what they are for, nothing else.

A plugin is a module that is named by an entry point of the group ``cosim``. The name of the entry point
is the name of the plugin and the prefix of every id that it registers. It implements any of these hooks:

    @cosim.hookimpl
    def cosim_register_force_elements(register):
        register("acme.quadratic_damper", QuadraticDamper)

Every hook is called once, when plugins are loaded, with a function ``register(id, cls)`` that checks at
once: the class derives from the base class of the hook and is not abstract, has a docstring, the id is
``<plugin>.<snake_case>`` and not taken. It raises `PluginError`; the plugin is then not loaded at all, and
the others are not affected. Plugins are loaded in order of their names, and nothing depends on the order.

A module may say ``cosim_contract = "1.0"``: the version of these contracts that it was written for.
"""

from __future__ import annotations

from typing import Protocol

import pluggy

GROUP = "cosim"
"""Group of the entry points, prefix of the hooks."""

CONTRACT_VERSION = (1, 0)
"""Version of the hooks and base classes: the major number grows when a plugin has to be changed."""

hookspec = pluggy.HookspecMarker(GROUP)
hookimpl = pluggy.HookimplMarker(GROUP)
"""Marks a function of a plugin module as the implementation of the hook of the same name."""


class Register(Protocol):
    """The function that every hook is given."""

    def __call__(self, name: str, cls: type) -> None:
        """Register `cls` under the id `name`, ``<plugin>.<snake_case>``; `PluginError` when refused."""


@hookspec
def cosim_register_components(register: Register) -> None:
    """Register components of no special kind (`cosim.Component`): bodies, fields, controllers, sources."""


@hookspec
def cosim_register_force_elements(register: Register) -> None:
    """Register force elements (`cosim.Force`, or `cosim.ForceElement` between two bodies)."""


@hookspec
def cosim_register_joints(register: Register) -> None:
    """Register joints (`cosim.Joint`)."""


@hookspec
def cosim_register_constraints(register: Register) -> None:
    """Register constraints (`cosim.Constraint`)."""


@hookspec
def cosim_register_measures(register: Register) -> None:
    """Register measures (`cosim.Measure`)."""


@hookspec
def cosim_register_integrators(register: Register) -> None:
    """Register integrators (`cosim.Integrator`)."""


@hookspec
def cosim_register_dynamics_solvers(register: Register) -> None:
    """Register solvers of the equations of motion (`cosim.DynamicsSolver`)."""


@hookspec
def cosim_register_exporters(register: Register) -> None:
    """Register exporters, which write a system to a file (`cosim.Exporter`)."""


@hookspec
def cosim_register_master_algorithms(register: Register) -> None:
    """Register co-simulation master algorithms (`cosim.MasterAlgorithm`)."""


@hookspec
def cosim_register_participants(register: Register) -> None:
    """Register kinds of participants of a co-simulation (`cosim.Participant`)."""


@hookspec
def cosim_register_result_sinks(register: Register) -> None:
    """Register result sinks, which write results to a file (`cosim.ResultSink`)."""


@hookspec
def cosim_register_commands(register: Register) -> None:
    """Register commands of the command line (`cosim.Command`)."""


@hookspec
def cosim_register_model_tables(register: Register) -> None:
    """Register readers of a table of the model file (`cosim.ModelTable`)."""


@hookspec
def cosim_register_model_readers(register: Register) -> None:
    """Register readers of model files, behind `Model.from_file` (`cosim.ModelReader`)."""
