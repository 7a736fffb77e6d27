"""The digest of a compilation unit depends on the compiler, its functions and the types of arguments."""

import shutil
from collections import Counter, namedtuple
from pathlib import Path

import pytest
from flip_run import with_flipped_bit

from cosim import kit
from cosim_compiler import convention, unit_digests, units
from cosim_compiler.fingerprint import _ReachDigest
from cosim_compiler.native import is_plain

compiled_only = pytest.mark.skipif(is_plain(), reason="nothing is compiled here")


@compiled_only
@pytest.mark.parametrize(
    "name", ["calls", "convention", "machine", "units", "unit_digests", "language/reading", "printers/llvm"]
)
def test_an_edited_module_of_the_compiler_changes_all_digests(monkeypatch, tmp_path, name):
    digest_of_compiler = unit_digests.compiler_digest.__wrapped__
    before = digest_of_compiler()
    package = tmp_path / "package"
    shutil.copytree(Path(units.__file__).parent, package, ignore=shutil.ignore_patterns("shipped"))
    monkeypatch.setattr(unit_digests, "__file__", str(package / "unit_digests.py"))
    assert digest_of_compiler() == before
    with (package / f"{name}.py").open("a") as file:
        file.write("EDITED = True\n")
    assert digest_of_compiler() != before


@compiled_only
def test_the_order_of_the_members_of_a_named_tuple_changes_the_digest(monkeypatch):
    digests = set()
    for names in ("first second", "second first", "first second"):
        monkeypatch.setitem(convention.COMPOUNDS, "Q", (namedtuple("Pair", names), "FF"))
        digests.add(unit_digests.digest_of_unit(((with_flipped_bit, "Q>f"),)))
    assert len(digests) == 2


def test_each_function_in_reach_of_the_step_is_read_once(monkeypatch):
    """The first call of each entry point in a process waits for this."""
    readings = Counter()
    content = _ReachDigest._content

    def counted(digest, function):
        readings[function] += 1
        content(digest, function)

    monkeypatch.setattr(_ReachDigest, "_content", counted)
    monkeypatch.setattr(unit_digests, "_reaches", {})
    functions = unit_digests.member_of(kit.advance_run, kit.ENTRY_SIGNATURE).functions
    digest = unit_digests.digest_of_unit(functions)
    assert len(readings) > 300
    assert set(readings.values()) == {1}
    readings.clear()
    assert unit_digests.digest_of_unit(functions) == digest
    assert not readings


def test_a_new_method_of_a_record_changes_the_digest_of_functions_of_it(monkeypatch):
    functions = ((kit.advance_run, kit.ENTRY_SIGNATURE),)
    before = unit_digests.digest_of_unit(functions)
    monkeypatch.setattr(kit.Run, "a_new_method", lambda run: 0, raising=False)
    assert unit_digests.digest_of_unit(functions) != before
    monkeypatch.undo()
    assert unit_digests.digest_of_unit(functions) == before
