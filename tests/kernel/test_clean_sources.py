"""Functions that break no rule are not checked again by the next process, unless something has changed."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys

import pytest

from cosim_compiler import kernel_cache, shipped
from cosim_compiler.sources import clean_sources, kernel_rules

TEXT = """
FACTORS = (2.0, 3.0)

def helper(x):
    return FACTORS[0] * x

def law(x, y):
    y[0] = helper(x)
"""
NAMES = frozenset({"x", "y"})


@pytest.fixture
def process(tmp_path, monkeypatch):
    """Checks `law` of a text as a new process would: its faults, and which functions were checked."""
    monkeypatch.setenv("COSIM_CACHE_DIR", str(tmp_path / "cache"))
    kernel_cache.folder.cache_clear()
    number = 0

    def run(text, names=NAMES, **globals_of_module):
        nonlocal number
        number += 1
        path = tmp_path / f"author_{number}.py"
        path.write_text(text, "utf-8")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        vars(module).update(globals_of_module)
        monkeypatch.setattr(clean_sources, "_sources", {})
        checked = []

        class CountedRules(kernel_rules._FunctionRules):
            def __init__(self, function, declared):
                checked.append(function.__name__)
                super().__init__(function, declared)

        with monkeypatch.context() as patch:
            patch.setattr(kernel_rules, "_FunctionRules", CountedRules)
            faults = kernel_rules.rule_faults(module.law, names)
        clean_sources._write()
        return [fault.partition(": ")[2] for fault in faults], checked

    yield run
    kernel_cache.folder.cache_clear()


def test_functions_in_the_shipped_archive_are_not_checked(process, tmp_path, monkeypatch):
    monkeypatch.setattr(shipped, "FOLDER", tmp_path / "shipped")
    shipped._archive.cache_clear()
    assert process(TEXT) == ([], ["law", "helper"])
    shipped.write(shipped.FACTS, clean_sources.facts_of_sources())
    shipped._archive.cache_clear()
    shutil.rmtree(tmp_path / "cache")
    kernel_cache.folder.cache_clear()
    assert process(TEXT) == ([], [])
    assert process(TEXT.replace("3.0", "4.0")) == ([], ["law", "helper"])
    shipped._archive.cache_clear()


def test_a_source_without_faults_is_checked_once(process):
    assert process(TEXT) == ([], ["law", "helper"])
    assert process(TEXT) == ([], [])


def test_a_source_with_faults_is_checked_each_time(process):
    text = TEXT.replace("helper(x)\n", "helper(x) ** 2\n")
    faults, checked = process(text)
    assert "`**` differs" in faults[0] and checked == ["law", "helper"]
    assert process(text) == (faults, ["law"])


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"text": TEXT.replace("helper(x)\n", "helper(x) ** 2\n")}, "`**` differs"),
        ({"text": TEXT.replace("FACTORS[0] * x", "FACTORS[0] * x + gain")}, "'gain' is not defined"),
        ({"text": TEXT, "FACTORS": [2.0, 3.0]}, "'FACTORS' is a list"),
        ({"text": TEXT, "FACTORS": (2.0, (3.0, "a"))}, "more in it than numbers"),
    ],
)
def test_a_changed_source_or_global_is_checked_again(process, changed, sentence):
    assert process(TEXT)[0] == []
    faults, _ = process(**changed)
    assert len(faults) == 1 and sentence in faults[0]


def test_a_source_with_other_declared_names_is_checked_again(process):
    process(TEXT)
    assert process(TEXT, names=frozenset({"x", "y", "z"})) == ([], ["law"])


@pytest.mark.parametrize("content", [b"", b"{}", b"[1, 2]", b"\xff\xfe", b"null"])
def test_a_cache_entry_in_an_unknown_form_is_ignored(process, content):
    process(TEXT)
    for path in kernel_cache.folder().glob("[0-9a-f]*"):
        kernel_cache.write_cached(path.name, content)
    assert process(TEXT) == ([], ["law", "helper"])


def test_a_flipped_bit_in_any_part_of_an_entry_is_noticed(process):
    process(TEXT)
    (path,) = kernel_cache.folder().glob("[0-9a-f]*")
    content = path.read_bytes()
    assert len(json.loads(content[kernel_cache.CHECKSUM_SIZE :])) == 2
    for place in range(0, len(content), 7):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert process(TEXT)[1] == ["law", "helper"]


def test_a_second_process_needs_no_rules_for_the_sources_of_the_first(tmp_path):
    """The second of two processes with one cache folder has no class that checks rules."""
    (tmp_path / "author.py").write_text(TEXT, "utf-8")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import author; "
        "from cosim_compiler.sources import kernel_rules as rules; "
        "rules._FunctionRules = None if sys.argv[2] else rules._FunctionRules; "
        "print(rules.rule_faults(author.law))"
    )
    for without_rules in ("", "1"):
        command = [sys.executable, "-c", code, str(tmp_path), without_rules]
        environment = {**os.environ, "COSIM_CACHE_DIR": str(tmp_path / "cache")}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
        assert done.stdout.strip() == "()"
