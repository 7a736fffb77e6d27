"""`Model.from_file` finds the reader that a plugin registers for the ending of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from workbench_tools import write_model

import cosim
from cosim import kit


class Lines(cosim.ModelReader):
    """A measure for each line."""

    suffixes = (".lines", ".txt")

    def read(self, path: Path) -> cosim.Model:
        model = cosim.Model(path.stem)
        for line in path.read_text("utf-8").splitlines():
            model.add("measures.constant", line, value=1.0)
        return model


class SameEnding(Lines):
    """Claims the ending of `Lines`."""

    suffixes = (".lines",)


def registry_with(**readers: type) -> Any:
    """A context with our plugins and one of a third party that has these readers."""
    owner = ("acme", "acme-lines", "1.5")
    entries = [kit.RegisteredClass(f"acme.{name}", cls, *owner) for name, cls in readers.items()]
    acme = kit.PluginRecord(*owner, "acme_lines", "loaded", None, tuple(entries))
    loaded = [record for record in kit.Registry.discover().plugins if record.status == "loaded"]
    return kit.use_registry(kit.Registry([*loaded, acme]))


def test_a_model_file_of_ours(tmp_path: Path) -> None:
    model = cosim.Model.from_file(str(write_model(tmp_path, name="Mount.TOML")))
    assert model.name == "engine_mount"
    assert list(model.parts)[-1] == "vertical_speed"
    assert model.simulate(until=0.01).time[-1] == 0.01
    assert cosim.Model.from_dict(model.to_dict()).to_dict() == model.to_dict()


def test_files_of_a_third_party(tmp_path: Path) -> None:
    (tmp_path / "m.lines").write_text("a\nb\n")
    with registry_with(lines=Lines):
        assert list(cosim.Model.from_file(tmp_path / "m.lines").parts) == ["a", "b"]
        with pytest.raises(
            cosim.CosimError,
            match=r"m\.x.*plugin reads .*'\.x'..*\.lines, \.txt, \.xml, \.urdf, \.toml",
        ):
            cosim.Model.from_file("m.x")


def test_two_plugins_that_claim_one_ending_are_both_named() -> None:
    with registry_with(lines=Lines, same_ending=SameEnding), pytest.raises(cosim.CosimError) as raised:
        cosim.Model.from_file("m.lines")
    assert "acme.lines" in str(raised.value) and "acme.same_ending" in str(raised.value)


def test_without_any_reader_the_message_names_the_list_of_plugins() -> None:
    with kit.use_registry(kit.Registry([])), pytest.raises(cosim.CosimError, match="`cosim plugins`"):
        cosim.Model.from_file("m.toml")


def test_a_fault_of_a_build_has_its_line_and_can_be_corrected(tmp_path: Path) -> None:
    model = cosim.Model.from_file(write_model(tmp_path, more="[starts]\nengine_joint.u = [1]\n"))
    with pytest.raises(cosim.ModelError, match=r"mount\.toml:27: starts: .*engine_joint\.u") as raised:
        model.build()
    assert str(raised.value).endswith("1 problem, nothing was run.")
    model.set_start("engine_joint.u", [0, 0, 0, 0, 0, 1])
    assert model.build().nu == 6


@pytest.mark.parametrize("suffixes", [(), ".toml", ("toml",), (".TOML",), (".",), (3,)])
def test_endings_of_a_reader_are_a_tuple_of_small_letters(suffixes: Any) -> None:
    with pytest.raises(cosim.ContractError, match="reader Wrong: suffixes"):
        type("Wrong", (cosim.ModelReader,), {"read": Lines.read, "suffixes": suffixes})
