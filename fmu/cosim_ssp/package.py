"""SSP packages: an archive, a folder, or a single SSD file."""

from __future__ import annotations

import itertools
import os
import weakref
import zipfile
from collections.abc import Container
from pathlib import Path, PurePath, PurePosixPath
from urllib.parse import unquote, urlsplit

import cosim
from cosim.kit import remove_folder
from cosim_fmi.fmu_archive import DAMAGES, check_members, leaves_folder, unpack
from cosim_ssp.xml_document import LARGEST_DOCUMENT, Element, parse_document

DEFAULT = "SystemStructure.ssd"
SUFFIXES = (".ssp", ".ssd")
MOST_FINDINGS = 10_000
DOCUMENTS = (".ssd", ".ssv", ".ssm", ".ssb")


def is_ssp(path: Path) -> bool:
    """Whether a path is that of an SSP, by its ending or as a folder of one."""
    return path.suffix.lower() in SUFFIXES or (path / DEFAULT).is_file()


def free_place(path: PurePath, places: Container[str]) -> str:
    """The place of a new file in an archive: in ``resources``, under a name that no other file has."""
    numbered = (f"resources/{path.stem}_{number}{path.suffix}" for number in itertools.count(2))
    return next(p for p in itertools.chain([f"resources/{path.name}"], numbered) if p not in places)


class Package:
    """The files of an SSP, unpacked into a private folder when it is an archive, and what was noticed.

    Parameters
    ----------
    path : str or Path
        An archive (``.ssp``), a folder with SSD files, or an SSD file; that alone may name files outside of
        its folder.

    Attributes
    ----------
    path : Path
    folder : Path
        The folder of its files, which is removed with this object if it was made for an archive.
    findings : list of Problem
        Offences against the standard that did not stop the reader, each with its place.
    nested : list of Package
        Packages inside it that were read.
    documents : dict of str to Element
        Root elements of the documents that were read, by their path in the package.

    Raises
    ------
    ModelError
        No such file, no archive, damaged, too large, or with members that would leave the folder.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.findings: list[cosim.Problem] = []
        self._said: set[tuple[str, str]] = set()
        self.documents: dict[str, Element] = {}
        self.nested: list[Package] = []
        if self.path.is_dir():
            self.folder = self.path
        elif self.path.suffix.lower() in (".ssd", ".ssv") and self.path.is_file():
            self.folder = self.path.parent
        else:
            self.folder = self._unpacked()
            weakref.finalize(self, remove_folder, self.folder)
        self.is_single = self.path.is_file() and self.path.suffix.lower() == ".ssd"

    @property
    def variants(self) -> list[str]:
        """Names of the SSD files at the top."""
        return sorted(p.name for p in self.folder.iterdir() if p.suffix.lower() == ".ssd" and p.is_file())

    def choose(self, variant: str | None = None) -> str:
        """The SSD file of a variant; the default one unless given.

        Parameters
        ----------
        variant : str, optional
            Its file name, with or without ``.ssd``.

        Raises
        ------
        ModelError
            None of that name, or several and none is the default.
        """
        if variant is None and self.is_single:
            return self.path.name
        variants = self.variants
        if variant is not None:
            for name in (variant, f"{variant}.ssd"):
                if name in variants:
                    return name
            raise cosim.ModelError.of(str(self.path), str(cosim.LookUpError("variant", variant, variants)))
        if DEFAULT in variants:
            return DEFAULT
        if len(variants) == 1:
            self.say(str(self.path), f"has no {DEFAULT}; {variants[0]} is taken")
            return variants[0]
        text = f"has several SSD files and none is {DEFAULT}: choose one of {', '.join(variants)}"
        raise cosim.ModelError.of(str(self.path), text if variants else f"has no SSD file: needs {DEFAULT}")

    def read(self, name: str) -> Element:
        """The root element of a document of the package; parsed once.

        Raises
        ------
        ValueError
            With a place and a sentence.
        """
        if name not in self.documents:
            try:
                path = self.file(name)
                if path.stat().st_size > LARGEST_DOCUMENT:
                    raise ValueError(f"{name}: is larger than {LARGEST_DOCUMENT / 2**20:.0f} MiB")
                data = path.read_bytes()
            except OSError as error:
                raise ValueError(f"{name}: cannot be read: {error.strerror or error}") from None
            self.documents[name] = parse_document(data, name, self.say)
        return self.documents[name]

    def read_inside(self, archive: str, member: str) -> Element:
        """The root element of a document inside an FMU or another archive of the package.

        Raises
        ------
        ValueError
            With a place and a sentence.
        """
        name = f"{archive}/{member}"
        if name not in self.documents:
            try:
                with zipfile.ZipFile(self.file(archive)) as opened:
                    check_members(opened.infolist())
                    if opened.getinfo(member).file_size > LARGEST_DOCUMENT:
                        raise ValueError(f"{name}: is larger than {LARGEST_DOCUMENT / 2**20:.0f} MiB")
                    data = opened.read(member)
            except KeyError:
                raise ValueError(f"{name}: there is no such file in the archive") from None
            except DAMAGES as error:
                raise ValueError(f"{name}: cannot be read: {error}") from None
            self.documents[name] = parse_document(data, name, self.say)
        return self.documents[name]

    def file(self, name: str) -> Path:
        """The file of a path in the package.

        Raises
        ------
        ValueError
            It leaves the folder, or there is no such file.
        """
        if leaves_folder(name) and not self.is_single:
            raise ValueError(f"{name}: lies outside of the package: refused")
        path = self.folder / name
        if not path.is_file():
            raise ValueError(f"{name}: there is no such file{'' if self.is_single else ' in the package'}")
        if not self.is_single and not path.resolve().is_relative_to(self.folder.resolve()):
            raise ValueError(f"{name}: is a link that leaves the package: refused")
        return path

    def path_of(self, source: str, base: str) -> tuple[str, str]:
        """Path in the package and fragment of a URI in a document of it, as the function `path_of` gives."""
        return path_of(source, base, may_leave=self.is_single)

    def say(self, where: str, text: str) -> None:
        """Add a finding; the same one comes once for each document."""
        key = where.partition(":")[0], text
        if key not in self._said and len(self._said) < MOST_FINDINGS:
            self._said.add(key)
            self.findings.append(cosim.Problem(where, text))

    def _unpacked(self) -> Path:
        if not self.path.is_file():
            raise cosim.ModelError.of(str(self.path), "no such file")
        try:
            with zipfile.ZipFile(self.path) as archive:
                members = archive.infolist()
            check_members(members)
            return unpack(self.path, members, "ssp")
        except ValueError as error:
            raise cosim.ModelError.of(str(self.path), str(error)) from None
        except DAMAGES as error:
            text = f"is not an SSP: not a ZIP archive, or a damaged one ({error})"
            raise cosim.ModelError.of(str(self.path), text) from None


def path_of(source: str, base: str, *, may_leave: bool = False) -> tuple[str, str]:
    """Path in the package and fragment of a URI.

    Parameters
    ----------
    source : str
        Relative URI.
    base : str
        Path of the document that it stands in.
    may_leave : bool
        Whether the path may be absolute, or go up out of the folder.

    Raises
    ------
    ValueError
        An absolute URI, or a path that leaves the package and may not.
    """
    parts = urlsplit(source.strip())
    if (parts.scheme and len(parts.scheme) > 1) or parts.netloc:
        raise ValueError(f"'{source}' is not a path in the package: nothing is loaded from elsewhere")
    text = unquote(parts.path).replace("\\", "/")
    if leaves_folder(text) and not text.startswith("..") and not may_leave:
        raise ValueError(f"'{source}' lies outside of the package: refused")
    joined = os.path.normpath(str(PurePosixPath(base).parent / text)) if text else base
    if (leaves_folder(joined) and not may_leave) or len(parts.scheme) == 1:
        raise ValueError(f"'{source}' lies outside of the package: refused")
    return joined, unquote(parts.fragment)


def problem_of(text: str, where: str = "") -> cosim.Problem:
    """The problem that an error tells; its place when it begins with one (``file:line: sentence``)."""
    place, _, sentence = text.partition(": ")
    has_place = bool(sentence) and (not where or place.rpartition(":")[2].isdecimal())
    return cosim.Problem(place, sentence) if has_place else cosim.Problem(where, text)
