"""Checkpoints that are damaged, forged or something else: one sentence, and no result."""

import os
import zlib
from pathlib import Path

import pytest
from how_many import many

import cosim
from cosim.cli import main

MODEL = """[model]
name = "rod"
[bodies.rod]
mass = "1 kg"
inertia = [0.1, 0.1, 0.1]
joint = { type = "pin" }
[simulation]
until = 0.04
"""
SCENARIO = """[participants.a]
model = "rod.toml"
[participants.b]
model = "rod.toml"
[master]
step = "10 ms"
until = 0.04
"""
COMMANDS = {"run": "rod.toml", "cosimulate": "pair.toml"}
PICKLE_BOMB = b"cos\nsystem\n(S'touch RAN'\ntR."
DAMAGES = {
    "empty": lambda data: b"",
    "one byte": lambda data: data[:1],
    "magic alone": lambda data: data[:8],
    "in the head": lambda data: data[:40],
    "half": lambda data: data[: len(data) // 2],
    "without the last byte": lambda data: data[:-1],
    "one byte more": lambda data: data + b"x",
    "zeros": lambda data: bytes(len(data)),
    "magic of others": lambda data: b"PK\x03\x04" + data[4:],
    "another version": lambda data: data[:7] + bytes([data[7] ^ 1]) + data[8:],
    "compressed": zlib.compress,
    "twice": lambda data: data + data,
    "a result": lambda data: b"time,y\n0,1\n",
    "a pickle": lambda data: PICKLE_BOMB,
    "a pickle behind the magic": lambda data: data[:8] + PICKLE_BOMB,
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rod.toml").write_text(MODEL)
    (tmp_path / "pair.toml").write_text(SCENARIO)
    return tmp_path


def refusal(command: str, checkpoint: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The message of a command that is to resume a checkpoint and writes no result."""
    words = [command, COMMANDS[command], "--resume", checkpoint, "-o", "out.csv", "-q"]
    assert main(words) == 2, checkpoint
    output = capsys.readouterr()
    assert "Traceback" not in output.err and output.out == "" and not Path("out.csv").exists()
    assert not Path("RAN").exists()
    return output.err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_damaged_checkpoint_is_refused_in_one_sentence(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [command, COMMANDS[command], "-q", "-o"]
    assert main([*words, "on.csv", "--until", "0.02", "--checkpoint", "kept"]) == 0
    assert main([*words, "on.csv", "--resume", "kept"]) == 0  # undamaged it is accepted
    assert cosim.read_result("on.csv").time[[0, -1]].tolist() == [0.0, 0.04]
    data = (folder / "kept").read_bytes()
    flipped = {f"bit of byte {i}": i for i in range(0, len(data), max(1, len(data) // many(10)))}
    damaged_files = {name: damage(data) for name, damage in DAMAGES.items()}
    damaged_files |= {n: data[:i] + bytes([data[i] ^ 1 << i % 8]) + data[i + 1 :] for n, i in flipped.items()}
    capsys.readouterr()
    for name, damaged in damaged_files.items():
        (folder / "damaged").write_bytes(damaged)
        message = refusal(command, "damaged", capsys)
        assert message.startswith("damaged: ") and message.count("\n") <= 2, (name, message)


@pytest.mark.parametrize("command", COMMANDS)
def test_folders_pipes_and_devices_are_refused_unread(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pipe would be waited for, and /dev/zero has no end."""
    (folder / "place").mkdir()
    names = {"place": "is a folder", "nowhere": "No such file"}
    if os.name == "posix":
        os.mkfifo(folder / "pipe")
        (folder / "loop").symlink_to("loop")
        names |= {"pipe": "is a pipe or a device", "/dev/zero": "is a pipe or a device", "loop": "symbolic"}
    for name, text in names.items():
        message = refusal(command, name, capsys)
        assert message.startswith(f"{name}: ") and text in message
