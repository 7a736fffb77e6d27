"""Modules import only from their own layer and those below it; neither modules nor folders form a cycle."""

from __future__ import annotations

from source_imports import PACKAGES, import_graph, module_of, sources

LAYERS = (
    (
        *("cosim.version", "cosim.stage", "cosim.cause", "cosim.unit", "cosim.name_patterns"),
        *("cosim.html_table", "cosim.walker", "cosim.recorded_walk", "cosim.rational", "cosim.value_text"),
        "cosim.rational_doubles",
        *("cosim.functions", "cosim.resource_limits", "cosim.process_lock", "cosim.private_folder"),
        *("cosim.last_result_cache", "cosim.call_faults", "cosim.option_synonyms"),
    ),
    ("cosim.errors", "cosim.misspelled_functions"),
    ("cosim.attributes",),
    ("cosim.unit_symbols", "cosim.unit_expressions", "cosim.unit_spellings", "cosim.units"),
    ("cosim.options", "cosim.argument_checks"),
    ("cosim.unit_text",),
    ("cosim.registration",),
    ("cosim.component",),
    ("cosim.contracts",),
    ("cosim.run_data",),
    ("cosim.system",),
    ("cosim.step",),
    ("cosim.derivatives",),
    ("cosim.preparation",),
    ("cosim.simulation",),
    ("cosim.model",),
    ("cosim.command_line",),
    ("cosim.cli", "cosim.kit"),
    ("cosim", "cosim.__main__"),
    ("cosim.testing",),
)
"""The layers of the kernel, the lowest one first: a module imports from its own layer and those before it."""
COMPILER_LAYERS = (
    tuple(
        f"cosim_compiler.{name}"
        for name in (
            *("errors", "nearest", "debugging", "helper_process", "child_process", "kernel_cache", "shipped"),
            *(
                "calls",
                "convention",
                "road",
                "sine_pairs",
                "kept_loops",
                "object_loader",
                "machine",
                "c_machine",
                "held_interrupts",
            ),
        )
    ),
    tuple(
        f"cosim_compiler.{name}"
        for name in ("foreign", "tables", "functions", "checked_view", "collection", "callback", "record")
    ),
    tuple(
        f"cosim_compiler.{name}"
        for name in (
            *("names_in_reach", "names_at_rest"),
            *("digest_pieces", "code_digest", "value_digest", "fingerprint"),
        )
    ),
    ("cosim_compiler.sources",),
    ("cosim_compiler.language",),
    ("cosim_compiler.printers",),
    ("cosim_compiler.code",),
    ("cosim_compiler.unit_digests",),
    ("cosim_compiler.units",),
    ("cosim_compiler.called",),
    ("cosim_compiler",),
)
"""The layers of the compiler, all of which are below the kernel."""


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The groups of modules in which each one reaches all others, by Tarjan's algorithm."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    groups = []

    def visit(module: str) -> None:
        order[module] = lowest[module] = len(order)
        stack.append(module)
        for target in sorted(graph[module]):
            if target not in order:
                visit(target)
            if target in stack:
                lowest[module] = min(lowest[module], lowest[target])
        if lowest[module] == order[module]:
            group = stack[stack.index(module) :]
            del stack[stack.index(module) :]
            if len(group) > 1:
                groups.append(sorted(group))

    for module in graph:
        if module not in order:
            visit(module)
    return groups


def test_a_cycle_is_noticed() -> None:
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [["b", "c"]]


def test_kernel_and_compiler_have_no_cycle_of_imports() -> None:
    """Not even with imports in functions and for type checkers."""
    graph = import_graph(["cosim", "cosim_compiler"], everywhere=True)
    assert len(graph) > 100
    assert cycles({m: targets - {"cosim"} for m, targets in graph.items()}) == []


def test_no_package_has_a_cycle_of_imports_when_it_is_loaded() -> None:
    """Imports of a whole package are left out: its `__init__.py` only exports names."""
    packages = sorted(PACKAGES)
    graph = import_graph(packages, everywhere=False)
    assert cycles({m: targets - set(packages) for m, targets in graph.items()}) == []


def folder_or_module(module: str, folders: set[str]) -> str:
    """The folder that contains a module; a module beside folders is a node of its own.

    So is the `__init__.py` of a folder, which exports names and is not imported by its own modules.
    """
    package, _, inner = module.partition(".")
    above = module.rpartition(".")[0]
    if module in folders and inner:
        return f"{module}.__init__"
    return above if "." in above or not any(f.startswith(f"{package}.") for f in folders) else module


def folder_graph(packages: list[str]) -> dict[str, set[str]]:
    """The folders that each folder imports, also in functions and for type checkers."""
    files = [file for package in packages for file in sources(package)]
    folders = {module_of(file) for file in files if file.endswith("/__init__.py")}
    graph: dict[str, set[str]] = {}
    for module, imported in import_graph(packages, everywhere=True).items():
        node = folder_or_module(module, folders)
        targets = {folder_or_module(target, folders) for target in imported - set(packages)}
        graph.setdefault(node, set()).update(targets - {node})
    return graph


def test_folders_have_no_cycle_of_imports() -> None:
    """A folder can be understood with those below it alone."""
    graph = folder_graph(sorted(PACKAGES))
    assert {"cosim_master.exchange", "cosim_master.coupling", "cosim.step", "cosim_ssp"} <= set(graph)
    assert "cosim_master.coupling" in graph["cosim_master.exchange"]
    assert cycles(graph) == []


def layer_of(module: str) -> int:
    """The number of the layer of a module, counted from below."""
    fitting = [(len(name), i) for i, names in enumerate((*COMPILER_LAYERS, *LAYERS)) for name in names
               if module == name or (name != "cosim" and module.startswith(f"{name}."))]  # fmt: skip
    assert fitting, f"{module} is in no layer"
    return max(fitting)[1]


def test_no_module_imports_from_a_higher_layer() -> None:
    graph = import_graph(["cosim", "cosim_compiler"], everywhere=True)
    wrong = [
        f"{module} imports {target}"
        for module, targets in sorted(graph.items())
        for target in sorted(targets)
        if layer_of(target) > layer_of(module)
    ]
    assert wrong == []
