"""The report about a model file with many faults ends, and costs no search per fault and id."""

from pathlib import Path
from unittest.mock import patch

import pytest

import cosim
from cosim.registration import registry as registry_module
from cosim_workbench.model_file import MOST_PROBLEMS
from cosim_workbench.model_file_error import ModelFileError


def write(path: Path, count: int, kind: str = "constnat") -> Path:
    """A model file with so many measures of unknown kinds."""
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
def test_a_file_is_read_until_the_limit_of_problems(count: int, reported: int, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError) as raised:
        cosim.Model.from_file(write(tmp_path / "many.toml", count))
    problems = raised.value.problems
    assert len(problems) == reported
    assert "Nearest: measures.constant." in problems[0].text
    remarks = [problem for problem in problems if "the rest is not read" in problem.text]
    assert len(remarks) == (count > MOST_PROBLEMS)
    assert all(f"many.toml:{1 + 3 * MOST_PROBLEMS}: " in problem.where for problem in remarks)


def test_no_second_search_is_made_for_the_nearest_id() -> None:
    with (
        patch.object(registry_module, "nearest", side_effect=AssertionError),
        pytest.raises(cosim.LookUpError, match=r"Nearest: measures\.constant"),
    ):
        cosim.registry().get("component", "measures.constnat")


def test_names_of_other_tools_are_found_each_time() -> None:
    nearest_ids = []
    for _ in range(2):
        with pytest.raises(cosim.LookUpError, match="Nearest") as raised:
            cosim.registry().get("component", "hinge")
        nearest_ids.append(raised.value.near)
    assert nearest_ids[0] == nearest_ids[1] and all("mechanics." in id for id in nearest_ids[0])
