"""What was read from functions is stored for the next process, and read again if anything has changed."""

import dataclasses
import importlib.util
import sys

import pytest

from cosim.component import arguments
from cosim_compiler import kernel_cache
from cosim_compiler.errors import ContractError
from cosim_compiler.fingerprint import fingerprint
from cosim_compiler.sources import clean_sources, flatten, kernel_sides
from cosim_compiler.sources.kernel_source import definition_of
from cosim_compiler.sources.views import flat_form

HELPERS = """
RATIO = 2.0

def share(s):
    return RATIO * s.angle
"""
TEXT = """
import cosim
from helpers_of_mount import share

def damping(s, gain):
    return share(s) - gain * s.angle

class Mount(cosim.Component):
    '''A mount.'''
    stiffness = cosim.parameter(default=2.0)
    angle = cosim.auxiliary_state()
    force = cosim.cache_slot()
    gap = cosim.cache_slot()

    @cosim.kernel
    def push(s):
        s.force = s.stiffness * damping(s, 0.5)

    @cosim.kernel
    def close(s):
        s.gap = max(s.stiffness * s.angle, share(s))

    @cosim.kernel
    def rate(angle_dot, stiffness, angle):
        angle_dot[0] = -stiffness * angle
"""
READERS = (
    (flatten, "_expand"),
    (arguments, "_resolved"),
    (kernel_sides, "_read_sides"),
)


def counted(function, counts):
    """The function; each call of it is counted by its name."""

    def call(*arguments):
        counts[function.__name__] += 1
        return function(*arguments)

    return call


@pytest.fixture
def process(tmp_path, monkeypatch):
    """Makes `Mount` as a new process would: the class, and how often each of `READERS` was called."""
    monkeypatch.setenv("COSIM_CACHE_DIR", str(tmp_path / "cache"))
    kernel_cache.folder.cache_clear()
    number = 0

    def module_of(name, text):
        path = tmp_path / str(number) / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        return module

    def run(text=TEXT, helpers=HELPERS):
        nonlocal number
        number += 1
        monkeypatch.setattr(clean_sources, "_sources", {})
        counts = dict.fromkeys((name for _, name in READERS), 0)
        with monkeypatch.context() as patch:
            for module, name in READERS:
                patch.setattr(module, name, counted(getattr(module, name), counts))
            module_of("helpers_of_mount", helpers)
            cls = module_of("author_of_mount", text).Mount
        clean_sources._write()
        return cls, [counts[name] for _, name in READERS]

    yield run
    kernel_cache.folder.cache_clear()


def described(cls):
    """Everything that was read from the functions of a class."""
    functions = {name: kernel.function for name, kernel in {**cls.kernels, **cls.kink_functions}.items()}
    arguments = [(name, [dataclasses.astuple(a) for a in listed]) for name, listed in cls.arguments.items()]
    flats = [flat_form(function) for function in functions.values()]
    forms = [flat and (flat.arguments, flat.fields, flat.results, flat.lines, flat.renamed) for flat in flats]
    codes = [
        (f.__name__, f.__code__.co_code, f.__code__.co_consts, [*f.__code__.co_positions()])
        for f in functions.values()
    ]
    return arguments, forms, codes, [fingerprint(f) for f in functions.values()]


def test_a_second_process_reads_nothing_and_gets_the_same_class(process):
    first, counts = process()
    # two functions and two helpers are flattened; three functions and a kink have arguments
    assert counts == [4, 4, 3]
    second, counts = process()
    assert counts == [0, 0, 0]
    assert described(second) == described(first)
    assert list(second.kink_functions) == list(first.kink_functions) != []


def test_stored_functions_compute_the_same_and_belong_to_their_file(process):
    (first, _), (second, _) = process(), process()
    for cls in (first, second):
        force = [0.0]
        cls.kernels["push"].call_by_name(force=force, stiffness=3.0, angle=0.25)
        assert force == [3.0 * (2.0 * 0.25 - 0.5 * 0.25)]
        assert cls.kink_functions["close_kink_0"].call_by_name(stiffness=3.0, angle=0.25) == 0.25
    assert second.kernels["push"].function.__code__.co_filename.endswith("/2/author_of_mount.py")


def test_the_definition_of_a_stored_function_is_parsed_when_it_is_needed(process):
    first, _ = process()
    second, _ = process()
    trees = [definition_of(cls.kernels["push"].function) for cls in (first, second)]
    assert [tree.name for tree in trees] == ["push", "push"]
    assert [[a.arg for a in tree.args.args] for tree in trees] == [["force", "stiffness", "angle"]] * 2


@pytest.mark.parametrize(
    ("text", "helpers"),
    [
        (TEXT.replace("s.stiffness * damping", "s.angle * damping"), HELPERS),
        (TEXT.replace("share(s) - gain", "share(s) + gain"), HELPERS),
        (TEXT, HELPERS.replace("2.0", "-2.0")),
        (TEXT, HELPERS.replace("RATIO * s.angle", "RATIO * s.stiffness")),
        (
            TEXT.replace("angle = cosim.auxiliary_state()", "angle = cosim.auxiliary_state(shape=(1,))"),
            HELPERS,
        ),
    ],
)
def test_a_changed_function_helper_or_declaration_is_read_again(process, text, helpers):
    process()
    try:
        assert process(text, helpers)[1] != [0, 0, 0]
    except ContractError:  # the changed class is wrong: the next process must find that, too
        with pytest.raises(ContractError):
            process(text, helpers)


def test_a_changed_comment_in_the_file_of_a_helper_has_it_read_again(process):
    """The rules read the text of the file."""
    process()
    assert process(helpers=HELPERS + "# the end\n")[1][1] != 0


def test_a_helper_that_is_replaced_after_loading_is_an_error(process):
    process()
    cls, _ = process()
    function = cls.kernels["push"].function
    author = flat_form(function).author

    def damping(s, gain):
        return gain * s.stiffness

    author.__globals__["damping"] = damping
    with pytest.raises(ContractError, match="was replaced"):
        definition_of(function)


def test_a_damaged_entry_is_ignored(process):
    first, _ = process()
    for path in kernel_cache.folder().glob("[0-9a-f]*"):
        path.write_bytes(path.read_bytes()[:-7])
    second, counts = process()
    assert counts == [4, 4, 3] and described(second) == described(first)


def test_an_entry_that_becomes_too_large_is_started_again(process, monkeypatch):
    monkeypatch.setattr(clean_sources, "LARGEST", 20_000)
    sizes = []
    for i in range(12):
        process(helpers=HELPERS.replace("2.0", f"{i}.5"))
        sizes.append(max(p.stat().st_size for p in kernel_cache.folder().glob("[0-9a-f]*")))
    assert max(sizes) < 30_000 and sizes != sorted(sizes)
