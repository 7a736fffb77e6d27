"""Defects of pythonfmu's library for Linux, mended in the copy that goes into an FMU."""

from __future__ import annotations

from hashlib import sha256

from cosim_export.python_fmu.decode_address import CALL, CODE, PLACE, call_to

JUMP_IF_NEGATIVE, JUMP, NO_OPERATION = b"\x78", b"\xeb", b"\x90"
# By SHA-256 of the library: where in the file, what stands there, what shall stand there.
CHANGES: dict[str, tuple[tuple[int, bytes, bytes], ...]] = {
    # pythonfmu 0.7.0, linux64
    "4be156a552c16f30eb4395805c59855d8d4086056d0f165442565f6c5fbac0c9": (
        (0x2F7E0, b"\xf3", b"\xc3"),  # finalizePythonInterpreter returns at once, and behind it stands …
        (PLACE, b"\x2d\x73\x64\x01", CODE),  # … what decodes the address of the resources, called …
        (CALL, call_to(0x17890, CALL), call_to(PLACE, CALL)),  # … in place of std::string(const char *)
        # handle_py_exception throws also where Python has raised nothing (a script that is not there) …
        (0x34080, b"\x0f\x84\xc2\x03\x00\x00", 6 * NO_OPERATION),
        # … keeps the class, the instance and the log queue (as with immortal objects) …
        (0x340C9, JUMP_IF_NEGATIVE, JUMP),
        (0x340E3, JUMP_IF_NEGATIVE, JUMP),
        (0x340FD, JUMP_IF_NEGATIVE, JUMP),
        # … and throws as std::runtime_error, the base class that its type information names
        (0x34393, b"\xb9\x07\x01\x00", b"\x41\x00\x01\x00"),
        (0x3A3A0, b"Fatal py exception encountered: ", b"Not done, answered by an error: "),
    ),
}


def mend_library(library: bytes) -> bytes:
    """The library without four defects of pythonfmu 0.7.0; one that is not known as it is.

    *A second release at the end.* A shared pointer in a static variable is released by its destructor when
    the process exits, and then again by a function that is called at the unloading of the library: a write
    into freed memory, for which many a process is aborted at its very end (glibc: "corrupted double-linked
    list"). When the library alone is unloaded, the destructor does all that the function is for.

    *Every exception is fatal.* An exception that leaves a method of the slave releases the slave, though
    fmi2FreeInstance does so again (a crash), and is thrown on as the one type that becomes fmi2Fatal.
    Here the slave stays, and the type is the base class: the library's branch "log, fmi2Error".

    *A script that is not found is called.* The class is a null pointer then, and calling it a crash. Here
    there is no instance, and a message.

    *Of the resources' address only* ``%20`` *is decoded.* In folders with other characters that an address
    writes with a percent sign (``a@b``, ``ä``) no script is found. Here all of them are decoded.

    Parameters
    ----------
    library : bytes
        A shared library; only one with a known SHA-256 is changed.

    Examples
    --------
    >>> mend_library(b"of another version")
    b'of another version'
    """
    mended = bytearray(library)
    for at, old, new in CHANGES.get(sha256(library).hexdigest(), ()):
        assert mended[at : at + len(old)] == old
        mended[at : at + len(new)] = new
    return bytes(mended)


def answers_errors(library: bytes) -> bool:
    """Whether an exception in a slave becomes fmi2Error in the FMU that this library goes into."""
    return sha256(library).hexdigest() in CHANGES
