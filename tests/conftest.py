"""Fixtures and hooks of all tests."""

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
from cosim_export.native.compilers import OwnCompiler, ZigCompiler, available_compilers
from cosim_export.native.platforms import own_platform
from cosim_lowering import optimizer

HERE = Path(__file__).parent
SHORT = "not thorough"
"""The expression of marks of a short run, as in `pyproject.toml`."""

# Without a deadline: on a busy machine examples are slow. Without explanations: for these hypothesis traces
# every line.
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
    """Exclude the collected tests from searches for garbage, now and while tests run.

    Tests make many objects and keep few of them, so that rare searches suffice.
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
    """Let every second worker collect from the end, so that two workers share the compiled files."""
    worker = getattr(parent.config, "workerinput", {"workerid": "gw0"})["workerid"]
    return _Backwards.from_parent(parent, path=path) if int(worker[2:]) % 2 else None


def pytest_pycollect_makeitem(collector: pytest.Module | pytest.Class, obj: object) -> list[Any] | None:
    """In workers of a short run, skip functions that only a thorough run needs, a quarter of all."""
    config = collector.config
    is_short = hasattr(config, "workerinput") and config.option.markexpr == SHORT
    return [] if is_short and long_checks.is_thorough(collector, obj) else None


def pytest_configure(config: pytest.Config) -> None:
    """Distribute files in our order, and let workers send few messages."""
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False
    if hasattr(config, "workerinput"):
        config.pluginmanager.register(few_messages)


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Let workers run long files first; a short run has a few of some combinations.

    From here on folders of helper modules are searched last: all helpers have been imported.
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
"""The time of each file in this run, s."""


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give all workers the same times of files."""
    node.workerinput["seconds_of_files"] = file_order.stored_seconds()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _seconds[report.nodeid.partition("::")[0]] += report.duration


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Store the times of files for the next run, if this was a run of all files."""
    config = session.config
    is_whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS and not (
        config.option.keyword or config.option.collectonly
    )
    if is_whole and not hasattr(config, "workerinput") and not session.shouldstop:
        file_order.store_seconds(_seconds)


def helpers_last(path: list[str]) -> list[str]:
    """The search path with our folders of helper modules last: each import searches all before."""
    ours = tuple(str(HERE.parent / name) for name in ("benchmarks", "examples", "release", "tests"))
    helpers = dict.fromkeys(p for p in path if p.startswith(ours))
    return [*(p for p in path if p not in helpers), *helpers]


_folders: list[Path] = []


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Let all workers write into one folder: in memory if there is room and `TMPDIR` names no other.

    It is removed after the tests, with the files of processes that tests have killed.
    """
    if "TMPDIR" not in os.environ and memory_folder.has_room():
        tempfile.tempdir = str(memory_folder.PLACE)
    _folders.append(private_folder("tests"))
    os.environ["TMPDIR"] = tempfile.tempdir = str(_folders[-1])


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Remove the folder of the workers.

    pytest then searches five times for garbage; after the search here this takes no time.
    """
    while _folders:
        remove_folder(_folders.pop())
    gc.collect()
    gc.freeze()


def find_helpers_in_subprocesses(patch: pytest.MonkeyPatch, place: Path) -> None:
    """Let a Python that a test starts find the helper modules of the tests, after all others.

    Folders in ``PYTHONPATH`` itself would be searched first, in every import of every process.
    """
    inside = [p for p in sorted(HERE.iterdir()) if p.is_dir() and p.name not in ("__pycache__", "data")]
    folders = [str(p) for p in (HERE, *inside)]
    (place / "sitecustomize.py").write_text(f"import sys\n\nsys.path += {folders}\n", "utf-8")
    patch.setenv("PYTHONPATH", str(place), prepend=os.pathsep)


def parse_names_once(patch: pytest.MonkeyPatch) -> None:
    """Let fmpy parse each name once; its parser for names takes longer than all its other checks."""
    from lark import Lark

    parse, legal_names = Lark.parse, set()

    def parsed(parser: Lark, name: str) -> None:
        if (parser.source_grammar, name) not in legal_names:
            parse(parser, name)
            legal_names.add((parser.source_grammar, name))

    patch.setattr(Lark, "parse", parsed)


def unpack_modules_once(patch: pytest.MonkeyPatch, place: Path) -> unpacked_once.UnpackedOnce:
    """Let FMUs share the Python files that they unpack: this took a sixth of the time of their tests."""
    once = unpacked_once.UnpackedOnce(place)
    patch.setattr(ZipFile, "extractall", lambda *arguments, **options: once.extractall(*arguments, **options))
    return once


@pytest.fixture(scope="session", autouse=True)
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Settings of all tests, in one fixture, because every fixture costs time in every test."""
    # A run in the background ignores interrupts, which some tests send.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1700000000")  # so that FMUs are equal to the byte
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
    compilers = [compiler for compiler in available_compilers() if isinstance(compiler, OwnCompiler)]
    return any(own_platform() in compiler.platforms() for compiler in compilers)


@pytest.fixture(scope="module", autouse=True)
def compile_native_code_fast(request: pytest.FixtureRequest) -> Iterator[None]:
    """In a short run LLVM optimizes little, and the compiler of this computer makes libraries.

    At its level 0 LLVM needs down to an eighth of the time; no bit of a number depends on it. The compiler of
    this computer takes a twentieth of the second that zig takes, which exports prefer.
    """
    with pytest.MonkeyPatch.context() as patch:
        if how_many.FACTOR == 1 and not OPTIMIZED_KERNELS & {request.path.stem, request.path.parent.name}:
            patch.setenv(UNOPTIMIZED, "1")  # kernel functions; also those of processes that a test starts
        if how_many.FACTOR == 1 and request.path.stem not in OPTIMIZED:
            patch.setattr(optimizer, "LEVEL", 0)
        if how_many.FACTOR == 1 and request.path.stem not in WITH_ZIG and has_own_compiler():
            patch.setattr(ZigCompiler, "platforms", lambda _: [])
        yield
