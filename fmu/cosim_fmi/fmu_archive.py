"""The file of an FMU, which is not trusted: checked, parsed, and unpacked into a private folder.

First any ZIP archive, then that of an FMU, then the document with its model description.
"""

from __future__ import annotations

import re
import stat
import zipfile
import zlib
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from xml.etree.ElementTree import Element, ParseError, fromstring
from xml.parsers import expat

import cosim
from cosim.kit import private_folder, remove_folder, without_collection

LARGEST_ARCHIVE = 4 * 2**30
"""Bytes of all members together, unpacked."""
MOST_MEMBERS = 100_000
HARMLESS, LARGEST_RATIO = 128 * 2**20, 200
"""A size, bytes, above which the ratio of unpacked to packed size is limited; that ratio."""
DAMAGES = (OSError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
"""Exceptions of Python's `zipfile` for damaged members, and for a full disk."""


def check_members(members: Sequence[zipfile.ZipInfo]) -> None:
    """Refuse members that are too large, leave the folder for unpacking, are links or encrypted.

    Raises
    ------
    ValueError
        With a sentence.
    """
    if len(members) > MOST_MEMBERS:
        raise ValueError(f"has {len(members)} members, at most {MOST_MEMBERS} are unpacked")
    total = sum(member.file_size for member in members)
    if total > LARGEST_ARCHIVE:
        raise ValueError(
            f"unpacks to {total / 2**30:.1f} GiB, at most {LARGEST_ARCHIVE / 2**30:.0f} are unpacked"
        )
    packed = sum(member.compress_size for member in members)
    if total > HARMLESS and total > LARGEST_RATIO * packed:
        raise ValueError(
            f"unpacks from {packed / 2**20:.1f} to {total / 2**20:.0f} MiB, more than {LARGEST_RATIO} "
            "times as much: refused"
        )
    for member in members:
        if leaves_folder(member.filename) or "\0" in member.orig_filename:
            name = member.filename
            raise ValueError(f"member {name!r} would leave the folder that it is unpacked into: refused")
        if stat.S_ISLNK(member.external_attr >> 16):
            raise ValueError(f"member {member.filename!r} is a symbolic link: refused")
        if member.flag_bits & 0x1:
            raise ValueError(f"member {member.filename!r} is encrypted: refused")


def leaves_folder(name: str) -> bool:
    """Whether a path is absolute, names a drive, or goes up."""
    parts = parts_of(name.replace("\\", "/"))
    return name.startswith(("/", "\\")) or ".." in parts or bool(parts and ":" in parts[0])


def parts_of(name: str) -> list[str]:
    """The folders of a member, and its name, as `PurePosixPath` gives them, in less time.

    Examples
    --------
    >>> parts_of("binaries//linux64/./part.so")
    ['binaries', 'linux64', 'part.so']
    """
    return [part for part in name.split("/") if part not in ("", ".")]


def unpack(path: Path, members: Sequence[zipfile.ZipInfo], prefix: str) -> Path:
    """Unpack members that were checked into a new folder that only this user can enter.

    Parameters
    ----------
    path : Path
    members : sequence of ZipInfo
    prefix : str
        Name of the folder; the caller removes it with `remove_folder`.

    Raises
    ------
    OSError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError
        `DAMAGES`; nothing stays behind.
    """
    folder = private_folder(prefix)
    try:
        with zipfile.ZipFile(path) as archive:
            for member in members:
                archive.extract(member, folder)
    except BaseException:
        remove_folder(folder)
        raise
    return folder


LARGEST_DESCRIPTION = 256 * 2**20
"""Bytes of modelDescription.xml."""
VERSIONS = ("1.0", "2.0", "3.0")
"""Supported versions of FMI."""
INTERFACES = ("CoSimulation", "ModelExchange", "ScheduledExecution", "Implementation")
"""Elements of the interfaces; the last one is that of Co-Simulation in FMI 1.0."""
BINARY_SUFFIXES = (".so", ".dll", ".dylib")


class FmuArchive:
    """An FMU as a file that is not trusted.

    Parameters
    ----------
    path : str or Path

    Raises
    ------
    FmuError
        When it is not an FMU: no such file, no ZIP archive, no model description, an XML document type or
        entities in it, members that would leave the folder they are unpacked into, or too large.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if self.path.is_dir():
            raise self._error(
                "is a folder, needs the .fmu file itself (a ZIP archive with modelDescription.xml)"
            )
        if not self.path.is_file():
            is_there = self.path.exists()
            raise self._error("is a pipe or a device, needs a file" if is_there else "no such file")
        try:
            with zipfile.ZipFile(self.path) as archive:
                self._members = archive.infolist()
                check_members(self._members)
                self._document = self._read_description(archive)
        except ValueError as error:
            raise self._error(str(error)) from None
        except zipfile.BadZipFile as error:
            raise self._error(f"is not an FMU: not a ZIP archive, or a damaged one ({error})") from None
        except (OSError, NotImplementedError, RuntimeError, zlib.error) as error:
            raise self._error(f"cannot be read: {error}") from error
        try:
            root = parse_description(self._document)
        except ValueError as error:
            raise self._error(f"modelDescription.xml cannot be read: {error}") from None
        self._description: Element | None = root
        self._attributes = dict(root.attrib)
        self._interfaces = {
            element.tag: element.get("modelIdentifier", "") for element in root if element.tag in INTERFACES
        }
        if self.version == "1.0":
            kind = "CoSimulation" if "Implementation" in self._interfaces else "ModelExchange"
            self._interfaces = {kind: self._attributes.get("modelIdentifier", "")}

    def _error(self, text: str) -> cosim.FmuError:
        return cosim.FmuError(str(self.path), text)

    @property
    def version(self) -> str:
        """The FMI version that it declares, "" when it declares none."""
        return self._attributes.get("fmiVersion", "")

    def pop_description(self) -> Element:
        """The root of the model description, for the caller alone.

        The archive keeps the document and parses it again the next time: the tree of a large one takes
        ten times the memory.
        """
        root, self._description = self._description, None
        return parse_description(self._document) if root is None else root

    @property
    def interfaces(self) -> tuple[str, ...]:
        """Names of the interface elements that it has: "CoSimulation", "ModelExchange" and others."""
        return tuple(self._interfaces)

    @property
    def platforms(self) -> tuple[str, ...]:
        """Folders in ``binaries/`` that hold a library: "linux64", "win64"."""
        parts = [parts_of(member.filename) for member in self._members]
        names = {p[1] for p in parts if len(p) == 3 and p[0] == "binaries" and p[2].endswith(BINARY_SUFFIXES)}
        return tuple(sorted(names))

    @property
    def file_names(self) -> list[str]:
        """Names of its files as they were written, with whatever separates folders."""
        return [member.orig_filename for member in self._members]

    @property
    def has_resources(self) -> bool:
        """Whether files travel with it that its library may open."""
        return any(parts_of(member.filename)[:1] == ["resources"] for member in self._members)

    def choose(self, wanted: str = "CoSimulation") -> str:
        """The interface to use of those that it offers.

        Parameters
        ----------
        wanted : str
            "CoSimulation" or "ModelExchange": the one to take where both are there.

        Raises
        ------
        FmuError
            Another FMI version, or neither of the two.
        """
        if self.version not in VERSIONS:
            version = f"FMI {self.version}" if self.version else "no FMI version"
            raise self._error(
                f"declares {version}, which is not supported: needs FMI {', '.join(VERSIONS[:-1])} or "
                f"{VERSIONS[-1]}. Export it again from its tool as FMI 2.0 Co-Simulation."
            )
        offered = [name for name in ("CoSimulation", "ModelExchange") if name in self._interfaces]
        if not offered:
            has = " and ".join(self._interfaces) or "no interface"
            why = (
                ", whose parts an operating system of real time calls" if "ScheduledExecution" in has else ""
            )
            raise self._error(
                f"offers {has} only{why}; needs Co-Simulation or Model Exchange. Export it again from its "
                "tool as FMI 2.0 Co-Simulation."
            )
        return wanted if wanted in offered else offered[0]

    def check_binary(self, interface: str, platform: str, suffix: str) -> None:
        """Refuse an FMU without a library for this machine; the only one there may have another name.

        Parameters
        ----------
        interface : str
        platform : str
            Name of the folder in ``binaries/``: "linux64", for FMI 3.0 "x86_64-linux".
        suffix : str
            The suffix of the library: ".so".
        """
        identifier = self._interfaces[interface]
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.\-]{0,200}", identifier) or ".." in identifier:
            raise self._error(f"modelIdentifier {identifier!r} is not a C identifier: refused")
        library = f"binaries/{platform}/{identifier}{suffix}"
        names = {member.filename for member in self._members}
        if library not in names:
            here = PurePosixPath(library).parent
            others = [
                PurePosixPath(name).name for name in sorted(names) if PurePosixPath(name).parent == here
            ]
            others = [name for name in others if name.endswith(suffix)]
            if len(others) == 1:
                return
            if others:
                raise self._error(
                    f"{here} holds {', '.join(others)}, but no {identifier}{suffix}, as its modelIdentifier "
                    f"{identifier!r} asks for: rename one of them in the archive"
                )
            has = ", ".join(self.platforms) or "none"
            raise self._error(
                f"has no binary for this platform ({library} is missing). Platforms it has: {has}."
                f"{self._advice_on_sources(names)}{self._advice_on_wine(platform)}"
            )

    def _advice_on_wine(self, platform: str) -> str:
        """The advice that a library for Windows runs on Linux, too."""
        platform_of_wine = "x86_64-windows" if self.version == "3.0" else "win64"
        if "linux" not in platform or platform_of_wine not in self.platforms or self.version == "1.0":
            return ""
        return " The one for Windows runs here where wine is installed: wine = true."

    def _advice_on_sources(self, names: Collection[str]) -> str:
        """The advice for an FMU that brings C sources: fmpy compiles them where the FMU names the files."""
        if not any(name.startswith("sources/") and name.endswith((".c", ".cpp")) for name in names):
            return ""
        if self.version == "3.0":
            are_named = "sources/buildDescription.xml" in names
        else:
            are_named = self.version == "2.0" and b"<SourceFiles" in self._document
        if are_named:
            return (
                f" It brings C sources: 'fmpy compile {self.path.name}', which needs CMake, adds the binary."
            )
        place = "sources/buildDescription.xml" if self.version == "3.0" else "modelDescription.xml"
        return (
            f" It brings C sources, but {place} does not say how they are compiled, which 'fmpy compile' "
            "needs: ask for the binary, or compile them by hand."
        )

    def unpack(self, platform: str = "") -> Path:
        """Unpack into a new folder that only this user can enter; the caller removes it (`remove_folder`).

        Parameters
        ----------
        platform : str
            Name of the folder in ``binaries/`` that is wanted: those of other platforms are left out. All
            of them when it is not given.

        Raises
        ------
        FmuError
            Damaged members or a full disk; nothing stays behind.
        """
        try:
            others = tuple(f"binaries/{name}/" for name in self.platforms if platform and name != platform)
            members = [member for member in self._members if not member.filename.startswith(others)]
            return unpack(self.path, members, "fmu")
        except DAMAGES as error:
            raise self._error(f"cannot be unpacked: {error}") from error

    def _read_description(self, archive: zipfile.ZipFile) -> bytes:
        """The bytes of the description, if they are not too many."""
        try:
            member = archive.getinfo("modelDescription.xml")
        except KeyError:
            raise self._error("is not an FMU: the archive has no modelDescription.xml") from None
        if member.file_size > LARGEST_DESCRIPTION:
            raise self._error(
                f"modelDescription.xml has {member.file_size / 2**20:.0f} MiB, "
                f"at most {LARGEST_DESCRIPTION / 2**20:.0f} are read"
            )
        return archive.read(member)


DEEPEST = 200
"""Levels of elements inside each other; the standards have about ten."""
MOST_SHOWN = 100
"""Letters that are shown of an error of the XML parser about an encoding."""
ROOT = "fmiModelDescription"


class _RootReachedError(Exception):
    """Raised at the first element: a document type would stand before it."""


def parse_description(document: bytes) -> Element:
    """The root element of a model description.

    Parameters
    ----------
    document : bytes
        It is not trusted.

    Returns
    -------
    xml.etree.ElementTree.Element
        Without comments and processing instructions.

    Raises
    ------
    ValueError
        With a sentence: a document type, another root, elements that are nested too deeply, an unknown
        encoding, no XML.

    Examples
    --------
    >>> parse_description(b"<a/>")
    Traceback (most recent call last):
        ...
    ValueError: its root is <a>, not <fmiModelDescription>
    """
    try:
        with without_collection():  # half of the time in which a large tree is built
            root = None if _declares_document_type(document) else fromstring(document)
    except (ParseError, expat.ExpatError) as error:
        raise ValueError(f"it is not well-formed XML: {error}") from None
    except (LookupError, ValueError) as error:
        reason = str(error).partition(";")[0][:MOST_SHOWN]
        raise ValueError(f"its encoding cannot be read ({reason}), needs UTF-8") from None
    if root is None:
        raise ValueError("it declares a document type (<!DOCTYPE …>), which no FMU needs: refused")
    if root.tag != ROOT:
        raise ValueError(f"its root is <{root.tag}>, not <{ROOT}>")
    _refuse_deep_nesting(root)
    return root


def _declares_document_type(document: bytes) -> bool:
    """Whether a document has a document type, which could define entities."""
    declarations: list[object] = []

    def stop(*element: object) -> None:
        raise _RootReachedError

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler, parser.StartElementHandler = lambda *_: declarations.append(1), stop
    with suppress(_RootReachedError):
        parser.Parse(document, True)
    return bool(declarations)


def _refuse_deep_nesting(root: Element) -> None:
    level: Sequence[Element] = [root]
    depth = 0
    while level:
        if depth > DEEPEST:
            raise ValueError(f"elements are nested more than {DEEPEST} deep: refused")
        level = [child for element in level for child in element]
        depth += 1
