"""The black box of a run, from which a second process reads rows and notes after the first has ended."""

import os
import signal
import sys
from collections.abc import Iterator

import pytest

from cosim.command_line import black_box, supervised
from cosim.command_line.black_box import BlackBox, BlackBoxReader
from cosim.command_line.plugins_command import PluginsCommand
from cosim.simulation.interrupt import Terminated

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the run is a fork on Linux only")


@pytest.fixture
def box() -> Iterator[BlackBox]:
    """A black box; the status words of this process are restored afterwards."""
    status_words = black_box.status_words
    box = BlackBox()
    yield box
    box.close()
    black_box.status_words = status_words


def test_the_outcome_of_a_process_that_was_terminated(box: BlackBox) -> None:
    reader, command_run = BlackBoxReader(box), PluginsCommand()

    # it has answered the signal, or a second one has ended it before it recorded its status
    for code in (143, -signal.SIGTERM):
        outcome = supervised._outcome(code, [signal.SIGTERM], reader, command_run)
        assert isinstance(outcome, Terminated) and str(outcome) == "terminated"

    # without a signal the status 143 has no known reason
    outcome = supervised._outcome(143, [], reader, command_run)
    assert isinstance(outcome, supervised.LostProcessError) and "nothing said why" in str(outcome)

    # the command had recorded status 0 (as 0 + 1) before the signal
    box.status_words[black_box.ENDED] = 0 + 1
    for code in (0, -signal.SIGTERM):
        outcome = supervised._outcome(code, [signal.SIGTERM], reader, command_run)
        assert isinstance(outcome, supervised.EndedElsewhere) and outcome.status == 0


def test_an_incomplete_last_entry_is_left_out(box: BlackBox) -> None:
    reader = BlackBoxReader(box)
    box.write(("first", 1))
    box.write(("second", 2))
    size = os.fstat(box._rows.fileno()).st_size
    os.ftruncate(box._rows.fileno(), size - 1)
    assert list(reader.entries()) == [("first", 1)]
    os.ftruncate(box._rows.fileno(), 3)
    assert list(reader.entries()) == []


def test_the_reader_has_the_last_note_of_a_kind_and_shared_memory(box: BlackBox) -> None:
    reader = BlackBoxReader(box)
    box.send_note("kind", "old")
    box.send_note("kind", "new")
    memory = box.shared_memory("numbers", 16)
    memory[:3] = b"abc"
    assert box.shared_memory("numbers", 8) is memory
    notes = reader.notes()
    memory_of_reader = reader.memory("numbers", notes)
    assert notes["kind"] == "new"
    assert memory_of_reader is not None and bytes(memory_of_reader[:3]) == b"abc"
    assert reader.memory("others", notes) is None


def test_rows_are_discarded_if_the_disk_is_full(box: BlackBox, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, write = BlackBoxReader(box), black_box._write

    def write_no_rows(file: int, data: bytes) -> None:
        if file == box._rows.fileno():
            raise OSError(28, "No space left on device")
        write(file, data)

    monkeypatch.setattr(black_box, "_write", write_no_rows)
    box.write(("row", 1))
    assert not box.keeps_rows and "rows" in reader.notes() and list(reader.entries()) == []
