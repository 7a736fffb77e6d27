"""Damaged and hostile archives, descriptions and libraries are refused, and nothing is left behind."""

import os
import stat
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import fmpy
import pytest

import cosim
from cosim_fmu import FmuParticipant

MakeFmu = Callable[..., Path]
FOLDER = f"binaries/{fmpy.platform}"
SUFFIX = fmpy.sharedLibraryExtension
XML = b'<fmiModelDescription fmiVersion="2.0"><CoSimulation modelIdentifier="a"/></fmiModelDescription>'


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where FMUs are unpacked; every test has to leave it empty."""
    folder = tmp_path / "unpacked"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def write_archive(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"readme.txt": b""}, "is not an FMU: the archive has no modelDescription.xml"),
        ({"modelDescription.xml": b"<fmi"}, "is not well-formed XML"),
        ({"modelDescription.xml": b"<ssd/>"}, "its root is <ssd>, not <fmiModelDescription>"),
        ({"modelDescription.xml": b'<!DOCTYPE x [<!ENTITY a "b">]><x/>'}, "declares a document type"),
        ({"modelDescription.xml": XML.replace(b"2.0", b"4.0")}, "declares FMI 4.0, which"),
        ({"modelDescription.xml": XML.replace(b"2.0", b"0.9")}, "FMI 0.9, which is not supported: "),
        ({"modelDescription.xml": XML.replace(b"CoSimulation", b"ModelExchange")}, "has no binary for this"),
        ({"modelDescription.xml": XML, "binaries/win64/a.dll": b"", "binaries/darwin64/a.dylib": b""},
         r"no binary for this platform .*Platforms it has: darwin64, win64\."),
        ({"modelDescription.xml": XML}, r"Platforms it has: none\."),
        ({"modelDescription.xml": XML, **{f"{FOLDER}/{name}{SUFFIX}": b"" for name in "bc"}},
         r"holds b\.\w+, c\.\w+, but no a\.\w+, as its modelIdentifier 'a' asks for"),
        ({"modelDescription.xml": XML.replace(b'"a"', b'"../../a"')}, "is not a C identifier: refused"),
        ({"modelDescription.xml": XML, "../evil": b""}, "would leave the folder"),
        ({"modelDescription.xml": XML, "/evil": b""}, "would leave the folder"),
        ({"modelDescription.xml": XML, "a\\..\\..\\evil": b""}, "would leave the folder"),
    ],
)  # fmt: skip
def test_archives_without_their_parts_or_with_hostile_names_are_refused(
    tmp_path: Path, members: dict[str, bytes], message: str
) -> None:
    path = write_archive(tmp_path / "bad.fmu", members)
    with pytest.raises(cosim.FmuError, match=message) as caught:
        FmuParticipant(path).describe()
    assert str(caught.value).startswith(f"{path}: ")


def test_a_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "text.fmu"
    path.write_text("hello")
    with pytest.raises(cosim.FmuError, match="FMU.*ZIP archive"):
        FmuParticipant(path).describe()
    with pytest.raises(cosim.FmuError, match="no such file"):
        FmuParticipant(tmp_path / "missing.fmu").describe()
    with pytest.raises(cosim.FmuError, match="is a folder"):
        FmuParticipant(tmp_path).describe()


def test_symbolic_link_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "link.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", XML)
        link = zipfile.ZipInfo("resources")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc")
    with pytest.raises(cosim.FmuError, match="symbolic link: refused"):
        FmuParticipant(path).describe()


def test_too_large_an_archive_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cosim_fmi.fmu_archive.LARGEST_ARCHIVE", 1000)
    path = tmp_path / "large.fmu"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("modelDescription.xml", XML)
        archive.writestr("resources/zeros", bytes(2000))
    with pytest.raises(cosim.FmuError, match="unpacks to"):
        FmuParticipant(path).describe()


def test_a_damaged_file_in_the_archive_is_refused(make_fmu: MakeFmu, tmp_path: Path) -> None:
    data = bytearray(make_fmu("gain").read_bytes())
    data[len(data) // 2] ^= 0xFF
    path = tmp_path / "damaged.fmu"
    path.write_bytes(data)
    with pytest.raises(cosim.FmuError, match="unpacked: Bad CRC-32"):
        FmuParticipant(path).initialize(0.0, 1.0, {})


def test_a_description_without_its_elements_is_refused(tmp_path: Path) -> None:
    members = {"modelDescription.xml": XML, f"{FOLDER}/a{SUFFIX}": b""}
    with pytest.raises(cosim.FmuError, match=r"modelDescription\.xml cannot be understood"):
        FmuParticipant(write_archive(tmp_path / "odd.fmu", members)).describe()


def test_a_single_library_may_have_another_name(make_fmu: MakeFmu, tmp_path: Path) -> None:
    path = make_fmu("gain")
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    renamed = {name.replace(f"gain{SUFFIX}", f"other-name{SUFFIX}"): data for name, data in members.items()}
    participant = FmuParticipant(write_archive(tmp_path / "renamed.fmu", renamed))
    participant.initialize(0.0, 1.0, {"u": 2.0})
    assert participant.get(["y"]) == [2.0]
    participant.close()


def test_library_that_cannot_be_loaded_leaves_nothing_behind(make_fmu: MakeFmu, tmp_path: Path) -> None:
    path = make_fmu("gain")
    damaged = tmp_path / "bad.fmu"
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(damaged, "w") as target:
        for name in source.namelist():
            content = source.read(name) if name.endswith(".xml") else b"no library"
            target.writestr(name, content)
    working_folder = os.getcwd()
    with pytest.raises(cosim.FmuError, match="the library cannot be loaded"):
        FmuParticipant(damaged).initialize(0.0, 1.0, {})
    assert os.getcwd() == working_folder
