"""The folder of compiled kernels: shared, damaged, unwritable, private, never stale."""

import json
import math
import os
import stat
import subprocess
import sys
import time
import types
from pathlib import Path

import cache_run
import pytest

from cosim.compiled import kernel_cache
from cosim.compiled.fingerprint import fingerprint
from cosim.compiled.native import is_plain

VALUE = float.hex(math.sin(0.5) + 1.0)
compiled_only = pytest.mark.skipif(is_plain(), reason="nothing is compiled here")


def start(folder):
    """Begin a process that uses a cache folder."""
    environment = {**os.environ, "COSIM_CACHE_DIR": str(folder), "NUMBA_DISABLE_JIT": "0"}
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
    return [p for p in Path(folder).rglob("*") if p.is_file() and p.suffix in (".nbi", ".nbc")]


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
@pytest.mark.parametrize(
    "damage", [lambda data: b"", lambda data: data[: len(data) // 2], lambda data: b"junk"]
)
def test_damaged_entries_are_compiled_again(filled, damage):
    for path in entries(filled):
        path.write_bytes(damage(path.read_bytes()))
    assert any("compiled" in note for note in finish(start(filled)))
    assert finish(start(filled)) == []


@compiled_only
def test_a_folder_that_cannot_be_used_is_done_without(tmp_path):
    (tmp_path / "file").write_text("no folder")
    notes = finish(start(tmp_path / "file"))
    assert any("not kept" in note for note in notes)


@compiled_only
def test_the_folder_is_private(filled):
    for path in [filled / "kernels", *(p for p in (filled / "kernels").iterdir() if p.is_dir())]:
        if path.name == "kernels":
            assert stat.S_IMODE(path.stat().st_mode) == 0o700


def use_folder(monkeypatch, path):
    """What the kernel says to a folder in this process."""
    monkeypatch.setenv("COSIM_CACHE_DIR", str(path))
    return kernel_cache.folder.__wrapped__()


def test_an_open_folder_is_closed(monkeypatch, tmp_path):
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels").chmod(0o777)
    assert use_folder(monkeypatch, tmp_path) == tmp_path / "kernels"
    assert stat.S_IMODE((tmp_path / "kernels").stat().st_mode) == 0o700


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give files away")
def test_somebody_elses_folder_is_not_used(monkeypatch, tmp_path):
    (tmp_path / "kernels").mkdir()
    os.chown(tmp_path / "kernels", 12345, 12345)
    assert use_folder(monkeypatch, tmp_path) is None


def test_old_entries_are_removed_once_a_day(monkeypatch, tmp_path):
    folder = use_folder(monkeypatch, tmp_path)
    old, fresh = folder / ("0" * 32), folder / ("1" * 32)
    for path in (old, fresh):
        path.mkdir()
    past = time.time() - (kernel_cache.KEEP_DAYS + 1) * kernel_cache.DAY
    os.utime(old, (past, past))
    kernel_cache.prune(folder)
    assert old.exists()
    os.utime(folder / ".pruned", (past, past))
    kernel_cache.prune(folder)
    assert (old.exists(), fresh.exists()) == (False, True)


def changed(function, **namespace):
    """The same function with other globals."""
    return types.FunctionType(function.__code__, {**function.__globals__, **namespace}, function.__name__)


def first(x):
    return math.sin(x) + 1.0


def second(x):
    return math.sin(x) + 2.0


def third(x):
    return math.cos(x) + 1.0


def user(x):
    return curve(x) * FACTOR


curve, FACTOR = first, 2.0


def test_a_changed_helper_gives_a_new_digest():
    digests = {
        fingerprint(user),
        fingerprint(changed(user, curve=second)),
        fingerprint(changed(user, curve=third)),
        fingerprint(changed(user, FACTOR=3.0)),
        fingerprint(changed(user, FACTOR=2)),
        fingerprint(user, "signature"),
        fingerprint(user, "signature", "version"),
    }
    assert len(digests) == 7
    assert fingerprint(user) == fingerprint(changed(user))


def outer(x):
    return middle(x)


def middle(x):
    return curve(x)


def test_a_change_two_helpers_deep_gives_a_new_digest():
    deep = changed(outer, middle=changed(middle, curve=first))
    other = changed(outer, middle=changed(middle, curve=second))
    assert fingerprint(deep) == fingerprint(outer)
    assert fingerprint(other) != fingerprint(outer)


def test_a_constant_in_a_closure_counts():
    def make(constant):
        def inner(x):
            return x + constant

        return inner

    assert fingerprint(make(1.0)) != fingerprint(make(2.0))
    assert fingerprint(make(1.0)) == fingerprint(make(1.0))


def test_recursive_functions_have_a_digest():
    assert fingerprint(recursive) == fingerprint(recursive)


def recursive(n):
    return 0.0 if n <= 0 else recursive(n - 1) + 1.0
