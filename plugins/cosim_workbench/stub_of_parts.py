"""The stub of a module with registered components: their arguments, and their attributes."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from cosim.kit import Declaration
from cosim_workbench.stub_types import (
    argument_type,
    attribute_type,
    import_lines,
    keyword_arguments,
    shown_declarations,
    stub_name,
)

HEAD = (
    "from collections.abc import Callable, Sequence",
    "from typing import Any, Literal",
    "import cosim",
    "from numpy import float64",
    "from numpy.typing import ArrayLike, NDArray",
)


def stub_of_parts(module: str, classes: Mapping[str, type[Any]]) -> str:
    """The stub of a module with these components, by their names."""
    bases = [base for cls in classes.values() for base in cls.__bases__ if base.__module__ != module]
    imports = [*HEAD[:3], *import_lines(bases), *HEAD[3:]]
    lines = [*imports, "", "def __getattr__(name: str) -> Any: ..."]
    for name, cls in classes.items():
        lines += ["", *class_lines(module, name, cls)]
    return "\n".join(lines) + "\n"


def class_lines(module: str, name: str, cls: type[Any]) -> list[str]:
    """The stub of one component."""
    bases = [base.__qualname__ if base.__module__ == module else stub_name(base) for base in cls.__bases__]
    summary = (inspect.getdoc(cls) or "").partition("\n")[0].replace('"', "'").replace("\\", "\\\\")
    return [
        f"class {name}({', '.join(bases)}):",
        f'    """{summary}"""',
        *(line for declared in shown_declarations(cls) for line in property_lines(declared, cls.__bases__)),
        f"    def __init__(self{keyword_arguments(cls, ', *')}) -> None: ...",
        *(
            f"    def {method}(self, *positional: Any, **given: Any) -> Any: ..."
            for method in public_methods(cls)
        ),
    ]


def public_methods(cls: type[Any]) -> list[str]:
    """Public methods that are neither kernel functions nor handlers."""
    public = {name: value for name, value in vars(cls).items() if not name.startswith("_")}
    return [name for name, value in public.items() if inspect.isfunction(value) and name not in cls.kernels]


def property_lines(declared: Declaration, bases: Iterable[type[Any]]) -> list[str]:
    """The attributes of a part, and the wider types that can be assigned before the system is built."""
    name = declared.name
    inherited = [d for base in bases for d in getattr(base, "declarations", {}).values() if d.name == name]
    overrides = any(argument_type(d) != argument_type(declared) for d in inherited)
    ignored = "  # type: ignore[override]" if overrides else ""
    return [
        "    @property",
        f"    def {name}(self) -> {attribute_type(declared)}: ...",
        f"    @{name}.setter{ignored}",
        f"    def {name}(self, value: {argument_type(declared)}) -> None: ...",
    ]
