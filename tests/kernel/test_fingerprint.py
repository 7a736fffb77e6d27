"""The digest of a function changes with everything that its code depends on, and with nothing else."""

import json
import math
import os
import subprocess
import sys
import types

import fingerprint_run
from fingerprint_functions import chosen, soft, stiff, with_globals

from cosim_compiler.fingerprint import fingerprint


def first(x):
    return math.sin(x) + 1.0


def second(x):
    return math.sin(x) + 2.0


def third(x):
    return math.cos(x) + 1.0


def user(x):
    return curve(x) * FACTOR


curve, FACTOR = first, 2.0


def digest_with_docstring(docstring, returned):
    namespace = {}
    exec(f"def f():\n    {docstring!r}\n    return {returned!r}", namespace)
    return fingerprint(namespace["f"])


def test_a_docstring_counts_only_if_the_code_returns_the_same_text():
    assert digest_with_docstring("what it is", "m") == digest_with_docstring("what it was", "m")
    assert digest_with_docstring("what it is", "m") != digest_with_docstring("what it is", "s")
    assert digest_with_docstring("m", "m") != digest_with_docstring("s", "s")


def test_a_changed_helper_gives_a_new_digest():
    digests = {
        fingerprint(user),
        fingerprint(with_globals(user, curve=second)),
        fingerprint(with_globals(user, curve=third)),
        fingerprint(with_globals(user, FACTOR=3.0)),
        fingerprint(with_globals(user, FACTOR=2)),
        fingerprint(user, "signature"),
        fingerprint(user, "signature", "version"),
    }
    assert len(digests) == 7
    assert fingerprint(user) == fingerprint(with_globals(user))


def calls_middle(x):
    return calls_curve(x)


def calls_curve(x):
    return curve(x)


def test_a_change_two_helpers_deep_gives_a_new_digest():
    same = with_globals(calls_middle, calls_curve=with_globals(calls_curve, curve=first))
    changed = with_globals(calls_middle, calls_curve=with_globals(calls_curve, curve=second))
    assert fingerprint(same) == fingerprint(calls_middle)
    assert fingerprint(changed) != fingerprint(calls_middle)


def test_a_constant_in_a_closure_changes_the_digest():
    def make(constant):
        def inner(x):
            return x + constant

        return inner

    assert fingerprint(make(1.0)) != fingerprint(make(2.0))
    assert fingerprint(make(1.0)) == fingerprint(make(1.0))


def test_recursive_functions_have_a_digest():
    assert fingerprint(recursive) == fingerprint(recursive)


def recursive(n):
    return 0.0 if n <= 0 else recursive(n - 1) + 1.0


def test_a_global_that_is_one_of_two_similar_functions_changes_the_digest():
    assert fingerprint(with_globals(chosen, active=soft)) != fingerprint(with_globals(chosen, active=stiff))


def test_constants_in_the_code_change_the_digest():
    texts = ["1", "1.0", "True", "0.0", "-0.0", "(1,)", "(1.0,)", "(0.0, (-0.0,))", "(0.0, (0.0,))", "'1'"]
    texts += [
        "(lambda: 1)",
        "(lambda: 1.0)",
        "(lambda: (0.0,))",
        "(lambda: (-0.0,))",
        "x in {1, 2}",
        "x in {1, 3}",
    ]
    digests = set()
    for text in texts:
        namespace = {}
        exec(f"def constant(x): return {text}", namespace)
        digests.add(fingerprint(namespace["constant"]))
    assert len(digests) == len(texts)


library = math


def test_an_attribute_of_a_module_or_class_changes_the_digest_if_the_code_reads_it():
    def reads_factor(x):
        return x * library.FACTOR

    def digest_with(owner):
        return fingerprint(with_globals(reads_factor, library=owner))

    module, changed_module, with_more = (types.ModuleType("ours") for _ in range(3))
    module.FACTOR, changed_module.FACTOR, with_more.FACTOR, with_more.unused = 1.0, 2.0, 1.0, 7
    assert digest_with(module) != digest_with(changed_module)
    assert digest_with(module) == digest_with(with_more)
    first_class, second_class = (type("Ours", (), {"FACTOR": factor}) for factor in (1.0, 2.0))
    assert digest_with(first_class) != digest_with(second_class)


def test_each_change_in_a_module_changes_the_digest_at_once():
    def reads_factor(x):
        return x * library.inner.FACTOR

    def calls_function(x):
        return function(x)

    outer, inner = types.ModuleType("ours"), types.ModuleType("ours.inner")
    outer.inner, inner.FACTOR = inner, 1.0
    function = with_globals(reads_factor, library=outer)
    digests = []
    for change in (
        lambda: None,
        lambda: setattr(inner, "FACTOR", 2.0),
        lambda: setattr(inner, "FACTOR", [2.0]),
        lambda: inner.FACTOR.append(3.0),
        lambda: delattr(inner, "FACTOR"),
        lambda: setattr(outer, "inner", types.ModuleType("ours.inner")),
        lambda: setattr(outer.inner, "FACTOR", 4.0),
        lambda: setattr(outer, "FACTOR", 4.0),
    ):
        change()
        digests.append((fingerprint(function), fingerprint(calls_function)))
        assert digests[-1] == (fingerprint(function), fingerprint(calls_function))
    # two digests for each of eight states, of which the two without FACTOR are equal
    assert len({digest for pair in digests for digest in pair}) == 14


# other processes


def test_a_value_without_bytes_has_another_digest_in_each_process():
    here = fingerprint(fingerprint_run.locked)
    assert here == fingerprint(fingerprint_run.locked)
    there = digests_of_another_process(1)
    assert here not in (there["lock"], digests_of_another_process(1)["lock"])


def digests_of_another_process(seed):
    """The digests that a process with another hash of strings and other addresses finds."""
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    done = subprocess.run(
        [sys.executable, fingerprint_run.__file__],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_the_digest_is_the_same_in_every_process():
    first_digests, second_digests = (digests_of_another_process(seed) for seed in (1, 2))
    assert first_digests["user"] == second_digests["user"] == fingerprint(fingerprint_run.user)
