"""Faults in the arguments of a call, in a sentence that says what to write."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter, Signature

NAMED = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def fault_of_arguments(
    call: str, signature: Signature, positional: tuple[object, ...], named: Mapping[str, object]
) -> str:
    """A sentence about arguments that are missing, too many, or given twice; empty where they all fit.

    Parameters
    ----------
    call : str
        What was called: ``"Model.add"``.
    signature : Signature
        Of it, without ``self``.
    positional, given
        The arguments, without and with their names.

    Examples
    --------
    >>> from inspect import signature
    >>> def add(kind, name, **values): ...
    >>> fault_of_arguments("add", signature(add), ("signals.step",), {})
    'add(): name is missing: write add(kind, name, …)'
    """
    parameters = signature.parameters.values()
    in_order = [p for p in parameters if p.kind in NAMED]
    short = call.rpartition(".")[2]
    takes_more = any(p.kind is Parameter.VAR_POSITIONAL for p in parameters)
    if len(positional) > len(in_order) and not takes_more:
        by_name = [p.name for p in parameters if p.kind is Parameter.KEYWORD_ONLY]
        without = f"{len(in_order)} arguments without names" if in_order else "no argument without its name"
        names = ", ".join(p.name for p in in_order)
        accepted = f"{without} ({names})" if names else without
        by_name_hint = f": write {short}({', '.join(f'{name}=…' for name in by_name[:3])})" if by_name else ""
        return f"{call}(): takes {accepted}, given are {len(positional)}{by_name_hint}"
    taken_names = [p.name for p in in_order[: len(positional)]]
    if twice := [name for name in taken_names if name in named]:
        place = taken_names.index(twice[0]) + 1
        return f"{call}(): {twice[0]} is given twice: once without its name, at place {place}"
    needed = [p for p in parameters if p.default is Parameter.empty]
    needed = [p for p in needed if p.kind in (*NAMED, Parameter.KEYWORD_ONLY)]
    missing = [p.name for p in needed if p.name not in taken_names and p.name not in named]
    if not missing:
        return ""
    shown = [p.name if p.kind in NAMED else f"{p.name}=…" for p in needed]
    ellipsis = ", …" if len(list(parameters)) > len(needed) else ""
    are = "is" if len(missing) == 1 else "are"
    return f"{call}(): {' and '.join(missing)} {are} missing: write {short}({', '.join(shown)}{ellipsis})"
