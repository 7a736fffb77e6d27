"""What broke no rule is not looked through again by the next process; whatever changes is."""

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
    """Checks `law` of a text as a new process would: the faults, and which functions were looked through."""
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
        looked = []

        class Checked(kernel_rules._FunctionRules):
            def __init__(self, function, declared):
                looked.append(function.__name__)
                super().__init__(function, declared)

        with monkeypatch.context() as patch:
            patch.setattr(kernel_rules, "_FunctionRules", Checked)
            faults = kernel_rules.rule_faults(module.law, names)
        clean_sources._write()
        return [fault.partition(": ")[2] for fault in faults], looked

    yield run
    kernel_cache.folder.cache_clear()


def test_what_came_with_the_package_is_not_looked_through(process, tmp_path, monkeypatch):
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


def test_a_clean_source_is_looked_through_once(process):
    assert process(TEXT) == ([], ["law", "helper"])
    assert process(TEXT) == ([], [])


def test_faults_are_found_each_time(process):
    text = TEXT.replace("helper(x)\n", "helper(x) ** 2\n")
    first, looked = process(text)
    assert "`**` differs" in first[0] and looked == ["law", "helper"]
    assert process(text) == (first, ["law"])


@pytest.mark.parametrize(
    ("after", "told"),
    [
        ({"text": TEXT.replace("helper(x)\n", "helper(x) ** 2\n")}, "`**` differs"),
        ({"text": TEXT.replace("FACTORS[0] * x", "FACTORS[0] * x + gain")}, "'gain' is not defined"),
        ({"text": TEXT, "FACTORS": [2.0, 3.0]}, "'FACTORS' is a list"),
        ({"text": TEXT, "FACTORS": (2.0, (3.0, "a"))}, "more in it than numbers"),
    ],
)
def test_what_changes_is_looked_through(process, after, told):
    assert process(TEXT)[0] == []
    faults, _ = process(**after)
    assert len(faults) == 1 and told in faults[0]


def test_other_declared_names_are_another_question(process):
    process(TEXT)
    assert process(TEXT, names=frozenset({"x", "y", "z"})) == ([], ["law"])


@pytest.mark.parametrize("content", [b"", b"{}", b"[1, 2]", b"\xff\xfe", b"null"])
def test_an_entry_in_another_form_counts_as_none(process, content):
    process(TEXT)
    for path in kernel_cache.folder().glob("[0-9a-f]*"):
        kernel_cache.write_cached(path.name, content)
    assert process(TEXT) == ([], ["law", "helper"])


def test_every_flipped_bit_is_noticed(process):
    process(TEXT)
    (path,) = kernel_cache.folder().glob("[0-9a-f]*")
    good = path.read_bytes()
    assert len(json.loads(good[kernel_cache.CHECKSUM_SIZE :])) == 2
    for place in range(0, len(good), 7):
        path.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        assert process(TEXT)[1] == ["law", "helper"]


def test_a_process_leaves_what_it_found(tmp_path):
    """The whole way: two processes, one folder; what both found is there."""
    (tmp_path / "author.py").write_text(TEXT, "utf-8")
    told = (
        "import sys; sys.path.insert(0, sys.argv[1]); import author; "
        "from cosim_compiler.sources import kernel_rules as rules; "
        "rules._FunctionRules = None if sys.argv[2] else rules._FunctionRules; "
        "print(rules.rule_faults(author.law))"
    )
    for known in ("", "known"):
        command = [sys.executable, "-c", told, str(tmp_path), known]
        environment = {**os.environ, "COSIM_CACHE_DIR": str(tmp_path / "cache")}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
        assert done.stdout.strip() == "()"
