"""The elements that each result of a kernel function depends on, stored for other processes.

The modules that read functions are imported only when one has to be read.
"""

from __future__ import annotations

import types

from cosim_compiler.errors import ContractError
from cosim_compiler.fingerprint import fingerprint
from cosim_compiler.language.flow_elements import Flows
from cosim_compiler.language.types import Type
from cosim_compiler.sources.clean_sources import cached_fact, remember_clean
from cosim_compiler.sources.kernel_source import source_of


def kept_flows(function: types.FunctionType, kinds: tuple[Type, ...]) -> Flows | None:
    """`flows_of` for arguments of these types, from an earlier process if possible.

    None if the function is not of the language: compiling it raises an error that says why.
    """
    source, key = source_of(function), fingerprint(function, "flows", repr(kinds))
    stored = cached_fact(source, key)
    if stored is not None:
        return {tuple(to): frozenset(map(tuple, read)) for to, read in stored}

    from cosim_compiler.language.flows import flows_of
    from cosim_compiler.language.program import Program

    try:
        flows = flows_of(Program().function(function, kinds))
    except ContractError:
        return None
    remember_clean(source, key, sorted([to, sorted(read)] for to, read in flows.items()))
    return flows
