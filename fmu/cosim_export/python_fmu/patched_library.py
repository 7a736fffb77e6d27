"""Patches the library of pythonfmu that goes into an FMU, to repair defects of version 0.7.0."""

from __future__ import annotations

from hashlib import sha256

# Machine code for pythonfmu's library: it decodes the address of the resources.
#
# pythonfmu 0.7 makes a string of the address and turns ``%20`` into a space; every other character that an
# address writes with a percent sign (``%40`` for ``@``, ``%C3%A4`` for ``ä``) stays, and the folder is not
# found. In place of the string's constructor the library calls this function, which calls it and then
# decodes the string in place. Its code overwrites that of a function that is no longer needed (see
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


JUMP_IF_NEGATIVE, JUMP, NO_OPERATION = b"\x78", b"\xeb", b"\x90"
# By SHA-256 of the library: the place in the file, the old bytes, the new bytes.
CHANGES: dict[str, tuple[tuple[int, bytes, bytes], ...]] = {
    # pythonfmu 0.7.0, linux64
    "4be156a552c16f30eb4395805c59855d8d4086056d0f165442565f6c5fbac0c9": (
        (0x2F7E0, b"\xf3", b"\xc3"),  # finalizePythonInterpreter returns at once; behind its return …
        (PLACE, b"\x2d\x73\x64\x01", CODE),  # … is the function that decodes the address, called …
        (CALL, call_to(0x17890, CALL), call_to(PLACE, CALL)),  # … in place of std::string(const char *)
        # handle_py_exception throws even if Python has raised nothing (a missing script) …
        (0x34080, b"\x0f\x84\xc2\x03\x00\x00", 6 * NO_OPERATION),
        # … does not release the class, the instance and the log queue (as with immortal objects) …
        (0x340C9, JUMP_IF_NEGATIVE, JUMP),
        (0x340E3, JUMP_IF_NEGATIVE, JUMP),
        (0x340FD, JUMP_IF_NEGATIVE, JUMP),
        # … and throws as std::runtime_error, the base class that its type information names
        (0x34393, b"\xb9\x07\x01\x00", b"\x41\x00\x01\x00"),
        (0x3A3A0, b"Fatal py exception encountered: ", b"Not done, answered by an error: "),
    ),
}


def patch_library(library: bytes) -> bytes:
    """The library without four defects of pythonfmu 0.7.0; an unknown library is returned unchanged.

    *A second release at the end.* A shared pointer in a static variable is released by its destructor when
    the process exits, and then again by a function that is called when the library is unloaded. This writes
    into freed memory, and many processes are aborted at their end (glibc: "corrupted double-linked list").
    The patch disables the function: the destructor is enough when only the library is unloaded, too.

    *Every exception is fatal.* An exception that leaves a method of the slave releases the slave, and
    fmi2FreeInstance releases it again (a crash); it is rethrown as the type that becomes fmi2Fatal. With the
    patch the slave stays, and the type is the base class, for which the library logs and returns fmi2Error.

    *A script that is not found is called.* The class is then a null pointer, and the call crashes. With the
    patch there is no instance, and a message.

    *Only* ``%20`` *is decoded in the address of the resources.* In folders with other characters that an
    address writes with a percent sign (``a@b``, ``ä``) no script is found. With the patch all of them are
    decoded.

    Parameters
    ----------
    library : bytes
        A shared library; only one with a known SHA-256 is changed.

    Examples
    --------
    >>> patch_library(b"of another version")
    b'of another version'
    """
    patched = bytearray(library)
    for place, old, new in CHANGES.get(sha256(library).hexdigest(), ()):
        assert patched[place : place + len(old)] == old
        patched[place : place + len(new)] = new
    return bytes(patched)


def answers_errors(library: bytes) -> bool:
    """Whether an exception in a slave becomes fmi2Error in the FMU that this library goes into."""
    return sha256(library).hexdigest() in CHANGES
