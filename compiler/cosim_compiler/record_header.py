"""Records as declarations in C."""

from __future__ import annotations

from typing import Any

from cosim_compiler.record import C_NUMBERS, Record, Rows


def c_header(*classes: type[Record], prefix: str = "") -> str:
    """The declarations of records in C, those inside before those around them.

    Parameters
    ----------
    *classes : type
    prefix : str
        Before their names in C.
    """
    lines = ["#include <stdint.h>", ""]
    for cls in classes:
        lines.append(f"/* {(cls.__doc__ or cls.__name__).strip().splitlines()[0]} */")
        lines.append(f"typedef struct {prefix}{cls.__name__} {{")
        for name, kind in cls.declared.items():
            if isinstance(kind, Rows):
                lines.append(f"    struct {{ {_in_c(kind.kind, prefix)} *at; int64_t n; }} {name};")
            else:
                lines.append(f"    {_in_c(kind, prefix)} {name};")
        lines += [f"}} {prefix}{cls.__name__};", ""]
    return "\n".join(lines)


def _in_c(kind: Any, prefix: str) -> str:
    return C_NUMBERS.get(kind) or f"struct {prefix}{kind.__name__}"
