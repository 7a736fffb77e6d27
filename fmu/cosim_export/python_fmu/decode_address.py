"""Machine code for pythonfmu's library: it decodes the address of the resources.

pythonfmu 0.7 makes a string of the address and turns ``%20`` into a space; every other character that an
address writes with a percent sign (``%40`` for ``@``, ``%C3%A4`` for ``ä``) stays, and the folder is not
found. In place of the string's constructor the library calls this function, which calls it and then decodes
the string where it lies. It takes the place of a function that does nothing any more (see `mend_library`).

Source, for x86-64 and the calling convention of Linux::

cave:
    push %rbx
    mov %rdi, %rbx
    test %rsi, %rsi
    jne 1f
    lea empty(%rip), %rsi
1:  call 0x17890        # std::string(const char *)
after:
    mov (%rbx), %r8
    mov 8(%rbx), %rcx
    add %r8, %rcx
    mov %r8, %rsi
    mov %r8, %rdi
loop:
    cmp %rcx, %rsi
    jae done
    mov (%rsi), %al
    inc %rsi
    cmp $0x25, %al
    jne put
    lea 2(%rsi), %rdx
    cmp %rcx, %rdx
    ja put
    xor %edx, %edx      # the byte that two digits make
    xor %r9d, %r9d      # which of them
digit:
    movzbl (%rsi,%r9), %r10d
    sub $0x30, %r10d
    cmp $9, %r10d
    jbe taken
    or $0x20, %r10d     # a letter of either case, less 0x30: 0x31 to 0x36
    sub $0x31, %r10d
    cmp $5, %r10d
    ja put
    add $10, %r10d
taken:
    shl $4, %edx
    or %r10d, %edx
    inc %r9d
    cmp $2, %r9d
    jne digit
    mov %edx, %eax
    add $2, %rsi
put:
    mov %al, (%rdi)
    inc %rdi
    jmp loop
done:
    movb $0, (%rdi)
    sub %r8, %rdi
    mov %rdi, 8(%rbx)
    pop %rbx
    ret
empty:
    .byte 0
"""

from __future__ import annotations

PLACE = 0x2F7F0
"""Where it stands in the library."""
CODE = bytes.fromhex(
    "534889fb4885f67507488d357a000000e88b80feff4c8b03488b4b084c01c14c89c64c89c74839ce73548a06"
    "48ffc63c257544488d56024839ca773b31d24531c9460fb6140e4183ea304183fa0976124183ca204183ea31"
    "4183fa0577194183c20ac1e2044409d241ffc14183f90275d089d04883c602880748ffc7eba7c607004c29c7"
    "48897b085bc300"
)
CALL = 0x1AA13
"""Where the library calls the constructor, by an offset from the next instruction."""


def call_to(target: int, at: int) -> bytes:
    """The instruction at a place that calls a function at another.

    Examples
    --------
    >>> call_to(PLACE, CALL).hex()
    'e8d84d0100'
    """
    return b"\xe8" + (target - at - 5).to_bytes(4, "little", signed=True)
