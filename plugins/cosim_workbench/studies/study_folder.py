"""The folder of a study: its description, its points, and parts with the rows of finished points."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

import cosim
from cosim.kit import is_draft, replaced_file

DESCRIPTION, POINTS, LOCK, TABLE = "study.json", "points.csv", "study.lock", "table.csv"
PART = "part-{:08d}.csv"
PARTS = re.compile(r"^part-(\d+)\.csv$")


def _sum_line(data: bytes) -> bytes:
    """The last line of points and parts: a comment with the checksum of what stands before it."""
    return f"# sha256 {hashlib.sha256(data).hexdigest()}\n".encode()


SUM_LENGTH = len(_sum_line(b""))


class StudyFolder:
    """Stores the rows of points in parts; a part gets its name when it is complete, so a kill loses none.

    The last line of the points and of each part is a comment with a checksum.

    Parameters
    ----------
    path : Path
        A folder, or where one is made.
    description : mapping
        The facts that identify a study; JSON.

    Raises
    ------
    CosimError
        Another study, or something else, is in the folder.
    """

    def __init__(self, path: Path, description: Mapping[str, Any]) -> None:
        self.path = path
        text = json.dumps(description, indent=1, sort_keys=True)
        try:
            path.mkdir(exist_ok=True)
        except OSError as error:
            raise cosim.CosimError(f"{path}: cannot be created: {error.strerror or error}") from None
        file = path / DESCRIPTION
        if file.exists():
            self._compare(json.loads(text), file)
        else:
            other = next(
                (p.name for p in sorted(path.iterdir()) if p.name != LOCK and p.name[0] != "."), None
            )
            if other is not None:
                raise cosim.CosimError(f"{path}: contains {other} and is not a study: choose another folder")
            with replaced_file(file) as draft:
                draft.write_text(text, "utf-8")

    def _compare(self, description: dict[str, Any], file: Path) -> None:
        try:
            stored = json.loads(file.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise cosim.CosimError(f"{file}: cannot be read: {error}") from None
        different = [
            key for key in description if not isinstance(stored, dict) or description[key] != stored.get(key)
        ]
        if different:
            raise cosim.CosimError(
                f"{self.path}: another study is in this folder: {', '.join(different)} differ. Choose "
                "another folder, or remove this one"
            )

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the study for this process; `CosimError` if another one works on it. Windows has no lock."""
        place = self.path / LOCK
        try:  # a link is not followed
            handle = os.open(place, os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), 0o600)
        except OSError as error:
            raise cosim.CosimError(f"{place}: cannot be opened: {error.strerror or error}") from None
        with os.fdopen(handle, "r+b"):
            try:
                if fcntl is not None:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise cosim.CosimError(f"{self.path}: another process works on this study") from None
            for file in self.path.glob(".*"):
                if is_draft(file.name):  # left by a process that was killed
                    file.unlink(missing_ok=True)
            yield

    def points(self, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[list[str]]:
        """The points as text, as they were at the start of the study: other libraries may draw others."""
        file = self.path / POINTS
        if not file.exists():
            self._write(file, names, rows)
        points = self._read(file, "points are drawn")[1]
        if len(points) != len(rows):
            raise cosim.CosimError(f"{file}: has {len(points)} points, this study has {len(rows)}: remove it")
        return points

    def done(self, columns: int) -> dict[int, list[str]]:
        """Rows of the points that are done, by number."""
        rows: dict[int, list[str]] = {}
        for part in sorted(self.path.glob("part-*.csv")):
            if PARTS.match(part.name):
                names, rows_of_part = self._read(part, "its points run")
                if len(names) != columns:
                    raise cosim.CosimError(f"{part}: has {len(names)} columns, this study has {columns}")
                for row in rows_of_part:
                    rows.setdefault(int(row[0]), row)
        return rows

    def add(self, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Write rows, which begin with the number of their point."""
        if rows:
            self._write(self.path / PART.format(int(rows[0][0])), names, rows)

    def write_table(self, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Path:
        """The whole table, in order of the points."""
        self._write(self.path / TABLE, names, rows, has_sum=False)
        return self.path / TABLE

    @staticmethod
    def _write(
        file: Path, names: Sequence[str], rows: Sequence[Sequence[Any]], *, has_sum: bool = True
    ) -> None:
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)
        data = text.getvalue().encode()
        with replaced_file(file) as draft, draft.open("wb") as stream:
            stream.write(data + _sum_line(data) if has_sum else data)
            stream.flush()
            os.fsync(stream.fileno())

    @staticmethod
    def _read(file: Path, consequence: str) -> tuple[list[str], list[list[str]]]:
        try:
            data = file.read_bytes()
            data, line = data[:-SUM_LENGTH], data[-SUM_LENGTH:]
            if line != _sum_line(data):
                text = f"its checksum does not match; remove it: {consequence} again"
                raise cosim.CosimError(f"{file}: is damaged: {text}")
            names, *rows = csv.reader(io.StringIO(data.decode("utf-8"), newline=""))
        except (OSError, ValueError, csv.Error) as error:
            raise cosim.CosimError(f"{file}: cannot be read: {error}") from None
        if any(len(row) != len(names) for row in rows):
            raise cosim.CosimError(f"{file}: is damaged: a row has not as many columns as the header")
        return names, rows
