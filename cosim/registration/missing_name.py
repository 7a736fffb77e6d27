"""The message for a name that a package does not have: where it is, or what is meant."""

from __future__ import annotations

import sys

TYPE_CHECKING = bool(0)
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import FrameType

    from cosim.registration.plugin_record import RegisteredClass

OF_OTHERS = {
    **dict.fromkeys(
        ("load", "load_model", "read_model", "read", "open", "from_file", "from_toml"),
        "cosim.Model.from_file('model.toml')",
    ),
    **dict.fromkeys(("run", "solve", "integrate", "simulate_model"), "model.simulate(until=2.0)"),
    "plot": "result.plot('part.signal')",
    "export_fmu": "model.export_fmu('model.fmu')",
    "load_result": "cosim.read_result('result.csv')",
    "load_fmu": "cosim_fmu.CoSimulation({'plant': 'plant.fmu'}, [])",
    "cosimulate": "cosim_fmu.CoSimulation({'plant': 'plant.fmu', …}, […]).simulate(until=2.0)",
    "Study": "from cosim_workbench.studies import Study",
    **{word: f"import cosim_{word}" for word in ("mechanics", "signals", "measures", "integrators", "fmu")},
}
"""What people look for in ``cosim`` by the names of other programs, and what to write."""
_is_searching = False


class MissingNameError(AttributeError):
    """A package has no such name; the text is made when it is read."""

    def __init__(self, package: str, missing: str, known: Iterable[str]) -> None:
        super().__init__(package, missing)
        self.package, self.missing, self.known = package, missing, list(known)

    def __str__(self) -> str:
        return sentence(self.package, self.missing, self.known)


class MissingImportError(ImportError):
    """``from package import name`` of a name that the package does not have."""


def missing_name(package: str, name: str, known: Iterable[str], frame: FrameType) -> Exception:
    """The error for a name that a package does not have, asked for in this frame.

    An `AttributeError` in an import statement is answered by Python with a sentence of its own, so that one
    is an `ImportError`.
    """
    if name.startswith("_") or not _imports(frame):
        return MissingNameError(package, name, known)
    return MissingImportError(sentence(package, name, known), name=name)


def _imports(frame: FrameType) -> bool:
    """Whether a frame is at ``from … import …``."""
    import dis

    return dis.opname[frame.f_code.co_code[frame.f_lasti]] == "IMPORT_FROM"


def sentence(package: str, name: str, names: Iterable[str]) -> str:
    """The message for a missing name, with what to write.

    Examples
    --------
    >>> sentence("cosim", "Multibody", ["Model"])
    "module 'cosim' has no 'Multibody': write `from cosim_mechanics import Multibody`"
    >>> sentence("cosim", "RungeKuttaMerson", ["Model"])
    "module 'cosim' has no 'RungeKuttaMerson': it is registered: write 'integrators.runge_kutta_merson'"
    >>> sentence("cosim", "load_model", ["Model"])
    "module 'cosim' has no 'load_model': write `cosim.Model.from_file('model.toml')`"
    """
    fault = f"module {package!r} has no {name!r}"
    if name.startswith("_"):
        return fault
    from cosim_compiler.nearest import nearest_names

    if package == "cosim" and name in OF_OTHERS:
        return f"{fault}: write `{OF_OTHERS[name]}`"
    if places := _packages_with(package, name):
        return f"{fault}: write {' or '.join(f'`from {place} import {name}`' for place in places)}"
    if id := _id_of_class(name):
        return f"{fault}: it is registered: write '{id}'"
    near = nearest_names(name, names := sorted(names))
    return f"{fault}: {'nearest' if near else 'there are'} {', '.join(near or names)}"


def _packages_with(package: str, name: str) -> list[str]:
    """Public packages of plugins, and of cosim, that have the name."""
    import importlib

    entries = _entries_of_plugins()
    tops = dict.fromkeys(entry.target.partition(":")[0].partition(".")[0] for entry in entries)
    packages = []
    for place in ("cosim", "cosim.kit", *tops):
        try:
            module = sys.modules.get(place) or importlib.import_module(place)
        except Exception:  # whatever the module of a plugin does
            continue
        if place != package and name in dir(module):
            packages.append(place)
    return packages


def _entries_of_plugins() -> list[RegisteredClass]:
    """The registrations of plugins; none while they load: a missing name may be a plugin's fault."""
    global _is_searching
    if _is_searching:
        return []
    from cosim.registration.registry import registry

    _is_searching = True
    try:
        return [entry for plugin in registry().plugins for entry in plugin.entries]
    finally:
        _is_searching = False


def _id_of_class(name: str) -> str:
    """Under which id a class of this name is registered; empty where none is."""
    return next((entry.id for entry in _entries_of_plugins() if entry.target.rpartition(":")[2] == name), "")
