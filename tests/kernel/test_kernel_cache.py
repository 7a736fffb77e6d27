"""The folder of compiled kernels: shared, damaged, unwritable, private, never stale."""

import errno
import functools
import hashlib
import json
import logging
import math
import os
import pickle
import shutil
import stat
import subprocess
import sys
import time
from collections import namedtuple
from pathlib import Path

import cache_run
import flip_run
import pytest
from flip_run import with_flipped_bit

from cosim_compiler import convention, kernel_cache, unit_digests, units
from cosim_compiler.native import is_plain

FOLDER = kernel_cache.folder.__wrapped__
VALUE = float.hex(math.sin(0.5) + 1.0)
posix_only = pytest.mark.skipif(not hasattr(os, "getuid"), reason="rights of files are POSIX's")
compiled_only = pytest.mark.skipif(is_plain(), reason="nothing is compiled here")


@pytest.fixture(autouse=True)
def nothing_complained_of(monkeypatch):
    """As in a process that has just begun."""
    monkeypatch.setattr(kernel_cache, "_complaints", set())


def start(folder):
    """Begin a process that uses a cache folder."""
    environment = {**os.environ, "COSIM_CACHE_DIR": str(folder), "COSIM_PLAIN": "0"}
    return subprocess.Popen(
        [sys.executable, cache_run.__file__],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    """Value and notes of a process."""
    out, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    answer = json.loads(out)
    assert answer["value"] == VALUE
    return answer["notes"]


def entries(folder):
    """All files of kernels."""
    return [p for p in Path(folder).rglob("*") if p.is_file() and not p.name.startswith(".")]


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A folder in which two processes at once have left their kernels."""
    folder = tmp_path_factory.mktemp("cache")
    notes = [note for process in [start(folder), start(folder)] for note in finish(process)]
    assert any("compiled" in note for note in notes)  # on a busy machine one may be done before the other
    return folder


@compiled_only
def test_two_processes_at_once_and_a_third_that_compiles_nothing(filled):
    assert entries(filled)
    assert finish(start(filled)) == []


@compiled_only
def test_damaged_entries_are_compiled_again(filled):
    kept = {path: path.read_bytes() for path in entries(filled)}
    damages = [lambda data: b"", lambda data: data[: len(data) // 2], lambda data: b"junk"]
    assert len(kept) >= len(damages)
    for i, (path, data) in enumerate(kept.items()):
        path.write_bytes(damages[i % len(damages)](data))
    assert any("compiled" in note for note in finish(start(filled)))
    assert {path: path.read_bytes() for path in kept} == kept
    assert finish(start(filled)) == []


@compiled_only
def test_a_folder_that_cannot_be_used_is_done_without(tmp_path):
    (tmp_path / "file").write_text("no folder")
    notes = finish(start(tmp_path / "file"))
    assert any("not kept" in note for note in notes)


def use_folder(monkeypatch, path):
    """What the kernel says to a folder in this process."""
    monkeypatch.setenv("COSIM_CACHE_DIR", str(path))
    return FOLDER()


@compiled_only
@posix_only
def test_folder_and_entries_are_private(filled):
    assert stat.S_IMODE((filled / "kernels").stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in entries(filled)} == {0o600}


class Planted:
    """Unpickled, it makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (self.path, "w"))


@compiled_only
@posix_only
def test_what_was_planted_in_an_open_folder_is_not_run(filled, tmp_path):
    kernels = shutil.copytree(filled / "kernels", tmp_path / "kernels")
    code = pickle.dumps(Planted(str(tmp_path / "ran")))
    for path in entries(kernels):
        path.write_bytes(hashlib.sha256(path.name.encode() + b"\0" + code).digest() + code)
    kernels.chmod(0o777)
    notes = finish(start(tmp_path))
    assert sum("open to other users" in note for note in notes) == 1
    assert any("compiled" in note for note in notes)
    assert not (tmp_path / "ran").exists()
    assert stat.S_IMODE(kernels.stat().st_mode) == 0o777  # whoever opened it may look what it was
    assert [note for note in finish(start(tmp_path)) if "not used" not in note] == []


@posix_only
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o701])
def test_beside_an_open_folder_a_new_one_is_made(monkeypatch, tmp_path, caplog, mode):
    for name in ("kernels", "kernels-2"):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(mode)
    assert use_folder(monkeypatch, tmp_path) == tmp_path / "kernels-3"
    assert use_folder(monkeypatch, tmp_path) == tmp_path / "kernels-3"
    assert caplog.text.count("open to other users") == 4


@posix_only
def test_a_link_in_place_of_the_folder_is_not_followed(monkeypatch, tmp_path, caplog):
    (tmp_path / "theirs").mkdir(mode=0o700)
    (tmp_path / "kernels").symlink_to(tmp_path / "theirs")
    assert use_folder(monkeypatch, tmp_path) == tmp_path / "kernels-2"
    assert "not a folder" in caplog.text


@posix_only
@pytest.mark.parametrize("what", ["a file that others can write", "a link", "a pipe", "a folder"])
def test_only_a_file_of_the_user_alone_is_read(monkeypatch, tmp_path, caplog, what):
    folder = use_folder(monkeypatch, tmp_path)
    monkeypatch.setattr(kernel_cache, "folder", lambda: folder)
    kernel_cache.write_cached("digest", b"code")
    assert kernel_cache.read_cached("digest") == b"code"
    path = folder / "digest"
    if what == "a file that others can write":
        path.chmod(0o620)
    else:
        path.rename(tmp_path / "elsewhere")
        if what == "a link":
            path.symlink_to(tmp_path / "elsewhere")
        else:
            os.mkfifo(path) if what == "a pipe" else path.mkdir()
    assert kernel_cache.read_cached("digest") is None
    assert caplog.text.count("compiled again") == 1


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give files away")
def test_what_belongs_to_somebody_else_is_not_used(monkeypatch, tmp_path):
    folder = use_folder(monkeypatch, tmp_path)
    monkeypatch.setattr(kernel_cache, "folder", lambda: folder)
    kernel_cache.write_cached("digest", b"code")
    os.chown(folder / "digest", 12345, 12345)
    assert kernel_cache.read_cached("digest") is None
    monkeypatch.undo()
    os.chown(folder, 12345, 12345)
    assert use_folder(monkeypatch, tmp_path) == tmp_path / "kernels-2"


@compiled_only
@posix_only
def test_an_entry_that_another_user_put_there_meanwhile_is_not_read(monkeypatch, tmp_path, caplog):
    monkeypatch.setattr(kernel_cache, "folder", lambda: tmp_path)
    kernel_cache.write_cached("digest", b"code")
    assert kernel_cache.read_cached("digest") == b"code"
    (tmp_path / "digest").chmod(0o666)
    assert kernel_cache.read_cached("digest") is None
    assert caplog.text.count("compiled again") == 1


def test_a_read_only_folder_is_read(monkeypatch, tmp_path, caplog):
    def read_only(path, *given, **more):
        raise OSError(30, "Read-only file system", str(path))

    folder = use_folder(monkeypatch, tmp_path)
    monkeypatch.setattr(kernel_cache, "folder", lambda: folder)
    kernel_cache.write_cached("digest", b"code")
    assert kernel_cache.can_keep()
    yesterday = (folder / "digest").stat().st_mtime - 2 * kernel_cache.DAY
    for path in (folder / "digest", folder / ".pruned"):
        os.utime(path, (yesterday, yesterday))
    before = sorted(tmp_path.rglob("*"))
    for where, name in ((kernel_cache, "_write"), (kernel_cache.os, "utime"), (Path, "unlink")):
        monkeypatch.setattr(where, name, read_only)
    monkeypatch.setattr(kernel_cache, "folder", functools.cache(FOLDER))
    assert kernel_cache.folder() == folder and not kernel_cache.can_keep()
    assert kernel_cache.read_cached("digest") == b"code" and caplog.text == ""
    with kernel_cache.alone("digest"):
        kernel_cache.write_cached("other", b"code")
    assert caplog.text.count("is not kept: Read-only file system") == 1
    assert sorted(p for p in tmp_path.rglob("*") if ".lock" not in p.name) == before


def test_one_line_says_that_hundreds_cannot_be_kept(monkeypatch, tmp_path, caplog):
    def full(path, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kernel_cache, "folder", lambda: tmp_path)
    monkeypatch.setattr(kernel_cache, "_write", full)
    for number in range(100):
        kernel_cache.write_cached(f"digest{number}", b"code")
    assert [record.message for record in caplog.records] == [
        f"compiled kernel {tmp_path / 'digest0'} is not kept: No space left on device; "
        "COSIM_CACHE_DIR may name another folder"
    ]


@posix_only
def test_another_reason_is_told_too(monkeypatch, tmp_path, caplog):
    monkeypatch.setattr(kernel_cache, "folder", lambda: tmp_path)
    (tmp_path / "damaged").write_bytes(b"code")
    (tmp_path / "folder").mkdir()
    for digest in ("damaged", "folder", "damaged", "folder"):
        assert kernel_cache.read_cached(digest) is None
    assert [record.args[1] for record in caplog.records] == [
        "damaged, or open to other users",
        os.strerror(errno.EISDIR),
    ]


@posix_only
def test_it_is_said_why_no_folder_is_used(monkeypatch, tmp_path, caplog):
    for number in range(1, kernel_cache.FOLDERS + 1):
        path = tmp_path / ("kernels" if number == 1 else f"kernels-{number}")
        path.mkdir()
        path.chmod(0o777)
    assert use_folder(monkeypatch, tmp_path) is None
    assert (
        f"not kept: {tmp_path / 'kernels'}: {kernel_cache.FOLDERS} folders are open to others" in caplog.text
    )


@posix_only
def test_a_link_in_place_of_a_lock_is_not_followed(monkeypatch, tmp_path):
    """Nothing is made where it leads, and the work is done without a lock."""
    monkeypatch.setattr(kernel_cache, "folder", lambda: tmp_path)
    (tmp_path / ".lock-abc").symlink_to(tmp_path / "other")
    with kernel_cache.alone("abc"):
        pass
    assert not (tmp_path / "other").exists()


@posix_only
@pytest.mark.parametrize("missing", ["locks", "rights"])
def test_where_there_are_no_locks_it_is_made_without(monkeypatch, tmp_path, missing):
    import fcntl

    def refuse(*_):
        raise OSError(37, "No locks available")

    monkeypatch.setattr(kernel_cache, "folder", lambda: tmp_path)
    if missing == "locks":
        monkeypatch.setattr(fcntl, "flock", refuse)
    with kernel_cache.alone("digest"):
        made = True
        if missing == "rights":  # another process, or a file system that has become one to read only
            monkeypatch.setattr(Path, "unlink", refuse)
    assert made


def test_nothing_is_read_that_its_checksum_does_not_fit(monkeypatch, tmp_path, caplog):
    monkeypatch.setattr(kernel_cache, "folder", lambda: tmp_path)
    kernel_cache.write_cached("digest", b"some code")
    whole = (tmp_path / "digest").read_bytes()
    caplog.set_level(logging.DEBUG, "cosim.native")
    for bit in range(8 * len(whole)):
        (tmp_path / "digest").write_bytes(with_flipped_bit(whole, bit))
        assert kernel_cache.read_cached("digest") is None
    assert len(caplog.records) == 8 * len(whole)
    for size in range(len(whole)):
        (tmp_path / "digest").write_bytes(whole[:size])
        assert kernel_cache.read_cached("digest") is None
    (tmp_path / "digest").write_bytes(whole)
    assert kernel_cache.read_cached("digest") == b"some code"
    (tmp_path / "digest").rename(tmp_path / "other")
    assert kernel_cache.read_cached("other") is None


@pytest.mark.thorough
@compiled_only
@pytest.mark.skipif(not hasattr(os, "fork"), reason="a process for each flip would take too long")
@pytest.mark.parametrize("count", [8, 1000])
def test_flipped_bits_neither_crash_nor_give_a_wrong_number(filled, tmp_path, count):
    folder = shutil.copytree(filled, tmp_path / "cache")
    environment = {**os.environ, "COSIM_CACHE_DIR": str(folder), "COSIM_PLAIN": "0"}
    command = [sys.executable, flip_run.__file__, str(count)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {"right": count}


@compiled_only
@pytest.mark.parametrize(
    "name", ["calls", "convention", "machine", "units", "unit_digests", "language/reading", "printers/llvm"]
)
def test_all_that_is_found_counts_the_modules_that_write_it(monkeypatch, tmp_path, name):
    made_by = unit_digests.compiler_digest.__wrapped__
    before = made_by()
    package = tmp_path / "package"
    shutil.copytree(Path(units.__file__).parent, package, ignore=shutil.ignore_patterns("shipped"))
    monkeypatch.setattr(unit_digests, "__file__", str(package / "unit_digests.py"))
    assert made_by() == before
    with (package / f"{name}.py").open("a") as file:
        file.write("EDITED = True\n")
    assert made_by() != before


@compiled_only
def test_members_of_a_named_tuple_that_change_places_count(monkeypatch):
    digests = set()
    for names in ("first second", "second first", "first second"):
        monkeypatch.setitem(convention.COMPOUNDS, "Q", (namedtuple("Two", names), "FF"))
        digests.add(unit_digests.digest_of_unit(((with_flipped_bit, "Q>f"),)))
    assert len(digests) == 2


def test_old_entries_are_removed_once_a_day(monkeypatch, tmp_path):
    folder = use_folder(monkeypatch, tmp_path)
    old, older, fresh = folder / ("0" * 32), folder / ("1" * 32), folder / ("2" * 32)
    older.mkdir()
    past = time.time() - (kernel_cache.KEEP_DAYS + 1) * kernel_cache.DAY
    for path in (old, fresh, older / "entry"):
        path.touch()
    for path in (old, older):
        os.utime(path, (past, past))
    kernel_cache.prune(folder)
    assert old.exists()
    os.utime(folder / ".pruned", (past, past))
    kernel_cache.prune(folder)
    assert (old.exists(), older.exists(), fresh.exists()) == (False, False, True)
    assert time.time() - (folder / ".pruned").stat().st_mtime < kernel_cache.DAY


def test_an_entry_in_use_is_no_old_one(monkeypatch, tmp_path):
    monkeypatch.setattr(kernel_cache, "folder", lambda: tmp_path)
    kernel_cache.write_cached("digest", b"code")
    past = time.time() - 2 * kernel_cache.DAY
    os.utime(tmp_path / "digest", (past, past))
    assert kernel_cache.read_cached("digest") == b"code"
    assert time.time() - (tmp_path / "digest").stat().st_mtime < kernel_cache.DAY
