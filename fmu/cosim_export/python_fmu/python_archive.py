"""The archive of an FMU that runs in a Python interpreter, built by pythonfmu and completed here."""

from __future__ import annotations

import json
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

import cosim
from cosim_export.interface.archive import read_archive, write_archive
from cosim_export.interface.documentation import (
    external_dependencies,
    license_entry,
    needs_of_python,
)
from cosim_export.interface.exported_interface import ExportedInterface
from cosim_export.interface.icon import icon
from cosim_export.interface.model_description import CAPABILITIES, finish_model_description
from cosim_export.python_fmu import slave
from cosim_export.python_fmu.bundle import Bundle
from cosim_export.python_fmu.installed_pythonfmu import binaries, installed_pythonfmu
from cosim_export.python_fmu.libpython import link_libpython
from cosim_export.python_fmu.patched_library import answers_errors, patch_library

DESCRIPTION = "modelDescription.xml"
SCRIPT = '''"""The script that pythonfmu loads as a module, and runs again at each instantiation."""

from importlib import import_module

code = import_module("{code}")
Slave = globals().get("Slave") or code.create_slave_class()
code.released_by_pythonfmu.append(globals())
'''


def whole_manifest(
    bundle: Bundle, name: str, instance: str = "cosim_export.python_fmu.exported_system:ExportedSystem"
) -> dict[str, Any]:
    """The facts that the FMU checks before it imports anything.

    Parameters
    ----------
    bundle : Bundle
    name : str
        The name of the model.
    instance : str
        Module and class of the instance that answers calls.
    """
    return {**bundle.manifest(name), "answers_errors": _patched_platforms(), "instance": instance}


def write_python_fmu(
    target: Path,
    files: Mapping[str, bytes],
    bundle: Bundle,
    interface: ExportedInterface,
    page: str,
    libpython: str | None = None,
    abilities: Mapping[str, str] = CAPABILITIES,
) -> None:
    """Write the FMU; the same arguments give the same bytes.

    Parameters
    ----------
    target : Path
    files : mapping of str to bytes
        Files of the model by their names in the folder ``resources``, with the manifest (`whole_manifest`).
    bundle : Bundle
    interface : ExportedInterface
    page : str
        ``documentation/index.html``.
    libpython : str, optional
        As for `PythonFmuExporter.export`.
    abilities : mapping of str to str
        Attributes of the element CoSimulation.
    """
    built = _build(files, bundle, interface)
    archive = {
        name: _finish_library(data, libpython)
        if name.startswith("binaries/") and name.endswith(".so")
        else data
        for name, data in built.items()
    }
    licences = bundle.licences()
    archive |= {"documentation/index.html": page.encode(), "model.png": icon(), **licences}
    archive |= license_entry(interface.about, licences)
    archive |= external_dependencies(needs_of_python(json.loads(files[slave.MANIFEST])))
    begun = archive.pop(DESCRIPTION)
    tool = f"cosim-framework {cosim.__version__}"
    without_guid = {**archive, DESCRIPTION: finish_model_description(begun, interface, tool, "", abilities)}
    guid = f"{{{uuid.UUID(bytes=_digest(without_guid)[:16])}}}"
    archive[DESCRIPTION] = finish_model_description(begun, interface, tool, guid, abilities)
    ours = {f"resources/{name}" for package in bundle.ours for name in bundle.packages[package].files}
    # level 4 takes half the time of level 6, and the archive is 3 % larger
    write_archive(target, archive, level=4, shared=ours)


def _patched_platforms() -> list[str]:
    """Platforms on which the library of the pythonfmu installed here answers an exception by fmi2Error."""
    with installed_pythonfmu() as pythonfmu:
        libraries = binaries(pythonfmu).glob("*/*.so")
        return sorted({p.parent.name for p in libraries if answers_errors(p.read_bytes())})


def _build(
    files_of_model: Mapping[str, bytes], bundle: Bundle, interface: ExportedInterface
) -> dict[str, bytes]:
    """The archive that pythonfmu makes around our resources; building it instantiates the model once.

    First this process imports all packages that it can: otherwise the instance would import them from a
    temporary folder, and they would stay in the process when the folder is removed. Their files are added to
    the archive afterwards, since nothing reads them before.
    """
    for package in bundle.packages:
        with suppress(Exception):  # the instance imports it again, and reports the error
            import_module(package)
    carried = {package.name: package.files for package in bundle.packages.values()}
    code = Path(slave.__file__).read_bytes()
    everything = {
        **files_of_model,
        **{name: data for files in carried.values() for name, data in files.items()},
    }
    name = f"cosim_slave_{_digest({**everything, '': code + SCRIPT.encode()})[:8].hex()}"
    added_later = {entry for package, files in carried.items() if package in sys.modules for entry in files}
    resources = {entry: data for entry, data in everything.items() if entry not in added_later}
    scripts = {f"{name}.py": SCRIPT.format(code=f"{name}_code").encode(), f"{name}_code.py": code}
    with tempfile.TemporaryDirectory(prefix="cosim_export_") as folder:
        staging = Path(folder) / "resources"
        for entry, content in {**resources, **scripts}.items():
            staged = staging / entry
            staged.parent.mkdir(parents=True, exist_ok=True)
            staged.write_bytes(content)
        script_file = staging / f"{name}.py"
        with installed_pythonfmu() as pythonfmu, _without_scripts(name):
            built = pythonfmu.FmuBuilder.build_FMU(
                script_file,
                dest=Path(folder) / f"{interface.identifier}.fmu",
                project_files=[p for p in staging.iterdir() if p != script_file],
            )
        added = {f"resources/{entry}": everything[entry] for entry in added_later}
        return {**read_archive(built), **added}


def _finish_library(library: bytes, libpython: str | None) -> bytes:
    patched = patch_library(library)
    return patched if libpython is None else link_libpython(patched, libpython)


@contextmanager
def _without_scripts(module: str) -> Iterator[None]:
    """Let pythonfmu import the new scripts, not those of an equal FMU in this process, which are restored."""
    names = (module, f"{module}_code")
    running = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    try:
        yield
    finally:
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(running)


def _digest(files: Mapping[str, bytes]) -> bytes:
    digest = sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{len(files[name])}\0".encode())
        digest.update(files[name])
    return digest.digest()
