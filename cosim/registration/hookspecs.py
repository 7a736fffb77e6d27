"""The hook of a plugin: its signature and what it is for, nothing else.

A plugin is a module that is named by an entry point of the group ``cosim``. The name of the entry point
is the name of the plugin and the prefix of every id that it registers. It has one hook:

    @cosim.hookimpl
    def cosim_register(register):
        register("acme.quadratic_damper", QuadraticDamper)

A module may say ``cosim_contract = "1.0"``: the version of these contracts that it was written for.
"""

from __future__ import annotations

from typing import Protocol

import pluggy

GROUP = "cosim"
"""Group of the entry points, prefix of the hook."""

HOOK = "cosim_register"

CONTRACT_VERSION = (1, 0)
"""Version of the hook and base classes: the major number grows when a plugin has to be changed."""

hookspec = pluggy.HookspecMarker(GROUP)
hookimpl = pluggy.HookimplMarker(GROUP)
"""Marks the function `cosim_register` of a plugin module as its hook."""


class Register(Protocol):
    """The function that the hook is given."""

    def __call__(self, name: str, cls: type) -> None:
        """Register `cls` under the id `name`, ``<plugin>.<snake_case>``; `PluginError` when refused."""


@hookspec
def cosim_register(register: Register) -> None:
    """Register whatever the plugin brings; called once, when plugins are loaded.

    The kind of a class follows from its base: `cosim.Component`, `cosim.Measure`, `cosim.Integrator`,
    `cosim.Command` … or a base class that a plugin declares with `cosim.plugin_kind`. ``register(id, cls)``
    checks at once that there is such a base, that the class is not abstract and has a docstring, and that
    the id is ``<plugin>.<snake_case>``. It raises `PluginError`; the plugin is then not loaded at all, and
    the others are not affected. Of two classes of one kind under one id neither is registered; the rest of
    the plugin is. Plugins are loaded in order of their names, and nothing depends on the order.
    """
