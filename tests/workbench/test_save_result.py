"""Results that cannot be written where they should go."""

import tempfile

import numpy as np
import pytest

import cosim


class Sink:
    """Has no room in some places."""

    def __init__(self, *full):
        self.full = full

    def write(self, result, path):
        if any(folder in path.parents for folder in self.full):
            raise OSError(28, "No space left on device")
        path.write_text(str(result.time.tolist()))


RESULT = cosim.Result(np.array([0.0, 0.5]), {})


def test_they_go_elsewhere_and_the_message_says_where(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(cosim.CosimError, match=r"device\. The results") as caught:
        cosim.save_result(Sink(tmp_path / "full"), RESULT, tmp_path / "full" / "out.tsv")
    (spare,) = tmp_path.glob("cosim-results-*/out.tsv")
    assert str(caught.value).endswith(str(spare))
    assert spare.read_text() == "[0.0, 0.5]"


def test_where_there_is_no_room_at_all_the_first_error_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(OSError, match=r"^\[Errno 28\] No space left on device$"):
        cosim.save_result(Sink(tmp_path), RESULT, tmp_path / "out.csv")
