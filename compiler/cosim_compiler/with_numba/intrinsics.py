"""Numba intrinsics: how compiled code calls what it knows by an address, a symbol or a number only."""

from __future__ import annotations

import functools
from typing import Any

from cosim_compiler.convention import DATA, ITEMS, SHAPE, STRIDES, compounds

PASSED = (ITEMS, DATA, SHAPE, STRIDES)
"""Those that a call for a status hands over."""


def numba_type(letter: str) -> Any:
    """What a letter of a signature stands for."""
    from numba import types as nb

    if letter in compounds:
        compound, letters = compounds[letter]
        return nb.NamedTuple([numba_type(inner) for inner in letters], compound)
    return {
        "f": nb.float64,
        "i": nb.int64,
        "v": nb.void,
        "F": nb.Array(nb.float64, 1, "C"),
        "I": nb.Array(nb.int64, 1, "C"),
        "M": nb.Array(nb.float64, 2, "C"),
        "T": nb.Array(nb.int64, 2, "C"),
    }[letter]


@functools.cache
def status_call(signature: str) -> Any:
    """Numba intrinsic: calls the machine code at an address, which has no result, for its status."""
    from numba import types as nb

    wanted = [numba_type(letter) for letter in signature.removesuffix(">v")]

    def generate(context: Any, builder: Any, typed: Any, values: Any) -> Any:
        convention = context.call_conv
        pointer = builder.inttoptr(values[0], convention.get_function_type(nb.void, wanted).as_pointer())
        given = [
            _bare(builder, value) if isinstance(kind, nb.Array) else value
            for kind, value in zip(wanted, values[1:], strict=True)
        ]
        status, _ = convention.call_function(builder, pointer, nb.void, wanted, given)
        return status.code

    return _intrinsic(nb.int32(nb.int64, *wanted), generate)


def _bare(builder: Any, array: Any) -> Any:
    """An array without the words that nothing reads: undefined, so that a call need not store them.

    Compiled code allocates nothing, so it has no use for the owner.
    """
    from llvmlite import ir

    bare = ir.Constant(array.type, ir.Undefined)
    for word in PASSED:
        bare = builder.insert_value(bare, builder.extract_value(array, word), word)
    return bare


@functools.cache
def foreign_calls() -> tuple[Any, Any]:
    """Numba intrinsics in place of the functions of `cosim_compiler.foreign`."""
    from llvmlite import ir
    from numba import types as nb
    from numba.extending import intrinsic

    def caller(letters: str) -> Any:
        kinds = [numba_type(letter) for letter in letters]
        words = [ir.DoubleType() if letter == "f" else ir.IntType(64) for letter in letters]
        function = ir.FunctionType(ir.IntType(32), words)

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return builder.call(builder.inttoptr(values[0], function.as_pointer()), values[1:])

        return nb.int32(nb.int64, *kinds), generate

    @intrinsic
    def call_with_array(typing_context, address, handle, indices, count, values, size):
        return caller("iiiii")

    @intrinsic
    def call_with_interval(
        typing_context, address, handle, start, length, flag, first, second, third, fourth
    ):
        return caller("iffiiiii")

    return call_with_array, call_with_interval


@functools.cache
def array_at(letter: str, columns: int) -> Any:
    """Numba intrinsic: the memory at an address as an array, which something else owns."""
    from numba import types as nb
    from numba.extending import intrinsic
    from numba.np import arrayobj

    kind = numba_type(letter)

    @intrinsic
    def array_at(typing_context, address, size):
        def generate(context, builder, signature, values):
            array = context.make_array(kind)(context, builder)
            word = functools.partial(context.get_constant, nb.intp)
            data = builder.inttoptr(values[0], array.data.type)
            shape, strides = [values[1]], [word(8 * columns)]
            if kind.ndim == 2:
                shape, strides = [*shape, word(columns)], [*strides, word(8)]
            arrayobj.populate_array(array, data, shape, strides, word(8), None)
            return array._getvalue()

        return kind(nb.int64, nb.int64), generate

    return array_at


@functools.cache
def as_table() -> Any:
    """Numba intrinsic in place of `tables.as_table`; NumPy's own reshape calls what no native library has."""
    from numba import types as nb
    from numba.extending import intrinsic
    from numba.np import arrayobj

    @intrinsic
    def as_table(typing_context, view, rows, columns):
        table = nb.Array(view.dtype, 2, "C")

        def generate(context, builder, signature, values):
            given = context.make_array(view)(context, builder, values[0])
            made = context.make_array(table)(context, builder)
            item = context.get_constant(nb.intp, 8)
            strides = [builder.mul(item, values[2]), item]
            arrayobj.populate_array(made, given.data, values[1:], strides, item, None)
            return made._getvalue()

        return table(view, nb.int64, nb.int64), generate

    return as_table


@functools.cache
def zeros() -> Any:
    """Numba intrinsic in place of `tables.zeros`: memory of the frame, which ends with the function."""
    from llvmlite import ir
    from numba import types as nb
    from numba.core import cgutils
    from numba.extending import intrinsic
    from numba.np import arrayobj

    @intrinsic
    def zeros(typing_context, shape):
        axes = shape.count if isinstance(shape, nb.UniTuple) else 1
        made = nb.Array(nb.float64, axes, "C")

        def generate(context, builder, signature, values):
            array = context.make_array(made)(context, builder)
            item = context.get_constant(nb.intp, 8)
            lengths = [values[0]] if axes == 1 else cgutils.unpack_tuple(builder, values[0], axes)
            count = functools.reduce(builder.mul, lengths)
            data = builder.alloca(ir.DoubleType(), count)
            cgutils.memset(builder, data, builder.mul(count, item), 0)
            strides = [item] if axes == 1 else [builder.mul(item, lengths[1]), item]
            arrayobj.populate_array(array, data, lengths, strides, item, None)
            return array._getvalue()

        return made(nb.UniTuple(nb.int64, axes) if axes > 1 else nb.int64), generate

    return zeros


@functools.cache
def indirect_call_of(signature: str) -> Any:
    """Numba intrinsic: calls the machine code at an address with a tuple of arguments, for its result."""
    from numba.extending import intrinsic

    letters, letter = signature.split(">")
    wanted, answer = [numba_type(letter) for letter in letters], numba_type(letter)

    @intrinsic
    def call_address(typing_context, address, arguments):
        def generate(context, builder, typed, values):
            convention = context.call_conv
            given = [
                context.cast(builder, builder.extract_value(values[1], i), a, b)
                for i, (a, b) in enumerate(zip(typed.args[1], wanted, strict=True))
            ]
            pointer = builder.inttoptr(values[0], convention.get_function_type(answer, wanted).as_pointer())
            _, value = convention.call_function(builder, pointer, answer, wanted, given)
            return value if letter != "v" else context.get_dummy_value()

        return answer(address, arguments), generate

    return call_address


def call_by_name(name: str, signature: str) -> Any:
    """Numba intrinsic: calls a function by its symbol."""
    from numba.core import cgutils

    letters, letter = signature.split(">")
    wanted, answer = [numba_type(letter) for letter in letters], numba_type(letter)

    def generate(context: Any, builder: Any, typed: Any, values: Any) -> Any:
        convention = context.call_conv
        kind = convention.get_function_type(answer, wanted)
        symbol = cgutils.get_or_insert_function(builder.module, kind, name)
        _, value = convention.call_function(builder, symbol, answer, wanted, values)
        return value if letter != "v" else context.get_dummy_value()

    return _intrinsic(answer(*wanted), generate)


def _intrinsic(typed: Any, generate: Any) -> Any:
    """Numba intrinsic of fixed types; its arguments are written out, since numba counts them."""
    from numba.extending import intrinsic

    given = ", ".join(f"a{i}" for i in range(len(typed.args)))
    namespace = {"typed": typed, "generate": generate}
    exec(f"def call(typing_context, {given}):\n    return typed, generate\n", namespace)  # noqa: S102
    return intrinsic(namespace["call"])


def call_of_part(signature: str, head: tuple[int, int], callee: str | int) -> Any:
    """Numba intrinsic: calls a part with the address of a head in place of all arrays.

    Parameters
    ----------
    signature : str
        Its first letter stands for a named tuple of arrays.
    head : (int, int)
        Which of these arrays holds addresses, and where in it that of the head lies.
    callee : str or int
        The symbol of the part, or where its address lies. Where that is 0, nothing is called; the answer
        is 0.
    """
    from llvmlite import ir
    from numba import types as nb
    from numba.core import cgutils

    letters, letter = signature.split(">")
    given, answer = [numba_type(inner) for inner in letters], numba_type(letter)
    wanted = [nb.int64, *given[1:]]

    def generate(context: Any, builder: Any, typed: Any, values: Any) -> Any:
        convention = context.call_conv
        data = builder.extract_value(builder.extract_value(values[0], head[0]), DATA)
        word = ir.IntType(64)
        arguments = [builder.load(builder.gep(data, [ir.Constant(word, head[1])])), *values[1:]]
        kind = convention.get_function_type(answer, wanted)
        if isinstance(callee, str):
            symbol = cgutils.get_or_insert_function(builder.module, kind, callee)
            _, value = convention.call_function(builder, symbol, answer, wanted, arguments)
            return value if letter != "v" else context.get_dummy_value()
        address = builder.load(builder.gep(data, [ir.Constant(word, callee)]))
        before = builder.block
        with builder.if_then(builder.icmp_signed("!=", address, ir.Constant(word, 0))):
            pointer = builder.inttoptr(address, kind.as_pointer())
            _, value = convention.call_function(builder, pointer, answer, wanted, arguments)
            called = builder.block
        if letter == "v":
            return context.get_dummy_value()
        result = builder.phi(value.type)
        result.add_incoming(ir.Constant(value.type, 0), before)
        result.add_incoming(value, called)
        return result

    return _intrinsic(answer(*given), generate)


def call_of_number(name: str, signature: str) -> Any:
    """Numba intrinsic: hands a number and a tuple of arguments to a function with a symbol."""
    from numba.core import cgutils
    from numba.extending import intrinsic

    letters, letter = signature.split(">")
    wanted = [numba_type(letter) for letter in f"i{letters}"]
    answer = numba_type(letter)

    @intrinsic
    def call_number(typing_context, number, arguments):
        def generate(context, builder, typed, values):
            convention = context.call_conv
            kinds = [typed.args[0], *typed.args[1]]
            items = [values[0]]
            items += [builder.extract_value(values[1], i) for i in range(len(letters))]
            given = [
                context.cast(builder, item, a, b) for item, a, b in zip(items, kinds, wanted, strict=True)
            ]
            symbol = cgutils.get_or_insert_function(
                builder.module, convention.get_function_type(answer, wanted), name
            )
            _, value = convention.call_function(builder, symbol, answer, wanted, given)
            return value if letter != "v" else context.get_dummy_value()

        return answer(number, arguments), generate

    return call_number
