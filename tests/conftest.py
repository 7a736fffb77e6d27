"""What all tests share."""

from __future__ import annotations

import functools
import gc
import os
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import by_turns
import few_messages
import file_order
import how_many
import long_checks
import memory_folder
import pytest
import unpacked_once
from hypothesis import HealthCheck, Phase, settings

from cosim.kit import private_folder, remove_folder
from cosim_compiler.machine import UNOPTIMIZED
from cosim_export.native.compilers import OwnCompiler, ZigCompiler, available_compilers, own_platform
from cosim_lowering import optimizer

HERE = Path(__file__).parent
SHORT = "not thorough"
"""The expression of marks in `pyproject.toml`."""

# A machine that others use as well draws examples slowly: no fault of the tests. To explain a counterexample
# hypothesis traces every line.
settings.register_profile(
    "unhurried",
    settings(),
    max_examples=min(how_many.many(10), 100),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[phase for phase in Phase if phase is not Phase.explain],
)
settings.load_profile("unhurried")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is collected stays: no search for garbage goes through it, then or during the tests.

    These make much and keep little, so that searches that come seldom find as much.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000, 10, 10)
        gc.enable()


class _Backwards(pytest.Dir):
    """A folder that is collected from its end."""

    def collect(self) -> list[pytest.Item | pytest.Collector]:
        return list(super().collect())[::-1]


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Dir | None:
    """Of two workers one begins at the end: each finds half of the files as the other has compiled them."""
    worker = getattr(parent.config, "workerinput", {"workerid": "gw0"})["workerid"]
    return _Backwards.from_parent(parent, path=path) if int(worker[2:]) % 2 else None


def pytest_pycollect_makeitem(collector: pytest.Module | pytest.Class, obj: object) -> list[Any] | None:
    """Workers of a short run make no cases of functions that only a thorough one runs: a quarter of all."""
    config = collector.config
    is_short = hasattr(config, "workerinput") and config.option.markexpr == SHORT
    return [] if is_short and long_checks.is_thorough(collector, obj) else None


def pytest_configure(config: pytest.Config) -> None:
    """Files are given to workers in our order, and workers say little."""
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False
    if hasattr(config, "workerinput"):
        config.pluginmanager.register(few_messages)


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Workers take what takes long first; of some combinations a short run has a few.

    Whatever is imported from here on is not a helper module.
    """
    is_worker = hasattr(config, "workerinput")
    if is_worker:
        items.sort(key=lambda item: item.path)
    by_turns.mark_cases(items)
    long_checks.mark_long_checks(items)
    yield
    if is_worker:
        seconds = config.workerinput["seconds_of_files"]
        by_files = ((item.nodeid.partition("::")[0], item) for item in items)
        items[:] = file_order.in_order(by_files, seconds, config.rootpath)
    sys.path[:] = helpers_last(sys.path)


_seconds: Counter[str] = Counter()
"""What each file has taken in this run."""


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """All workers order files by the same numbers."""
    node.workerinput["seconds_of_files"] = file_order.kept_seconds()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _seconds[report.nodeid.partition("::")[0]] += report.duration


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Keep what files took for the next run, if this was one of all files."""
    config = session.config
    is_whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS and not (
        config.option.keyword or config.option.collectonly
    )
    if is_whole and not hasattr(config, "workerinput") and not session.shouldstop:
        file_order.keep_seconds(_seconds)


def helpers_last(path: list[str]) -> list[str]:
    """Folders of this repository that hold no package stand last, and once: else each import looks there."""
    ours = tuple(str(HERE.parent / name) for name in ("benchmarks", "examples", "release", "tests"))
    helpers = dict.fromkeys(p for p in path if p.startswith(ours))
    return [*(p for p in path if p not in helpers), *helpers]


_folders: list[Path] = []


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """All workers write into one folder, in memory where there is room and `TMPDIR` names no other.

    Nothing in it outlives the tests, also not what a process leaves behind that a test has killed.
    """
    if "TMPDIR" not in os.environ and memory_folder.has_room():
        tempfile.tempdir = str(memory_folder.PLACE)
    _folders.append(private_folder("tests"))
    os.environ["TMPDIR"] = tempfile.tempdir = str(_folders[-1])


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Remove it.

    pytest goes on to search five times for garbage whose end failed: after this the other four find nothing.
    """
    while _folders:
        remove_folder(_folders.pop())
    gc.collect()
    gc.freeze()


def find_helpers_in_subprocesses(patch: pytest.MonkeyPatch, place: Path) -> None:
    """A Python that a test starts finds the helper modules of the tests, behind all others.

    In ``PYTHONPATH`` their folders would be looked at first, in every import of every process.
    """
    inside = [p for p in sorted(HERE.iterdir()) if p.is_dir() and p.name not in ("__pycache__", "data")]
    folders = [str(p) for p in (HERE, *inside)]
    (place / "sitecustomize.py").write_text(f"import sys\n\nsys.path += {folders}\n", "utf-8")
    patch.setenv("PYTHONPATH", str(place), prepend=os.pathsep)


def parse_names_once(patch: pytest.MonkeyPatch) -> None:
    """fmpy asks a general parser whether names are legal, which takes longer than all its other checks."""
    from lark import Lark

    parse, legal = Lark.parse, set()

    def parsed(parser: Lark, name: str) -> None:
        if (parser.source_grammar, name) not in legal:
            parse(parser, name)
            legal.add((parser.source_grammar, name))

    patch.setattr(Lark, "parse", parsed)


def unpack_modules_once(patch: pytest.MonkeyPatch, place: Path) -> unpacked_once.UnpackedOnce:
    """To unpack FMUs took a sixth of the time of their tests."""
    once = unpacked_once.UnpackedOnce(place)
    patch.setattr(ZipFile, "extractall", lambda *given, **named: once.extractall(*given, **named))
    return once


@pytest.fixture(scope="session", autouse=True)
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What holds for all tests, in one fixture: pytest asks each test for each of them."""
    # Tests of interrupts work as well where the run is in the background, which ignores them.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1700000000")  # FMUs that are compared to the byte have one date
        find_helpers_in_subprocesses(patch, tmp_path_factory.mktemp("helper_modules"))
        parse_names_once(patch)
        once = unpack_modules_once(patch, tmp_path_factory.mktemp("unpacked"))
        yield
    assert not once.written_since(), "a test wrote into files that all unpacked FMUs share"


OPTIMIZED_KERNELS = {
    "language",
    "step_oracle",
    "test_derivatives_in_lanes",
    "test_loops_as_they_are",
    "test_lowering_to_machine_code",
    "test_object_loader",
    "test_stress",
}
"""Folders and files whose kernel functions are optimized in a short run too, as users get them."""


OPTIMIZED = {
    "test_lowering_to_machine_code",
    "test_native_fmu",
    "test_native_fuzz",
    "test_native_hosts",
    "test_native_random",
}
"""Files whose native code is optimized in a short run too, as users get them."""


WITH_ZIG = {
    "test_native_choices",
    "test_native_exports",
    "test_native_platforms",
    "test_old_systems",
    "test_robot_fmu",
    "test_wine",
    "test_zig_libraries",
}
"""Files whose libraries zig makes in a short run too, as users get them who have it."""


@functools.cache
def has_own_compiler() -> bool:
    """Whether this machine has a C compiler for libraries of its own platform."""
    own = [compiler for compiler in available_compilers() if isinstance(compiler, OwnCompiler)]
    return any(own_platform() in compiler.platforms() for compiler in own)


@pytest.fixture(scope="module", autouse=True)
def native_code_is_made_soon(request: pytest.FixtureRequest) -> Iterator[None]:
    """In a short run LLVM optimizes little, and the machine's own compiler makes libraries.

    At its level 0 LLVM needs down to an eighth of the time; no bit of a number depends on it. The own
    compiler takes a twentieth of the second that zig takes, which exports prefer.
    """
    with pytest.MonkeyPatch.context() as patch:
        if how_many.FACTOR == 1 and not OPTIMIZED_KERNELS & {request.path.stem, request.path.parent.name}:
            patch.setenv(UNOPTIMIZED, "1")  # kernel functions; also those of processes that a test starts
        if how_many.FACTOR == 1 and request.path.stem not in OPTIMIZED:
            patch.setattr(optimizer, "LEVEL", 0)
        if how_many.FACTOR == 1 and request.path.stem not in WITH_ZIG and has_own_compiler():
            patch.setattr(ZigCompiler, "platforms", lambda _: [])
        yield
