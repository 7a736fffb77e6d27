"""The exporter of FMUs that run Python (pythonfmu)."""

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
from cosim_export.python_fmu.libpython import patchelf_for
from cosim_export.python_fmu.python_archive import whole_manifest, write_python_fmu
from cosim_export.python_fmu.recording_registry import RecordingRegistry
from cosim_export.python_fmu.slave import MANIFEST

KIND = "FMI 2.0 Co-Simulation, with its own integrator"


@dataclass(frozen=True, kw_only=True)
class PythonFmuOptions(FmuOptions):
    """Options of FMUs that run Python.

    Attributes
    ----------
    libpython : str, optional
        Name of the libpython that the library for Linux loads ("libpython3.11.so.1.0"): hosts that are not
        Python programs can then load the FMU, and only Python of this minor version.
    """

    libpython: str | None = None


class PythonFmuExporter(FmuExporter):
    """Writes a model as an FMU for FMI 2.0 Co-Simulation that runs in a Python interpreter (pythonfmu).

    The FMU contains the model as data, the packages of cosim and of the plugins that it uses, and a list of
    the classes in use: no plugins are discovered where it runs. NumPy and the other packages that those
    import must be installed there; llvmlite may be missing, which makes the FMU slower and changes no bit.

    Every scalar is a variable with its unit. Parameters are tunable, inputs are held over a step, a saved FMU
    state is the whole State. Elements of vectors count from 1 in the FMU (``strut.stiffness[4]``) and from 0
    in the selections of an export, as everywhere in Python. A tolerance of the environment overrides
    `accuracy`.

    The same model gives the same bytes; the identifier (guid) is a digest of the content.

    pythonfmu 0.7 causes these limits:

    - On Linux a host that is not a Python program needs ``LD_PRELOAD=libpython3.X.so``, unless the option
      `libpython` is set.
    - If the library is not patched (`patch_library`), an error in any call but fmi2DoStep is logged, and the
      next fmi2DoStep answers "discard".
    - There are no directional derivatives.

    All errors are also reported to the Python logger ``cosim.fmu``.

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
        naming = Naming.of(choices.naming, choices.names)
        if choices.libpython is not None:
            patchelf_for(choices.libpython)  # fails early, before the work is done
        check_parts(model)
        with closing(RecordingRegistry(cosim.registry())) as registry:
            with use_registry(registry):
                data = _model_data(model)
                rebuilt = cosim.Model.from_dict(data)
                system = rebuilt.build()
                variables = select_variables(system, **choices.selections)
                hidden = count_hidden(system, variables)
                variables = naming.renamed(variables)
                interface = ExportedInterface.of_model(
                    model, variables, choices.settings(model), naming=naming.kind
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
            resumes_exactly = simulator.integrator.capabilities.resumes_exactly
            page = documentation(rebuilt, interface, KIND, needs_of_python(manifest), resumes_exactly)
            files = {name: text.encode() for name, text in resources.items()}
            write_python_fmu(target, files, bundle, interface, page, choices.libpython)
        return self.report(target, "FMU that runs Python (FMI 2.0 Co-Simulation)", interface, hidden)


def _model_data(model: cosim.Model) -> dict[str, Any]:
    """The data of the model after a round trip through JSON."""
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
