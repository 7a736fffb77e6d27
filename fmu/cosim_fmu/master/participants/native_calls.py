"""Where compiled code finds the C functions of an instance."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NativeCalls:
    """Addresses of an instance of an FMU whose connected and recorded variables are all real.

    Attributes
    ----------
    instance, set, step, get : int
        The instance and the functions that write, advance and read.
    input_references, output_references : int
        Addresses of the arrays of value references.
    same_size : bool
        Whether every step but the last has to have the very same length.
    keep : object
        What must not be collected while the addresses are in use.
    """

    instance: int
    set: int
    step: int
    get: int
    input_references: int
    output_references: int
    same_size: bool
    keep: object
