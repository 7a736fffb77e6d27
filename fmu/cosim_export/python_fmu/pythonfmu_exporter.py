"""The exporter behind `Model.export_fmu`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import cosim
from cosim.kit import ExportReport, RegisteredClass, Registry, use_registry
from cosim_export.interface.archive import check_place
from cosim_export.interface.documentation import documentation, needs_of_python
from cosim_export.interface.exported_interface import ExportedInterface
from cosim_export.interface.fmu_exporter import FmuExporter, check_parts
from cosim_export.interface.fmu_options import FmuOptions
from cosim_export.interface.hidden_variables import count_hidden
from cosim_export.interface.names import Naming
from cosim_export.interface.select_variables import select_variables
from cosim_export.python_fmu.bundle import Bundle
from cosim_export.python_fmu.exported_system import MODEL
from cosim_export.python_fmu.hosted_instance import INTERFACE, REGISTRY
from cosim_export.python_fmu.python_archive import whole_manifest, write_python_fmu
from cosim_export.python_fmu.pythonfmu_library import patchelf_for
from cosim_export.python_fmu.slave import MANIFEST
from cosim_export.python_fmu.typed_class import TYPED, TypedClass


class RecordingRegistry(Registry):
    """A registry with the entries of another one, which records the entries that were looked up.

    A component class that no plugin registered is known by where it is defined, as long as another
    process can import it from there; one that was typed into a notebook or a script gets a module
    (`TypedClass`), which is there until `close`.

    Parameters
    ----------
    base : Registry

    Attributes
    ----------
    used : dict of (str, str) to RegisteredClass
        By kind and id.
    """

    def __init__(self, base: Registry) -> None:
        super().__init__(base.plugins)
        self.used: dict[tuple[str, str], RegisteredClass] = {}
        self._unregistered: dict[str, RegisteredClass] = {}
        self._typed: dict[type, TypedClass] = {}

    def close(self) -> None:
        """Forget the modules of classes that were typed."""
        for typed in self._typed.values():
            typed.close()

    def entry(self, kind: str, id: str) -> RegisteredClass:
        """The entry, which is remembered."""
        entry = self._unregistered.get(id) if kind == "component" else None
        entry = entry or super().entry(kind, id)
        self.used[kind, id] = entry
        return entry

    def owner(self, cls: type) -> RegisteredClass:
        """The entry of a class, made up for a component class that no plugin registered."""
        registered = self.registered(cls)
        if registered is not None or not issubclass(cls, cosim.Component):
            return registered or super().owner(cls)
        name = f"{cls.__module__}:{cls.__qualname__}"
        if "." in cls.__qualname__:
            text = (
                "the class is defined in a function or in a class, where another process cannot import it: "
                "define it at the top of a module."
            )
            raise cosim.ModelError.of(name, text)
        if cls.__module__ == TYPED:
            typed = self._typed.get(cls) or TypedClass(cls)
            self._typed[cls], cls = typed, typed.cls
            name = f"{cls.__module__}:{cls.__qualname__}"
        entry = RegisteredClass(name, cls, "", "", "")
        self._unregistered[name] = entry
        return entry


KIND = "FMI 2.0 Co-Simulation, with its own integrator"


@dataclass(frozen=True, kw_only=True)
class PythonFmuOptions(FmuOptions):
    """Options of FMUs that run Python.

    Attributes
    ----------
    libpython : str, optional
        Name of the libpython that the library for Linux brings with it ("libpython3.11.so.1.0"): hosts
        that are no Python program can load it, and only Python of this minor version.
    """

    libpython: str | None = None


class PythonFmuExporter(FmuExporter):
    """Writes a model as an FMU for FMI 2.0 Co-Simulation that runs in a Python interpreter (pythonfmu).

    The FMU holds the model as data, the packages of ours and of the plugins that it uses, and a list of
    the classes in use: nothing is discovered where it runs. NumPy and what else those packages import
    has to be installed there; llvmlite may be missing, which makes it slower and changes no bit.

    Every scalar is a variable with its unit. Parameters are tunable, inputs are held over a step, a saved
    FMU state is the whole State. Elements of vectors count from 1 in the FMU (``strut.stiffness[4]``) and
    from 0 in the selections given here, as everywhere in Python. The tolerance that an environment gives
    takes the place of `accuracy`.

    The same model gives the same bytes; the identifier (guid) is a digest of the content.

    Limits, which are those of pythonfmu 0.7: on Linux a host that is not a Python program needs
    ``LD_PRELOAD=libpython3.X.so``, unless `libpython` was given; where its library is not mended
    (`patch_library`), what is wrong in any call but fmi2DoStep is logged and the next fmi2DoStep answers
    "discard"; no directional derivatives.
    Everything wrong is also reported to the Python logger ``cosim.fmu``.

    References
    ----------
    Functional Mock-up Interface 2.0.4, chapters 2 and 4. pythonfmu 0.7.0.
    """

    options: ClassVar[type[FmuOptions]] = PythonFmuOptions

    def export(self, model: cosim.Model, path: str | PathLike[str], **options: Any) -> ExportReport:
        """Write the FMU; see `PythonFmuOptions`.

        Examples
        --------
        ``model.export_fmu("engine_mount.fmu", outputs=["engine.z", "felt"], step_size=1e-3)``
        """
        target, choices = Path(path), PythonFmuOptions.of(options)
        check_place(target, ".fmu")
        called = Naming.of(choices.naming, choices.names)
        if choices.libpython is not None:
            patchelf_for(choices.libpython)  # else it is missed when all is done
        check_parts(model)
        with closing(RecordingRegistry(cosim.registry())) as registry:
            with use_registry(registry):
                data = _model_data(model)
                rebuilt = cosim.Model.from_dict(data)
                system = rebuilt.build()
                variables = select_variables(system, **choices.selections)
                hidden = count_hidden(system, variables)
                variables = called.renamed(variables)
                interface = ExportedInterface.of_model(
                    model, variables, choices.settings(model), naming=called.kind
                )
                simulator = cosim.Simulator(
                    system,
                    integrator=interface.integrator,
                    accuracy=interface.accuracy,
                    **interface.integrator_options,
                )
            bundle = Bundle(tuple(registry.used.values()), tuple(_all_entries(registry)))
            manifest = whole_manifest(bundle, model.name)
            resources = {
                MANIFEST: _json(manifest),
                MODEL: _json(data),
                INTERFACE: interface.to_json(),
                REGISTRY: _json([e.to_dict() for _, e in sorted(registry.used.items())]),
            }
            resumes = simulator.integrator.capabilities.resumes_exactly
            page = documentation(rebuilt, interface, KIND, needs_of_python(manifest), resumes)
            files = {name: text.encode() for name, text in resources.items()}
            write_python_fmu(target, files, bundle, interface, page, choices.libpython)
        return self.report(target, "FMU that runs Python (FMI 2.0 Co-Simulation)", interface, hidden)


def _model_data(model: cosim.Model) -> dict[str, Any]:
    """The model as it comes back from JSON."""
    data = model.to_dict()
    try:
        returned: dict[str, Any] = json.loads(_json(data))
    except (TypeError, ValueError) as error:
        raise cosim.ModelError.of(
            model.name,
            f"it cannot be written as JSON ({error}), which an FMU needs: give parts numbers, text, lists.",
        ) from error
    return returned


def _json(data: Any) -> str:
    return json.dumps(data, indent=1, sort_keys=True, allow_nan=False)


def _all_entries(registry: Registry) -> Iterator[RegisteredClass]:
    for record in registry.plugins:
        yield from record.entries
