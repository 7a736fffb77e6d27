"""The code inside an exported FMU: it checks its environment, and answers pythonfmu's calls.

The text of this one file is copied into the FMU under a unique name, since Python keeps one module of a name
in a process; a script beside it makes the class. So it uses only the standard library until the checks are
done. After them our packages are those that the process has loaded, if they are the same, or the installed
ones, if they are identical, or else those in the FMU.

pythonfmu 0.7 turns an exception that leaves any method into a fatal status and then frees its objects twice,
which crashes some hosts. If its library is patched (see `patch_library`), an exception is only an error
status. Otherwise only the constructor raises, and only if there is no instance yet: all other errors are
logged, and the next step answers "discard".
"""

from __future__ import annotations

import _imp
import os
import sys
from importlib.machinery import ExtensionFileLoader, ModuleSpec


def share_libpython() -> None:
    """Make the symbols of Python visible to extension modules if the host is not a Python program.

    Such a host loads pythonfmu's library, and libpython with it, with symbols that only this library sees;
    extension modules, which do not name libpython, then lack its symbols. The remedy is to load libpython
    again with global symbols. ctypes could do that but is such a module itself; the loader of extension
    modules can, too.
    """
    try:
        import _ctypes  # noqa: F401
    except ImportError:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            libraries = {line.split(maxsplit=5)[-1].strip() for line in maps if "/libpython3" in line}
        flags = sys.getdlopenflags()
        sys.setdlopenflags(flags | os.RTLD_GLOBAL)
        try:
            for path in libraries:
                loader = ExtensionFileLoader("libpython", path)
                _imp.create_dynamic(ModuleSpec("libpython", loader, origin=path))
        except ImportError:  # it is not an extension module, but it is loaded
            pass
        finally:
            sys.setdlopenflags(flags)


if sys.platform.startswith("linux"):
    share_libpython()

import gc  # noqa: E402
import importlib.metadata  # noqa: E402
import importlib.util  # noqa: E402
import json  # noqa: E402
import linecache  # noqa: E402
import logging  # noqa: E402
import traceback  # noqa: E402
from collections.abc import Callable, Iterable, Iterator, Sequence  # noqa: E402
from contextlib import contextmanager  # noqa: E402
from functools import partialmethod  # noqa: E402
from hashlib import sha256  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

MANIFEST = "manifest.json"
FRAMEWORK = "cosim"
STAMP = "__cosim_fmu__"
SELF_EXPLAINING = ("StateError", "LookUpError")
"""Errors of ours that the caller causes, if they have no other cause; they need no traceback."""

released_by_pythonfmu: list[dict[str, Any]] = []
"""References to the script's namespace, one for each instantiation: pythonfmu releases one too many."""


class RefusalError(Exception):
    """The reason why an FMU refuses a call; pythonfmu logs its `repr`, which is therefore the plain text."""

    def __repr__(self) -> str:
        return _loggable(str(self))


def answers_errors(resources: Path) -> bool:
    """Whether the library that this process runs answers an exception by fmi2Error: see `patch_library`."""
    manifest = json.loads((resources / MANIFEST).read_text("utf-8"))
    return sys.platform.startswith("linux") and "linux64" in manifest["answers_errors"]


def package_digest(source: Path) -> str:
    """SHA-256 of the Python files of a package or of a module, with their relative paths."""
    files = source_files(source)
    return digest_of((path.relative_to(source.parent).as_posix(), path.read_bytes()) for path in files)


def digest_of(files: Iterable[tuple[str, bytes]]) -> str:
    """SHA-256 of names and contents."""
    digest = sha256()
    for name, content in files:
        digest.update(name.encode() + b"\0")
        digest.update(content + b"\0")
    return digest.hexdigest()


def source_files(source: Path) -> list[Path]:
    """The Python files of a package or module, sorted, without caches and files for tests."""
    if source.is_file():
        return [source]
    files = [path for path in source.rglob("*.py") if not is_left_out(path.relative_to(source.parent))]
    return sorted(files, key=lambda path: path.relative_to(source).as_posix())


def is_left_out(path: Path) -> bool:
    """Whether a file of a package, relative to the folder that holds the package, stays out of an FMU."""
    is_ours = path.parts[0].partition("_")[0] == FRAMEWORK
    is_kit = is_ours and path.parts[1:2] == ("testing",)
    is_text = is_ours and path.match("shipped/texts-*")  # only the export of native FMUs reads them
    return "__pycache__" in path.parts or is_kit or is_text or path.suffix == ".pyc"


def create_instance(resources: Path) -> Any:
    """Check the process, load the packages and create the instance from the files in `resources`.

    The manifest names the class of the instance: `ExportedSystem` for a model, or another one with its
    methods.

    Parameters
    ----------
    resources : Path
        The folder ``resources`` of the unpacked FMU.

    Raises
    ------
    RefusalError
        Everything that is missing or conflicts, in one text.
    """
    manifest = json.loads((resources / MANIFEST).read_text("utf-8"))
    _check_process(manifest)
    present = {row["name"] for row in manifest["packages"] if row["name"] in sys.modules}
    for name in present:
        _restore_path(name, resources)
    with _search_path(resources, [r for r in manifest["packages"] if r["name"] not in present]):
        for row in manifest["packages"]:
            module = importlib.import_module(row["name"])
            if row["name"] not in present:
                setattr(module, STAMP, (row["version"], row["digest"]))
        module, _, name = manifest["instance"].partition(":")
        instance = getattr(importlib.import_module(module), name)(resources)
    _keep_sources(resources)
    return instance


def _check_process(manifest: dict[str, Any]) -> None:
    """Raise all conflicts between this process and the manifest together."""
    problems = []
    oldest = tuple(manifest["python"])
    if sys.version_info[:2] < oldest:
        problems.append(
            f"Python {_dotted(oldest)} or newer is needed, this is {_dotted(sys.version_info[:3])}."
        )
    missing = [row for row in manifest["requires"] if not _can_import(row["name"])]
    if missing:
        shown = ", ".join(f"{row['distribution']} (exported with {row['version']})" for row in missing)
        install = " ".join(row["distribution"] for row in missing)
        problems.append(
            f"Python packages are missing in {sys.prefix}: {shown}. Install them there: pip install {install}"
        )
    framework = next(row for row in manifest["packages"] if row["name"] == FRAMEWORK)
    for row in manifest["packages"]:
        if row is framework or row["distribution"] != framework["distribution"]:
            problems += _conflict(row)
    if problems:
        head = f"The FMU '{manifest['model']}' cannot run in this process."
        raise RefusalError(" ".join([head, *problems]))


def _dotted(version: Sequence[int]) -> str:
    return ".".join(map(str, version))


def _can_import(name: str) -> bool:
    try:
        return name in sys.modules or importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _conflict(row: dict[str, str]) -> list[str]:
    """Why the package of this name that the process has loaded conflicts with the one of the FMU."""
    module = sys.modules.get(row["name"])
    if module is None:
        return []
    version, digest = getattr(module, STAMP, None) or (_version(module, row), "")
    if row["version"]:
        is_same = version == row["version"]
    else:
        version = digest = digest or _digest_of(module)
        is_same = digest == row["digest"]
    if is_same:
        return []
    made_with = row["version"] or f"a version with the digest {row['digest'][:12]}"
    loaded = (version if row["version"] else version[:12]) or "unknown"
    return [
        f"The FMU was made with {row['name']} {made_with}, but this process holds {row['name']} {loaded} "
        f"already ({getattr(module, '__file__', None)}), and a process can hold only one. Run this FMU in a "
        "process of its own, or export the FMUs again with one version."
    ]


def _version(module: Any, row: dict[str, str]) -> str:
    """Version of a loaded package."""
    if row["name"] == FRAMEWORK:
        return str(getattr(module, "__version__", ""))
    try:
        return importlib.metadata.version(row["distribution"])
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return str(getattr(module, "__version__", ""))


def _source_of(file: str | None) -> Path | None:
    """Folder of a package or file of a module."""
    if file is None:
        return None
    path = Path(file)
    return path.parent if path.name == "__init__.py" else path


def _digest_of(module: Any) -> str:
    source = _source_of(getattr(module, "__file__", None))
    return package_digest(source) if source is not None and source.exists() else ""


@contextmanager
def _search_path(resources: Path, packages: list[dict[str, str]]) -> Iterator[None]:
    """Put `resources` first in ``sys.path``, or last if no other versions of the packages are installed."""
    entries = list(sys.path)
    folder = str(resources)
    other_folders = [entry for entry in entries if entry != folder]
    sys.path[:] = other_folders
    try:
        may_be_last = all(_is_harmless(row) for row in packages)
        sys.path[:] = [*other_folders, folder] if may_be_last else [folder, *other_folders]
        importlib.invalidate_caches()
        yield
    finally:
        sys.path[:] = entries


def _is_harmless(row: dict[str, str]) -> bool:
    """Whether the environment has an identical package of this name, or none."""
    spec = importlib.util.find_spec(row["name"]) if _can_import(row["name"]) else None
    if spec is None:
        return True
    source = _source_of(spec.origin)
    return source is not None and source.exists() and package_digest(source) == row["digest"]


def _restore_path(name: str, resources: Path) -> None:
    """Let packages of an FMU that was deleted find their other modules in this FMU."""
    for full, module in list(sys.modules.items()):
        if full != name and not full.startswith(name + "."):
            continue
        folders = getattr(module, "__path__", None)
        if not isinstance(folders, list) or any(Path(folder).is_dir() for folder in folders):
            continue
        carried = resources.joinpath(*full.split("."))
        if carried.is_dir():
            folders.append(str(carried))


def _keep_sources(resources: Path) -> None:
    """Store the sources of modules from `resources`, so that tracebacks show them when the folder is gone."""
    inside = str(resources)
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file.startswith(inside) and file.endswith(".py"):
            text = Path(file).read_text("utf-8")
            linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)


def create_slave_class() -> type:
    """The class that pythonfmu instantiates."""
    from pythonfmu import Fmi2Slave  # type: ignore[import-untyped,unused-ignore]

    class Slave(SlaveCalls, Fmi2Slave):  # type: ignore[misc,unused-ignore]
        """An instance of the FMU."""

    return Slave


class SlaveCalls:
    """The methods of an instance that pythonfmu calls; `create_slave_class` adds its class `Fmi2Slave`.

    An error in a call is logged with its traceback. If the library answers an exception by fmi2Error, it is
    raised; otherwise the fault is stored, and every further step answers "discard" until the same call
    succeeds.
    """

    instance_name: str  # set by pythonfmu
    log_queue: list[Any]

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._faults: dict[str, str] = {}
        self._instance: Any = None
        resources = arguments["resources"]
        # Pythonfmu puts the folder into the search path when it instantiates, not when it resets.
        is_reset = resources not in sys.path
        if (
            "logger" in arguments
        ):  # called by the library, not by pythonfmu's builder, which restores the path
            sys.path[:] = [entry for entry in sys.path if entry != resources]
        self._can_raise = False
        try:
            self._can_raise = answers_errors(Path(resources))
            self._instance = create_instance(Path(resources))
        except BaseException as error:
            # After an exception in a reset pythonfmu would free its objects twice: it is stored as a fault.
            if not is_reset:
                raise RefusalError(_text(error)) from error
            self._faults["fmi2Reset"] = str(error) or type(error).__name__
            self._report("error", f"fmi2Reset: {_text(error)}")
        else:
            self.modelName = self._instance.interface.identifier
            self.description = self._instance.interface.about.get("description")

    # the life cycle

    def setup_experiment(self, start: float, stop: float | None, tolerance: float | None) -> None:
        self._call("fmi2SetupExperiment", lambda i: i.setup(start, stop, tolerance))

    def enter_initialization_mode(self) -> None:
        self._call("fmi2EnterInitializationMode", lambda i: i.enter_initialization())

    def exit_initialization_mode(self) -> None:
        self._call("fmi2ExitInitializationMode", lambda i: i.exit_initialization())

    def do_step(self, current_time: float, step_size: float) -> bool:
        if self._faults:
            faults = "; ".join(f"{name}: {text}" for name, text in self._faults.items())
            self._report("error", f"fmi2DoStep refused after an earlier error: {faults}")
            return False
        try:
            stop_request = self._instance.step(current_time, step_size)
        except BaseException as error:
            self._raise_or_report(f"fmi2DoStep({current_time!r}, {step_size!r})", error)
            return False
        for text in self._instance.news():
            self._report("warning", text)
        if stop_request:
            self._report("discard", f"fmi2DoStep({current_time!r}, {step_size!r}): {stop_request}")
        return not stop_request

    def terminate(self) -> None:
        self._call("fmi2Terminate", lambda i: i.terminate())

    # values

    def _get(self, function: str, kind: str, default: Any, vrs: list[int]) -> list[Any]:
        try:
            return list(self._instance.get(kind, vrs))
        except BaseException as error:
            self._raise_or_report(function, error)
            return [default] * len(vrs)

    def _set(self, function: str, kind: str, vrs: list[int], values: list[Any]) -> None:
        try:
            refused = self._instance.set(kind, vrs, values)
        except BaseException as error:
            refused = dict.fromkeys(vrs, error)
        for vr in vrs:
            if not refused:
                self._faults.pop(f"{function}({vr})", None)
            elif vr in refused and not self._can_raise:
                self._faults[f"{function}({vr})"] = str(refused[vr])
        if refused:
            self._raise_or_report(function, *refused.values())

    get_real = partialmethod(_get, "fmi2GetReal", "Real", float("nan"))
    get_integer = partialmethod(_get, "fmi2GetInteger", "Integer", 0)
    get_boolean = partialmethod(_get, "fmi2GetBoolean", "Boolean", False)
    get_string = partialmethod(_get, "fmi2GetString", "String", "")
    set_real = partialmethod(_set, "fmi2SetReal", "Real")
    set_integer = partialmethod(_set, "fmi2SetInteger", "Integer")
    set_boolean = partialmethod(_set, "fmi2SetBoolean", "Boolean")

    def set_string(self, vrs: list[int], values: list[str]) -> None:
        # For text that is not UTF-8 pythonfmu leaves a null pointer in the list, and reading it would crash.
        is_complete = len(gc.get_referents(values)) == len(vrs)
        self._set("fmi2SetString", "String", vrs, list(values) if is_complete else ["\ufffd"] * len(vrs))

    # saved states

    def _get_fmu_state(self) -> bytes:
        try:
            saved: bytes = self._instance.save()
        except BaseException as error:
            self._raise_or_report("fmi2GetFMUstate", error)
            return b""
        return saved

    def _set_fmu_state(self, state: bytes) -> None:
        self._call("fmi2SetFMUstate", lambda i: i.restore(state))
        if "fmi2SetFMUstate" not in self._faults:
            self._faults.clear()

    @staticmethod
    def _fmu_state_to_bytes(state: bytes) -> bytes:
        return state

    @staticmethod
    def _fmu_state_from_bytes(state: bytes) -> bytes:
        return state

    # faults

    def _call(self, function: str, call: Callable[[Any], Any]) -> None:
        """Make a call. If it fails and cannot return an error, a fault is stored until it succeeds."""
        try:
            call(self._instance)
        except BaseException as error:
            if not self._can_raise:
                self._faults[function] = str(error) or type(error).__name__
            self._raise_or_report(function, error)
        else:
            self._faults.pop(function, None)

    def _raise_or_report(self, function: str, *errors: BaseException) -> None:
        """Log the errors, and raise them if the library answers exceptions by an error status."""
        text = "\n".join(f"{function}: {_text(error)}" for error in errors)
        if not self._can_raise:
            self._report("error", text)
            return
        # Not through the queue: pythonfmu would empty it, and call the host, while an exception is set.
        self._log(text)
        raise RefusalError(text) from errors[0]

    def _report(self, status: str, text: str) -> None:
        """Report to the host, whose logging may be off, and to Python's logging; `status` as in FMI."""
        from pythonfmu.enums import Fmi2Status  # type: ignore[import-untyped,unused-ignore]
        from pythonfmu.logmsg import LogMsg  # type: ignore[import-untyped,unused-ignore]

        message = LogMsg(Fmi2Status[status], f"logStatus{status.capitalize()}", _loggable(text))
        self.log_queue.append(message)
        self._log(text, logging.WARNING if status == "warning" else logging.ERROR)

    def _log(self, text: str, level: int = logging.ERROR) -> None:
        logging.getLogger("cosim.fmu").log(level, "%s: %s", self.instance_name, text)


def _text(error: BaseException) -> str:
    """The message of an error, with its traceback unless the message explains itself."""
    sentence = str(error) or type(error).__name__
    if isinstance(error, RefusalError) or (
        type(error).__name__ in SELF_EXPLAINING and error.__cause__ is None
    ):
        return sentence
    trace = "".join(traceback.format_exception(error)).rstrip()
    return f"{sentence}\n{trace}"


def _loggable(text: str) -> str:
    """Text for FMI's logger: valid UTF-8, and escaped as a format of printf."""
    return text.encode("utf-8", "replace").decode().replace("\0", " ").replace("%", "%%")
