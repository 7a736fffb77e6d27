"""The selection of plugins by the environment."""

from __future__ import annotations

from collections.abc import Mapping

ONLY = "COSIM_PLUGINS"
NO_AUTOLOAD = "COSIM_DISABLE_PLUGIN_AUTOLOAD"


def selection(environment: Mapping[str, str]) -> set[str] | None:
    """Names of the only plugins that the environment wants, None when it wants all.

    ``COSIM_PLUGINS=a,b`` loads these and no others; ``COSIM_DISABLE_PLUGIN_AUTOLOAD=1`` none but these.

    Examples
    --------
    >>> selection({}), selection({"COSIM_PLUGINS": "a,"}), selection({"COSIM_DISABLE_PLUGIN_AUTOLOAD": "1"})
    (None, {'a'}, set())
    """
    names = {name.strip() for name in environment.get(ONLY, "").split(",") if name.strip()}
    return names if names or environment.get(NO_AUTOLOAD, "") not in ("", "0") else None
