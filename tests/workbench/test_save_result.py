"""Results that cannot be written to their place are written to a temporary folder."""

import tempfile

import numpy as np
import pytest

import cosim


class FullDisk:
    """A sink that has no room in some folders."""

    def __init__(self, *full):
        self.full = full

    def write(self, result, path):
        if any(folder in path.parents for folder in self.full):
            raise OSError(28, "No space left on device")
        path.write_text(str(result.time.tolist()))


RESULT = cosim.Result(np.array([0.0, 0.5]), {})


def test_the_message_says_where_the_results_are(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(cosim.CosimError, match=r"device\. The results") as raised:
        cosim.save_result(FullDisk(tmp_path / "full"), RESULT, tmp_path / "full" / "out.tsv")
    (spare,) = tmp_path.glob("cosim-results-*/out.tsv")
    assert str(raised.value).endswith(str(spare))
    assert spare.read_text() == "[0.0, 0.5]"


def test_without_room_anywhere_the_first_error_is_raised(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(OSError, match=r"^\[Errno 28\] No space left on device$"):
        cosim.save_result(FullDisk(tmp_path), RESULT, tmp_path / "out.csv")
