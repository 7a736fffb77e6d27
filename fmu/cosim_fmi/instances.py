"""Instances of FMUs: files that are open, instances kept for the next run, saved states, clocks."""

from __future__ import annotations

import functools
import math
import os
import shutil
import weakref
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import cosim
from cosim.kit import exact_quantity, remove_folder, without_collection
from cosim_fmi.binding import fmu_output, modes
from cosim_fmi.binding.fmu_instance import FmuInstance, SavedState
from cosim_fmi.binding.fmu_library import FmiError, FmuLibrary, open_library
from cosim_fmi.binding.process_guard import undisturbed
from cosim_fmi.description.fmu_interface import FmuInterface
from cosim_fmi.description.model_description import ASKED, PERIODIC, FmuClock
from cosim_fmi.description.read_interface import read_interface
from cosim_fmi.fmu_archive import FmuArchive

NOT_YET_KNOWN, CHANGED = 0, 2
Saved = tuple[Any, Any, Any, Any, frozenset[str], frozenset[str], bool]


class _Grid(NamedTuple):
    """The ticks of a clock: the next one, s; their origin and interval, and the number of the tick."""

    time: float
    origin: Fraction
    interval: Fraction
    number: int

    @classmethod
    def of(cls, origin: Fraction, interval: Fraction, number: int) -> _Grid:
        """The tick with a number: the double nearest to ``origin + number * interval``."""
        return cls(float(origin + number * interval), origin, interval, number)


class FmuClocks:
    """The clocks of an instance: their next ticks, and which of them tick; FMI 1.0 and 2.0 have none.

    Clocks with an interval are activated at ``origin + i * interval``, both rational numbers; those of
    changing interval and countdown clocks when the FMU says so. Triggered inputs tick when they are set, at
    most once at one instant; triggered outputs are listened to in event mode.

    Parameters
    ----------
    instance : FmuInstance
        An instance of FMI 3.0, which has clocks.
    clocks : mapping of str to FmuClock
    clocked : mapping of str to sequence of str
        For each variable that belongs to clocks their names.
    messages : collection of str
        Those of the variables that are binary outputs: what an update of discrete states may take away.

    Attributes
    ----------
    ticked : set of str
        The clocks that ticked since the last step began.
    fired : set of str
        Inputs that have been activated at this instant.
    active : set of str
        Clocks that tick in this pass through event mode.
    values : dict of str to object
        Clocked inputs as they have been set; the FMU gets them when their clock ticks.
    shown : dict of str to object
        The messages as they were when their clock ticked last: FMI forbids to read them at other times.
    """

    def __init__(
        self,
        instance: Any,
        clocks: Mapping[str, FmuClock],
        clocked: Mapping[str, Sequence[str]],
        messages: Collection[str] = (),
    ) -> None:
        self._instance, self._clocks, self.clocked = instance, clocks, clocked
        self._outputs = [name for name, clock in clocks.items() if clock.causality == "output"]
        self._timed = [name for name, clock in clocks.items() if clock.ticks_by_time]
        self._asked = [name for name in self._timed if clocks[name].variability in ASKED]
        self._messages = messages
        self._schedule: dict[str, _Grid] = {}
        self._gaps: dict[str, Fraction | float] = {}
        self.ticked: set[str] = set()
        self._earlier: set[str] = set()
        self.fired: set[str] = set()
        self.active: set[str] = set()
        self.values: dict[str, Any] = {}
        self.shown: dict[str, Any] = {}
        self._read = False

    def start_instant(self) -> None:
        """Begin an event: ticks count as new from now on."""
        self.fired = set()
        self._earlier, self.ticked = self.ticked, set()

    def end_instant(self) -> None:
        """End an event: ticks since the begin of the step reach other participants at its end."""
        self.ticked |= self._earlier

    def start_schedule(self, time: float) -> None:
        """Event mode begins for the first time: set the schedule up."""
        for name in self._timed:
            clock = self._clocks[name]
            if clock.variability in PERIODIC and not math.isnan(clock.interval):
                self._schedule[name] = _Grid.of(_exact(time) + _exact(clock.shift), _exact(clock.interval), 0)
        self.read_intervals(time)

    @property
    def next_time(self) -> float:
        """The time of the next tick, s; infinite if there is none."""
        return min((grid.time for grid in self._schedule.values()), default=math.inf)

    def due_clocks(self, time: float) -> list[str]:
        """Clocks that tick at this instant."""
        latest = time + 4.0 * math.ulp(time) + 1e-12
        return [name for name, grid in self._schedule.items() if grid.time <= latest]

    def activate(self, names: Iterable[str]) -> dict[str, Any]:
        """Activate inputs, in event mode. Returns the clocked inputs that are written with them."""
        chosen = [name for name in names if name in self._clocks]
        if not chosen:
            return {}
        self._instance.activate_clocks([self._clocks[name].reference for name in chosen])
        self._tick(chosen)
        self.fired |= set(chosen)
        self.active |= set(chosen)
        for name in chosen:
            if name in self._schedule:
                _, origin, interval, i = self._schedule.pop(name)
                if self._clocks[name].variability in PERIODIC:
                    self._schedule[name] = _Grid.of(origin, interval, i + 1)
        return {n: v for n, v in self.values.items() if any(clock in chosen for clock in self.clocked[n])}

    def listen(self) -> None:
        """Read which triggered outputs tick, in event mode."""
        if not self._outputs:
            return
        values = self._instance.active_clocks([self._clocks[name].reference for name in self._outputs])
        active = [name for name, value in zip(self._outputs, values, strict=True) if value]
        self.active |= set(active)
        self._tick(active)

    def belonging(self) -> list[str]:
        """The messages of clocks that tick in this pass through event mode."""
        return [name for name in self._messages if self.active.intersection(self.clocked[name])]

    def message(self, name: str) -> bytes | None:
        """A message as it was when its clock ticked last, empty before; None for what is none."""
        return self.shown.get(name, b"") if name in self._messages else None

    def _tick(self, names: Sequence[str]) -> None:
        if names and self._read:
            self.ticked, self._read = set(), False
        self.ticked |= set(names)

    def read_intervals(self, time: float) -> None:
        """Read the intervals that the FMU decides, in event mode, and schedule the next ticks."""
        for name in self._asked:
            clock = self._clocks[name]
            interval, qualifier = self._instance.interval(clock.reference, clock.has_fractions)
            changed, variability = qualifier == CHANGED, clock.variability
            if qualifier == NOT_YET_KNOWN or (not changed and name in self._schedule):
                continue
            periodic = variability in PERIODIC
            if not changed and variability == "countdown":
                continue
            gap = interval if changed or periodic else self._gaps.get(name, interval)
            if not 0.0 <= gap < math.inf or (periodic and gap == 0.0):
                raise ValueError(f"clock {name} has an interval of {float(gap)!r} s")
            self._gaps[name] = gap
            grid, exact = self._schedule.get(name), _exact(gap)
            if not periodic:
                self._schedule[name] = _Grid.of(_exact(time) + exact, Fraction(0), 0)
            elif grid is None:
                self._schedule[name] = _Grid.of(_exact(time) + _exact(clock.shift), exact, 0)
            elif grid.interval != exact:  # the next tick is one new interval after the last one
                _, start, old, i = grid
                self._schedule[name] = (
                    _Grid.of(start + (i - 1) * old, exact, 1) if i else _Grid.of(start, exact, 0)
                )

    def read(self, name: str) -> bool:
        """Whether a clock has ticked since the last step began."""
        self._read = True
        return name in self.ticked

    def start_step(self) -> None:
        """Begin a step: ticks count as new from now on; those that were not read yet are retained."""
        self.fired = set()
        if self._read:
            self.ticked = set()
        self._read = False

    def save(self) -> Saved:
        """The changing part of the clocks."""
        ticks = frozenset(self.ticked), frozenset(self.fired), self._read
        return dict(self._schedule), dict(self._gaps), dict(self.values), dict(self.shown), *ticks

    def restore(self, saved: Saved) -> None:
        """Restore the clocks."""
        schedule, gaps, values, shown, ticked, fired, self._read = saved
        self._schedule, self._gaps = dict(schedule), dict(gaps)
        self.values, self.shown = dict(values), dict(shown)
        self.ticked, self.fired = set(ticked), set(fired)


def _exact(time: Fraction | float) -> Fraction:
    """The rational number that a time is."""
    try:
        return exact_quantity(time, "s")
    except ValueError:  # a UnitError: it has no resolution of 64 bits
        return Fraction(time)


class FmuState:
    """Token of `save`; it belongs to the instance that made it.

    Freed with the instance, or as soon as no reference to it is left.

    Attributes
    ----------
    saved : SavedState
    owner : object
        The participant.
    more : object
        The memory of the participant that belongs to it.
    free : callable
        Gives the memory back; does nothing the second time.
    """

    __slots__ = ("__weakref__", "free", "more", "owner", "saved")

    def __init__(self, saved: SavedState, owner: object, instance: FmuInstance) -> None:
        self.saved, self.owner = saved, owner
        self.more: Any = None
        self.free = weakref.finalize(self, _free_state, instance, saved)
        self.free.atexit = False

    @property
    def initializing(self) -> bool:
        """Whether the instance was in its initialization mode."""
        return self.saved.mode == modes.INITIALIZING


def _free_state(instance: FmuInstance, saved: SavedState) -> None:
    if instance.component and instance.mode != modes.FATAL and saved.pointer:
        try:
            instance.free_state(saved)
        except FmiError as error:
            instance.untold = instance.untold or error


class KeptInstance:
    """Holds a terminated instance with its library for reuse; frees it when it is discarded, or at exit."""

    def __init__(self) -> None:
        self._instance: FmuInstance | None = None
        self._unpacked: UnpackedFmu | None = None
        self._made_for: Any = None
        self._free: Any = None

    def store(self, instance: FmuInstance, unpacked: UnpackedFmu, made_for: Any) -> None:
        """Store an instance for later use.

        Parameters
        ----------
        instance : FmuInstance
        unpacked : UnpackedFmu
            Its files, which stay as long.
        made_for : object
            The options for which it was made; other options need a new instance.
        """
        self.discard()
        self._instance, self._unpacked, self._made_for = instance, unpacked, made_for
        self._free = weakref.finalize(
            self, _free_instance, instance
        )  # at exit before the library is unloaded

    def reset(
        self, unpacked: UnpackedFmu, made_for: Any, add: Callable[[int, str], None]
    ) -> FmuInstance | None:
        """The instance, reset and with another receiver of messages; None where there is none for this."""
        instance = self._instance
        if instance is None or unpacked is not self._unpacked or made_for != self._made_for:
            self.discard()
            return None
        instance.receiver.add = add
        try:
            instance.reset()
        except Exception:  # one that has no reset, or fails: a new instance does
            self.discard()
            return None
        self._free.detach()
        self._instance = self._unpacked = None
        return instance

    def discard(self) -> None:
        """Free the kept instance, if there is one."""
        if self._instance is not None:
            self._free()
            self._instance = self._unpacked = None


def _free_instance(instance: FmuInstance) -> None:
    with suppress(Exception):
        instance.free()


Identity = tuple[Path, int, int, int]
"""Path, inode, size and time of change (ns): another file of the same name is another FMU."""


class UnpackedFmu:
    """A private folder with the contents of an FMU; removed when no reference to this object is left.

    Instances of one FMU share it, and so the library that is loaded from it, as FMI means it: a library
    has to bear several instances unless its description says that it can be instantiated only once.

    Parameters
    ----------
    archive : FmuArchive
    wine : bool
        Whether its library for Windows is wanted, under wine.

    Raises
    ------
    FmuError
        Damaged members or a full disk.
    """

    def __init__(self, archive: FmuArchive, wine: bool = False) -> None:
        self._wine = wine
        self.folder = archive.unpack(place_of_library(archive.version, wine)[0])
        self._libraries: dict[str, FmuLibrary] = {}
        self._remove = weakref.finalize(self, _remove, self.folder, self._libraries)

    def library(self, interface: FmuInterface) -> FmuLibrary:
        """The library, loaded once.

        Raises
        ------
        FmiError
            It cannot be loaded, or lacks a function without which the FMU cannot be simulated.
        """
        interface_type = "ModelExchange" if interface.model_exchange else "CoSimulation"
        if interface_type not in self._libraries:
            path = _library_file(self.folder, interface, self._wine)
            fmu_output.format_with(log_helper())
            opened: Callable[..., FmuLibrary] = open_library
            if self._wine:
                from cosim_fmi.wine.wine_library import open_wine_library as opened
            library_of_fmu = opened(path, interface.version, interface.identifier, interface_type)
            self._libraries[interface_type] = library_of_fmu
        return self._libraries[interface_type]


def _library_file(folder: Path, interface: FmuInterface, wine: bool) -> Path:
    """The library for this machine; a lone one of another name than the standard asks for will do."""
    place, suffix = place_of_library(interface.version, wine)
    library = folder / "binaries" / place / f"{interface.identifier}{suffix}"
    if not library.exists():
        libraries = [*library.parent.glob(f"*{suffix}")]
        if len(libraries) == 1:
            shutil.copyfile(libraries[0], library)
    return library


def place_of_library(version: str, wine: bool = False) -> tuple[str, str]:
    """The folder below ``binaries`` for this machine, and how names of libraries end: "linux64", ".so"."""
    if wine:
        return "x86_64-windows" if version == "3.0" else "win64", ".dll"
    from fmpy import platform, platform_tuple, sharedLibraryExtension

    return platform_tuple if version == "3.0" else platform, sharedLibraryExtension


@functools.cache
def log_helper() -> str:
    """Fmpy's native library that puts variadic arguments into log messages."""
    import fmpy

    name = f"logging{fmpy.sharedLibraryExtension}"
    return str(Path(fmpy.__file__).parent / "logging" / fmpy.platform / name)


def _remove(folder: Path, libraries: dict[str, FmuLibrary]) -> None:
    with undisturbed():
        for library in libraries.values():
            library.unload()
    remove_folder(folder)


_unpacked: weakref.WeakValueDictionary[tuple[Identity, bool], UnpackedFmu] = weakref.WeakValueDictionary()


def read_fmu(path: Path, wanted: str = "CoSimulation", wine: bool = False) -> tuple[FmuArchive, FmuInterface]:
    """The checked archive and its declarations; nothing is unpacked or loaded.

    Parameters
    ----------
    path : Path
    wanted : str
        Which interface where there are both: "CoSimulation" or "ModelExchange".
    wine : bool
        Whether its library for Windows is wanted, under wine.
    """
    with without_collection():  # there may be very many variables
        return _read(identity(path), wanted, wine)


def probe_fmu(path: Path, wanted: str = "CoSimulation", wine: bool = False) -> tuple[FmuInterface, str]:
    """The declarations of an FMU, and why it cannot run here; "" if it can."""
    try:
        return read_fmu(path, wanted, wine)[1], ""
    except cosim.FmuError as error:
        archive = FmuArchive(path)  # what hinders this, too, is said
        return read_interface(archive, archive.choose(wanted)), str(error).removeprefix(f"{error.fmu}: ")


def unpack_fmu(path: Path, wine: bool = False) -> UnpackedFmu:
    """The folder of an FMU; the same as long as it is in use."""
    key = identity(path), wine
    unpacked = _unpacked.get(key)
    if unpacked is None:
        unpacked = _unpacked[key] = UnpackedFmu(_archive(key[0]), wine)
    return unpacked


def identity(path: Path) -> Identity:
    """The identity of a file, which changes if another file replaces it; zeros if there is no file."""
    try:
        facts = os.stat(path)
    except OSError:
        return path, 0, 0, 0
    return Path(os.path.realpath(path)), facts.st_ino, facts.st_size, facts.st_mtime_ns


@functools.lru_cache(maxsize=64)
def _archive(key: Identity) -> FmuArchive:
    return FmuArchive(key[0])


@functools.lru_cache(maxsize=64)
def _read(key: Identity, wanted: str, wine: bool) -> tuple[FmuArchive, FmuInterface]:
    archive = _archive(key)
    interface = archive.choose(wanted)
    archive.check_binary(interface, *place_of_library(archive.version, wine))
    if wine:
        _check_wine(archive)
    return archive, read_interface(archive, interface)


def _check_wine(archive: FmuArchive) -> None:
    from cosim_fmi.wine.programs import NoWineError, wine_program

    if archive.version == "1.0":
        raise cosim.FmuError(str(archive.path), "an FMU of FMI 1.0 cannot run under wine: 2.0 and 3.0 can")
    try:
        wine_program()
    except NoWineError as error:
        raise cosim.FmuError(str(archive.path), str(error)) from None
