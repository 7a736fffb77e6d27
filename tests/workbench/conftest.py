"""Folders that tests of the workbench run commands in."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from ball_plugin import BALL_FILE, registry_with_ball
from example_files import write_example_files

from cosim.kit import use_registry


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def example_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that examples of commands speak of."""
    folder = tmp_path_factory.mktemp("examples")
    write_example_files(folder)
    return folder


@pytest.fixture
def example_folder(example_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of these files that is the current folder."""
    folder = tmp_path / "here"
    shutil.copytree(example_files, folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def ball_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with a model file of a ball, which a plugin has."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ball.toml").write_text(BALL_FILE, "utf-8")
    with use_registry(registry_with_ball()):
        yield tmp_path
