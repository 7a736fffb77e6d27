"""Writing an archive to a full disk raises an error and leaves the file of that name as it was."""

import os
from pathlib import Path

import pytest

import cosim
from cosim_export.interface.archive import write_archive


@pytest.mark.skipif(os.name == "nt", reason="sizes of files are limited by POSIX")
def test_on_a_full_disk_the_old_archive_remains(tmp_path: Path) -> None:
    """A limit on the size of files stands for the full disk."""
    import resource
    import signal

    limits, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.getsignal(signal.SIGXFSZ)
    (tmp_path / "old.fmu").write_bytes(b"before")
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(cosim.CosimError, match=r"old\.fmu.*written: File too"):
            write_archive(tmp_path / "old.fmu", {"noise": os.urandom(100_000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert signal.getsignal(signal.SIGXFSZ) == handler
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("old.fmu", b"before")]
