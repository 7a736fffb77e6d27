"""The file of an FMU: looked at without loading anything, unpacked into a private folder."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Collection
from pathlib import Path, PurePosixPath
from xml.etree.ElementTree import Element

import cosim
from cosim_fmi.archive.description_document import parse_description
from cosim_fmi.archive.untrusted_zip import DAMAGES, check_members, parts_of, unpack

LARGEST_DESCRIPTION = 256 * 2**20
VERSIONS = ("1.0", "2.0", "3.0")
INTERFACES = ("CoSimulation", "ModelExchange", "ScheduledExecution", "Implementation")
"""Elements; the last one is that of Co-Simulation of FMI 1.0."""
BINARY_SUFFIXES = (".so", ".dll", ".dylib")


class FmuArchive:
    """An FMU as a file that is not trusted.

    Parameters
    ----------
    path : str or Path

    Raises
    ------
    FmuError
        When it is no FMU: no such file, no ZIP archive, no model description, an XML document type or
        entities in it, members that would leave the folder they are unpacked into, or too large.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if self.path.is_dir():
            raise self._error(
                "is a folder, needs the .fmu file itself (a ZIP archive with modelDescription.xml)"
            )
        if not self.path.is_file():
            there = self.path.exists()
            raise self._error("is a pipe or a device, needs a file" if there else "no such file")
        try:
            with zipfile.ZipFile(self.path) as archive:
                self._members = archive.infolist()
                check_members(self._members)
                self._document = self._read_description(archive)
        except ValueError as error:
            raise self._error(str(error)) from None
        except zipfile.BadZipFile as error:
            raise self._error(f"is no FMU: not a ZIP archive, or a damaged one ({error})") from None
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

    def take_description(self) -> Element:
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
        found = {p[1] for p in parts if len(p) == 3 and p[0] == "binaries" and p[2].endswith(BINARY_SUFFIXES)}
        return tuple(sorted(found))

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
            given = f"FMI {self.version}" if self.version else "no FMI version"
            raise self._error(
                f"declares {given}, which is not supported: needs FMI {', '.join(VERSIONS[:-1])} or "
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
        """Refuse an FMU without a library for this machine; a lone one may have another name.

        Parameters
        ----------
        interface : str
        platform : str
            Name of the folder in ``binaries/``: "linux64", for FMI 3.0 "x86_64-linux".
        suffix : str
            Of the library: ".so".
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
                f"{self._advice_on_sources(names)}"
            )

    def _advice_on_sources(self, names: Collection[str]) -> str:
        """What can be done where only C sources are there; fmpy has to be told which they are."""
        if not any(name.startswith("sources/") and name.endswith((".c", ".cpp")) for name in names):
            return ""
        if self.version == "3.0":
            is_told = "sources/buildDescription.xml" in names
        else:
            is_told = self.version == "2.0" and b"<SourceFiles" in self._document
        if is_told:
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
        try:
            member = archive.getinfo("modelDescription.xml")
        except KeyError:
            raise self._error("is no FMU: the archive has no modelDescription.xml") from None
        if member.file_size > LARGEST_DESCRIPTION:
            raise self._error(
                f"modelDescription.xml has {member.file_size / 2**20:.0f} MiB, "
                f"at most {LARGEST_DESCRIPTION / 2**20:.0f} are read"
            )
        return archive.read(member)
