"""A defect of pythonfmu's library for Linux, mended in the copy that goes into an FMU."""

from __future__ import annotations

from hashlib import sha256

RETURN = b"\xc3"
FINALIZE = {
    # pythonfmu 0.7.0: where the function finalizePythonInterpreter begins in the file
    "4be156a552c16f30eb4395805c59855d8d4086056d0f165442565f6c5fbac0c9": 0x2F7E0,
}


def mend_library(library: bytes) -> bytes:
    """The library without its second release of one object; one that is not known as it is.

    pythonfmu 0.7.0 keeps a shared pointer in a static variable. Its destructor runs when the process
    exits, and then a function that is called at the unloading of the library releases the pointer again:
    it writes into freed memory, and many a process (glibc: "corrupted double-linked list") is aborted at
    its very end. When the library alone is unloaded the destructor does all that the function is for, so
    here the function returns at once.

    Parameters
    ----------
    library : bytes
        A shared library; only one with a known SHA-256 is changed.

    Examples
    --------
    >>> mend_library(b"of another version")
    b'of another version'
    """
    begin = FINALIZE.get(sha256(library).hexdigest())
    if begin is None:
        return library
    return library[:begin] + RETURN + library[begin + 1 :]
