"""Model files with many parts and many faults: their number shows no quadratic work, and the report ends."""

from pathlib import Path
from unittest.mock import patch

import pytest

import cosim
from cosim.registration import registry as registry_module
from cosim_workbench.model_file import MOST_PROBLEMS
from cosim_workbench.model_file_error import ModelFileError


def write(path: Path, count: int, kind: str = "constnat") -> Path:
    rows = (f'[measures.k{i}]\ntype = "measures.{kind}{i}"\nvalue = 1.0' for i in range(count))
    path.write_text("\n".join(rows), "utf-8")
    return path


@pytest.mark.parametrize(
    ("count", "reported"),
    [
        (1, 1),
        (MOST_PROBLEMS - 1, MOST_PROBLEMS - 1),
        (MOST_PROBLEMS, MOST_PROBLEMS),
        (MOST_PROBLEMS + 1, MOST_PROBLEMS + 1),
        (5 * MOST_PROBLEMS, MOST_PROBLEMS + 1),
    ],
)
def test_a_file_is_searched_for_a_hundred_problems(count: int, reported: int, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError) as caught:
        cosim.Model.from_file(write(tmp_path / "many.toml", count))
    problems = caught.value.problems
    assert len(problems) == reported
    assert "Nearest: measures.constant." in problems[0].text
    cut = [problem for problem in problems if "the rest is not read" in problem.text]
    assert len(cut) == (count > MOST_PROBLEMS)
    assert all(f"many.toml:{1 + 3 * MOST_PROBLEMS}: " in problem.where for problem in cut)


def test_the_nearest_id_is_searched_once_for_each_unknown_one() -> None:
    with (
        patch.object(registry_module, "nearest", side_effect=AssertionError),
        pytest.raises(cosim.LookUpError, match=r"Nearest: measures\.constant"),
    ):
        cosim.registry().get("component", "measures.constnat")


def test_other_words_for_a_class_are_found_each_time() -> None:
    found = []
    for _ in range(2):
        with pytest.raises(cosim.LookUpError, match="Nearest") as caught:
            cosim.registry().get("component", "hinge")
        found.append(caught.value.near)
    assert found[0] == found[1] and all("mechanics." in id for id in found[0])
