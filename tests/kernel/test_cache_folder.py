"""The folder of compiled kernels: which one is used, who may write to it, what is read and removed."""

import errno
import functools
import logging
import os
import time
from pathlib import Path

import pytest
from flip_run import with_flipped_bit

from cosim_compiler import kernel_cache
from cosim_compiler.native import is_plain

FIND_FOLDER = kernel_cache.folder.__wrapped__
posix_only = pytest.mark.skipif(not hasattr(os, "getuid"), reason="rights of files are POSIX's")
compiled_only = pytest.mark.skipif(is_plain(), reason="nothing is compiled here")


@pytest.fixture(autouse=True)
def no_complaints(monkeypatch):
    """Nothing was logged yet, as in a new process."""
    monkeypatch.setattr(kernel_cache, "_complaints", set())


def use_folder(monkeypatch, path):
    """The folder that is used if `COSIM_CACHE_DIR` is this path; None if there is none."""
    monkeypatch.setenv("COSIM_CACHE_DIR", str(path))
    return FIND_FOLDER()


@posix_only
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o701])
def test_beside_a_folder_that_is_open_to_others_a_new_one_is_created(monkeypatch, tmp_path, caplog, mode):
    for name in ("kernels", "kernels-2"):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(mode)
    assert use_folder(monkeypatch, tmp_path) == tmp_path / "kernels-3"
    assert use_folder(monkeypatch, tmp_path) == tmp_path / "kernels-3"
    assert caplog.text.count("open to other users") == 4


@posix_only
def test_a_link_in_place_of_the_folder_is_not_followed(monkeypatch, tmp_path, caplog):
    (tmp_path / "target").mkdir(mode=0o700)
    (tmp_path / "kernels").symlink_to(tmp_path / "target")
    assert use_folder(monkeypatch, tmp_path) == tmp_path / "kernels-2"
    assert "not a folder" in caplog.text


@posix_only
@pytest.mark.parametrize("entry", ["a file that others can write", "a link", "a pipe", "a folder"])
def test_only_a_file_that_belongs_to_the_user_alone_is_read(monkeypatch, tmp_path, caplog, entry):
    folder = use_folder(monkeypatch, tmp_path)
    monkeypatch.setattr(kernel_cache, "folder", lambda: folder)
    kernel_cache.write_cached("digest", b"code")
    assert kernel_cache.read_cached("digest") == b"code"
    path = folder / "digest"
    if entry == "a file that others can write":
        path.chmod(0o620)
    else:
        path.rename(tmp_path / "elsewhere")
        if entry == "a link":
            path.symlink_to(tmp_path / "elsewhere")
        else:
            os.mkfifo(path) if entry == "a pipe" else path.mkdir()
    assert kernel_cache.read_cached("digest") is None
    assert caplog.text.count("compiled again") == 1


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give files away")
def test_a_folder_or_file_of_another_user_is_not_used(monkeypatch, tmp_path):
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
def test_an_entry_that_others_may_write_by_now_is_not_read(monkeypatch, tmp_path, caplog):
    monkeypatch.setattr(kernel_cache, "folder", lambda: tmp_path)
    kernel_cache.write_cached("digest", b"code")
    assert kernel_cache.read_cached("digest") == b"code"
    (tmp_path / "digest").chmod(0o666)
    assert kernel_cache.read_cached("digest") is None
    assert caplog.text.count("compiled again") == 1


def test_a_read_only_folder_is_only_read(monkeypatch, tmp_path, caplog):
    def refuse(path, *arguments, **options):
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
        monkeypatch.setattr(where, name, refuse)
    monkeypatch.setattr(kernel_cache, "folder", functools.cache(FIND_FOLDER))
    assert kernel_cache.folder() == folder and not kernel_cache.can_keep()
    assert kernel_cache.read_cached("digest") == b"code" and caplog.text == ""
    with kernel_cache.alone("digest"):
        kernel_cache.write_cached("other", b"code")
    assert caplog.text.count("is not kept: Read-only file system") == 1
    assert sorted(p for p in tmp_path.rglob("*") if ".lock" not in p.name) == before


def test_a_full_disk_is_reported_once(monkeypatch, tmp_path, caplog):
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
def test_each_reason_for_not_reading_is_reported_once(monkeypatch, tmp_path, caplog):
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
def test_the_reason_why_no_folder_is_used_is_reported(monkeypatch, tmp_path, caplog):
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
    """Its target is not created, and the work is done without a lock."""
    monkeypatch.setattr(kernel_cache, "folder", lambda: tmp_path)
    (tmp_path / ".lock-abc").symlink_to(tmp_path / "other")
    with kernel_cache.alone("abc"):
        pass
    assert not (tmp_path / "other").exists()


@posix_only
@pytest.mark.parametrize("missing", ["locks", "rights"])
def test_without_locks_the_work_is_done_all_the_same(monkeypatch, tmp_path, missing):
    import fcntl

    def refuse(*_):
        raise OSError(37, "No locks available")

    monkeypatch.setattr(kernel_cache, "folder", lambda: tmp_path)
    if missing == "locks":
        monkeypatch.setattr(fcntl, "flock", refuse)
    with kernel_cache.alone("digest"):
        is_done = True
        if missing == "rights":  # another process, or a file system that has become one to read only
            monkeypatch.setattr(Path, "unlink", refuse)
    assert is_done


def test_an_entry_with_a_wrong_checksum_is_not_read(monkeypatch, tmp_path, caplog):
    monkeypatch.setattr(kernel_cache, "folder", lambda: tmp_path)
    kernel_cache.write_cached("digest", b"some code")
    content = (tmp_path / "digest").read_bytes()
    caplog.set_level(logging.DEBUG, "cosim.native")
    for bit in range(8 * len(content)):
        (tmp_path / "digest").write_bytes(with_flipped_bit(content, bit))
        assert kernel_cache.read_cached("digest") is None
    assert len(caplog.records) == 8 * len(content)
    for size in range(len(content)):
        (tmp_path / "digest").write_bytes(content[:size])
        assert kernel_cache.read_cached("digest") is None
    (tmp_path / "digest").write_bytes(content)
    assert kernel_cache.read_cached("digest") == b"some code"
    (tmp_path / "digest").rename(tmp_path / "other")
    assert kernel_cache.read_cached("other") is None


def test_old_entries_are_removed_once_a_day(monkeypatch, tmp_path):
    folder = use_folder(monkeypatch, tmp_path)
    old_file, old_folder, new_file = folder / ("0" * 32), folder / ("1" * 32), folder / ("2" * 32)
    old_folder.mkdir()
    past = time.time() - (kernel_cache.KEEP_DAYS + 1) * kernel_cache.DAY
    for path in (old_file, new_file, old_folder / "entry"):
        path.touch()
    for path in (old_file, old_folder):
        os.utime(path, (past, past))
    kernel_cache.prune(folder)
    assert old_file.exists()  # it was pruned today
    os.utime(folder / ".pruned", (past, past))
    kernel_cache.prune(folder)
    assert (old_file.exists(), old_folder.exists(), new_file.exists()) == (False, False, True)
    assert time.time() - (folder / ".pruned").stat().st_mtime < kernel_cache.DAY


def test_reading_an_entry_renews_its_age(monkeypatch, tmp_path):
    monkeypatch.setattr(kernel_cache, "folder", lambda: tmp_path)
    kernel_cache.write_cached("digest", b"code")
    past = time.time() - 2 * kernel_cache.DAY
    os.utime(tmp_path / "digest", (past, past))
    assert kernel_cache.read_cached("digest") == b"code"
    assert time.time() - (tmp_path / "digest").stat().st_mtime < kernel_cache.DAY
