"""Stubs of what is registered, so that editors and type checkers know parts, parameters and options."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import cosim
from cosim.kit import NUMERIC, Declaration, RegisteredClass, option_names
from cosim_workbench.studies import Study

HEADER = "# Made by `cosim new --stubs` from what is installed. Make it again after a plugin has changed.\n"
SCALAR, ARRAY, PART = "float | str", "ArrayLike | Sequence[Any]", "cosim.Component | str"
GIVEN = (*NUMERIC, "option", "attachment")
KNOWN_TYPE = re.compile(r"(bool|int|float|str|None)( \| (bool|int|float|str|None))*")
TAKEN = ("kind", "name", "self")
"""Arguments that methods of a model have themselves."""


def stub_files() -> dict[Path, str]:
    """The text of each stub by its path: one for each module with registered components, and for models."""
    plugins = cosim.registry()
    parts = [entry for entry in plugins.entries("component") if not entry.cls.takes_more]
    methods = {entry.id: _typed_options(entry.cls) for entry in plugins.entries("integrator")}
    files: dict[Path, str] = {}
    for module in sorted({entry.cls.__module__ for entry in parts}):
        classes = {entry.cls.__qualname__: entry.cls for entry in parts if entry.cls.__module__ == module}
        files |= _files_of(module, _stub_of_parts(module, classes))
    settings = "".join(f", {name}: str = ..." for name in cosim.Model.setting_names() if name != "name")
    changes: dict[str, dict[str, list[str]]] = {
        "cosim.model.model": {
            "__init__": [f"def __init__(self, name: str{settings}) -> None: ..."],
            "export_fmu": [_exported(plugins.entries("exporter"), methods)],
            "add": [*(_added(entry, parts) for entry in parts), *_OF_CLASSES],
            "connect": [
                "def connect(self, source: str | Component, target: str, factor: float | str = ..., "
                "offset: float | str = ...) -> None: ..."
            ],
            "measure": [*(_added(entry, parts, "measure") for entry in parts if "measure" in entry.kinds)],
            "simulate": [_simulate("self, ", methods)],
            "verify": [_simulate("self, ", methods, "verify", "Verification")],
        },
        "cosim.simulation.simulate": {"simulate": [_simulate("system: System, ", methods)]},
        "cosim.simulation.simulator": {"__init__": [_simulator(methods)]},
        "cosim.contracts.ensemble": {"__new__": [_ensemble(methods)]},
        "cosim_workbench.studies.study": {"__init__": [_study(methods)]},
    }
    bodies = next((entry for entry in parts if entry.id == "mechanics.rigid_body"), None)
    if bodies is not None:
        changes["cosim_mechanics.multibody"] = {
            "__init__": [f"def __init__(self, name: str, gravity: Any = ...{settings}) -> None: ..."],
            "body": [f"def body(self, name: str, *{_given(bodies.cls)}) -> {_name(bodies.cls)}: ..."],
            "joint": [_joint(entry, parts) for entry in parts if "joint" in entry.kinds],
            "constraint": [
                _added(entry, parts, "constraint") for entry in parts if "constraint" in entry.kinds
            ],
        }
    for module, replaced in changes.items():
        files |= _files_of(module, _stub_of_source(module, replaced, [entry.cls for entry in parts]))
    return files


_OF_CLASSES = (
    "def add(self, kind: Callable[P, Part], name: str, *no: P.args, **values: P.kwargs) -> Part: ...",
    "def add(self, kind: Part, name: str) -> Part: ...",
)


def _files_of(module: str, text: str) -> dict[Path, str]:
    """A stub, and those of the packages that it lies in."""
    path = Path(*module.split("."))
    source = sys.modules[module].__file__ or ""
    is_package = Path(source).name == "__init__.py"
    files = {path / "__init__.pyi" if is_package else path.with_suffix(".pyi"): HEADER + text}
    package = module if is_package else module.rpartition(".")[0]
    while package:
        place = Path(*package.split(".")) / "__init__.pyi"
        if place not in files:
            files[place] = HEADER + _stub_of_source(package, {}, [])
        package = package.rpartition(".")[0]
    return files


def _stub_of_parts(module: str, classes: Mapping[str, type[Any]]) -> str:
    """The stub of a module with components: their arguments, and their attributes."""
    bases = [base for cls in classes.values() for base in cls.__bases__ if base.__module__ != module]
    lines = [
        "from collections.abc import Callable, Sequence",
        "from typing import Any, Literal",
        "import cosim",
        *_imports(bases),
        "from numpy import float64",
        "from numpy.typing import ArrayLike, NDArray",
        "",
        "def __getattr__(name: str) -> Any: ...",
    ]
    for name, cls in classes.items():
        listed = ", ".join(
            base.__qualname__ if base.__module__ == module else _name(base) for base in cls.__bases__
        )
        summary = (inspect.getdoc(cls) or "").partition("\n")[0].replace('"', "'").replace("\\", "\\\\")
        lines += ["", f"class {name}({listed}):", f'    """{summary}"""']
        lines += [line for declared in _declarations(cls) for line in _property(declared, cls.__bases__)]
        lines.append(f"    def __init__(self{_given(cls, ', *')}) -> None: ...")
        lines += [
            f"    def {method}(self, *positional: Any, **given: Any) -> Any: ..." for method in _methods(cls)
        ]
    return "\n".join(lines) + "\n"


def _methods(cls: type[Any]) -> list[str]:
    """Public methods that are neither kernel functions nor handlers."""
    public = {name: value for name, value in vars(cls).items() if not name.startswith("_")}
    return [name for name, value in public.items() if inspect.isfunction(value) and name not in cls.kernels]


def _declarations(cls: type[Any]) -> list[Declaration]:
    return [d for d in cls.declarations.values() if d.kind in GIVEN and not d.options.get("internal")]


def _given(cls: type[Any], star: str = "", without: Iterable[str] = ()) -> str:
    """The keyword arguments of a component, those that it needs first."""
    declared = [d for d in _declarations(cls) if d.name not in without]
    needed = [d for d in declared if d.kind == "parameter" and d.start is None]
    needed = [d for d in needed if not d.free_length]
    texts = [f"{d.name}: {_argument(d)}" for d in needed]
    texts += [f"{d.name}: {_argument(d)} = ..." for d in declared if d not in needed]
    return f"{star}, {', '.join(texts)}" if texts else ""


def _argument(declared: Declaration) -> str:
    """The type of what is given."""
    words = declared.options.get("words") or declared.options.get("choices")
    if declared.kind == "attachment":
        return f"{PART} | None"
    if words and all(isinstance(word, str) for word in words):
        return f"Literal[{', '.join(map(repr, words))}]"
    if declared.kind == "option":
        return "Any" if declared.start is None else f"{type(declared.start).__name__}"
    if declared.convert is not None and declared.shape:
        return "Any"
    if declared.shape and not declared.options.get("each"):
        return f"{ARRAY} | {SCALAR}"
    return "bool | float" if declared.dtype is bool else SCALAR


def _property(declared: Declaration, bases: Iterable[type[Any]]) -> list[str]:
    """The attributes of a part, and the wider types that can be assigned before the system is built."""
    name = declared.name
    theirs = [d for base in bases for d in getattr(base, "declarations", {}).values() if d.name == name]
    is_other = any(_argument(d) != _argument(declared) for d in theirs)
    ignored = "  # type: ignore[override]" if is_other else ""
    return [
        "    @property",
        f"    def {name}(self) -> {_attribute(declared)}: ...",
        f"    @{name}.setter{ignored}",
        f"    def {name}(self, value: {_argument(declared)}) -> None: ...",
    ]


def _attribute(declared: Declaration) -> str:
    """The type of what a part has then."""
    if declared.kind == "attachment":
        return "Any"
    if declared.kind == "option":
        return "Any" if declared.start is None else type(declared.start).__name__
    return "NDArray[float64]" if declared.shape else "float"


def _words(entry: RegisteredClass, parts: Iterable[RegisteredClass]) -> str:
    """The names of a part: its id, and the last word of the id if no other part has it."""
    last = entry.id.rpartition(".")[2]
    is_single = sum(other.id.rpartition(".")[2] == last for other in parts) == 1
    return f"Literal[{entry.id!r}{f', {last!r}' if is_single else ''}]"


def _added(entry: RegisteredClass, parts: Iterable[RegisteredClass], method: str = "add") -> str:
    values = _given(entry.cls, ", *", TAKEN)
    return f"def {method}(self, kind: {_words(entry, parts)}, name: str{values}) -> {_name(entry.cls)}: ..."


def _joint(entry: RegisteredClass, parts: Iterable[RegisteredClass]) -> str:
    ends = f"child: {PART}, parent: {PART} = ..., name: str | None = ..."
    values = _given(entry.cls, ", *", (*TAKEN, "parent", "child"))
    return f"def joint(self, kind: {_words(entry, parts)}, {ends}{values}) -> {_name(entry.cls)}: ..."


def _exported(exporters: Iterable[RegisteredClass], methods: Mapping[str, Mapping[str, str]]) -> str:
    """An export with all options of exporters and of integrators."""
    named = ("path", "native", "exporter")
    names = dict.fromkeys([n for entry in exporters for n in entry.cls().option_names() if n not in named])
    names |= dict.fromkeys(n for options in methods.values() for n in options if n not in named)
    listed = "".join(f", {name}: Any = ..." for name in names)
    first = "path: str | Path, *, native: bool | None = ..., exporter: str | None = ..."
    return f"def export_fmu(self, {first}{listed}) -> Any: ..."


def _simulate(
    first: str, methods: Mapping[str, Mapping[str, str]], name: str = "simulate", answer: str = "Result"
) -> str:
    """A run with all options of runs, of simulators and of integrators."""
    options = _typed_options(cosim.Simulator) | _typed_options(cosim.simulate)
    return f"def {name}({first}{_settings(options, methods)}) -> {answer}: ..."


def _simulator(methods: Mapping[str, Mapping[str, str]]) -> str:
    """A Simulator, with all options of its own and of integrators."""
    options = _typed_options(cosim.Simulator)
    return f"def __init__(self, system: System, {_settings(options, methods)}) -> None: ..."


def _ensemble(methods: Mapping[str, Mapping[str, str]]) -> str:
    """Many runs, with all options of them and of integrators."""
    options = _typed_options(cosim.Ensemble.__new__)
    return f"def __new__(cls, system: cosim.System, {_settings(options, methods)}) -> Ensemble: ..."


def _study(methods: Mapping[str, Mapping[str, str]]) -> str:
    """A study, with all options of its own, of ensembles and of integrators."""
    first = "model: Any, vary: Mapping[str, Any], objectives: Sequence[Any] | Mapping[str, Any] | None = ..."
    options = _typed_options(Study) | {"run_in": "Any"} | _typed_options(cosim.Ensemble.__new__)
    settings = {n: options[n] for n in options if n not in ("model", "vary", "objectives", "reduce")}
    return f"def __init__(self, {first}, *, {_settings(settings, methods)}) -> None: ..."


def _settings(options_of_run: Mapping[str, str], methods: Mapping[str, Mapping[str, str]]) -> str:
    """Options of runs, and those of integrators, with their types: the order is that of a call."""
    ids = [f"{id!r}, {id.rpartition('.')[2]!r}" for id in methods]
    types = dict(options_of_run)
    for options_of_method in methods.values():
        types = {**options_of_method, **types}
    names = dict.fromkeys([*options_of_run, *types])
    types["integrator"] = f"Literal[{', '.join(ids)}] | cosim.Integrator | type[cosim.Integrator]"
    types["signals"] = "Sequence[str] | str"
    listed = [n for n in names if n not in ("cls", "self", "system", "options", "settings")]
    return ", ".join(f"{n}: {types[n].removesuffix(' | None')} | None = ..." for n in listed)


def _typed_options(function: Any) -> dict[str, str]:
    """The type of each option by its name: that of its signature if every stub knows its words, else Any."""
    annotated: dict[str, str] = {}
    for base in reversed(function.__mro__) if isinstance(function, type) else ():
        annotated |= getattr(vars(base).get("__init__"), "__annotations__", {})
    annotated |= {} if isinstance(function, type) else function.__annotations__
    types = {name: annotated.get(name, "Any") for name in option_names(function)}
    return {n: text if KNOWN_TYPE.fullmatch(str(text)) else "Any" for n, text in types.items()}


def _name(cls: type[Any]) -> str:
    """The name of a class in stubs: parts of several plugins may have one name."""
    return f"_{cls.__module__.replace('.', '_')}_{cls.__qualname__}"


def _imports(classes: Iterable[type[Any]]) -> list[str]:
    return sorted({f"from {cls.__module__} import {cls.__qualname__} as {_name(cls)}" for cls in classes})


def _stub_of_source(module: str, replaced: Mapping[str, list[str]], mentioned: Iterable[type[Any]]) -> str:
    """The stub of a module as it is, with other signatures for some functions."""
    tree = ast.parse(inspect.getsource(importlib.import_module(module)))
    lines = ["from typing import Any"]
    if replaced:
        lines += ["import cosim", "from collections.abc import Sequence"]
        lines += ["from typing import Literal, overload", "from numpy.typing import ArrayLike"]
        lines += _imports(cls for cls in mentioned if _name(cls) in str(replaced))
    body = _without_bodies(tree.body, replaced)
    return "\n".join([*lines, ast.unparse(ast.Module(body, []))]) + "\n"


def _without_bodies(body: Iterable[ast.stmt], replaced: Mapping[str, list[str]]) -> list[ast.stmt]:
    """Statements of a module or class with signatures only."""
    statements: list[ast.stmt] = []
    overloaded: set[str] = set()
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            statements += [] if getattr(node, "module", "") == "__future__" else [node]
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            branch = node.orelse if ast.unparse(node.test).startswith("not ") else node.body
            statements += _without_bodies(branch, replaced)
        elif isinstance(node, ast.ClassDef):
            node.body = _without_bodies(node.body, replaced) or [ast.Expr(ast.Constant(...))]
            statements.append(node)
        elif isinstance(node, ast.FunctionDef) and node.name in replaced:
            statements += [] if node.name in overloaded else _overloads(replaced[node.name])
            overloaded.add(node.name)
        elif isinstance(node, ast.FunctionDef):
            node.body = [ast.Expr(ast.Constant(...))]
            node.decorator_list = [d for d in node.decorator_list if _is_known(d)]
            statements.append(node)
        elif isinstance(node, ast.AnnAssign):
            node.value = None
            statements.append(node)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name == "instead":  # of `FixedAttributes`: a class variable, said there
                continue
            statements.append(node if _makes_type(name, node.value) else _of_any(name))
    return statements


def _overloads(signatures: list[str]) -> list[ast.stmt]:
    prefix = "@overload\n" if len(signatures) > 1 else ""
    return ast.parse("\n".join(f"{prefix}{signature}" for signature in signatures)).body


def _is_known(decorator: ast.expr) -> bool:
    """Whether a decorator changes what a call of the function means to a type checker."""
    text = ast.unparse(decorator)
    return text in ("property", "classmethod", "staticmethod", "overload") or text.endswith(".setter")


def _makes_type(name: str, value: ast.expr) -> bool:
    """Whether an assignment makes a type variable, or another name of a type."""
    if isinstance(value, ast.Call):
        return ast.unparse(value.func) in ("TypeVar", "ParamSpec")
    is_type = isinstance(value, (ast.Name, ast.Attribute, ast.Subscript, ast.BinOp))
    return is_type and ast.unparse(value) != name


def _of_any(name: str) -> ast.stmt:
    return ast.parse(f"{name}: Any").body[0]
