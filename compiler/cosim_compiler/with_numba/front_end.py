"""What numba's front end does again and again with the same outcome is done once, or the short way.

Everything here is numba's own again as soon as a compilation ends. Which version of numba that may be, see
docs/decisions/0003-numba-minor-version-is-pinned.md.
"""

from __future__ import annotations

import contextlib
import functools
import operator
from collections.abc import Iterator
from typing import Any

from cosim_compiler.convention import DATA, SHAPE

OPTIONS_OF = operator.attrgetter("_values")
"""What numba keeps of the options of a compilation."""

_signatures: dict[Any, Any] = {}
_missing: set[Any] = set()


@contextlib.contextmanager
def without_repetition() -> Iterator[None]:
    """Compile meanwhile, holding the compiler's lock; the outcome is the same to the letter."""
    from numba.core.base import BaseContext
    from numba.core.lowering import Lower
    from numba.core.postproc import PostProcessor
    from numba.core.targetconfig import TargetConfig
    from numba.core.types.functions import BaseFunction

    changes = (
        (TargetConfig, "__eq__", _is_the_same(TargetConfig.__eq__)),
        (TargetConfig, "__hash__", _hash),
        (BaseFunction, "get_call_type", _call_type(BaseFunction.get_call_type)),
        (PostProcessor, "run", _post_processing(PostProcessor.run)),
        (BaseContext, "get_function", _implementation(BaseContext.get_function)),
        (Lower, "lower_getitem", _reading(Lower.lower_getitem)),
        (Lower, "lower_setitem", _writing(Lower.lower_setitem)),
    )
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in changes]
    for owner, name, changed in changes:
        setattr(owner, name, changed)
    try:
        yield
    finally:
        for owner, name, function in before:
            setattr(owner, name, function)


def for_any_number(dispatcher: Any) -> Any:
    """A function that is compiled for whole numbers, not for each one that stands in a call of it.

    Where only that one will do (it is the place of an element in a tuple of different kinds), for that one.
    """
    from numba.core import types
    from numba.core.errors import NumbaError

    get_call_template = dispatcher.get_call_template
    constants = types.IntegerLiteral, types.BooleanLiteral

    def any_number(kind: Any) -> Any:
        return kind.literal_type if isinstance(kind, constants) else kind

    def template(args: Any, kws: Any) -> Any:
        with contextlib.suppress(NumbaError):
            return get_call_template(tuple(map(any_number, args)), {n: any_number(k) for n, k in kws.items()})
        return get_call_template(args, kws)

    dispatcher.get_call_template = template
    return dispatcher


def _is_the_same(compare: Any) -> Any:
    """As numba compares options of the compiler, of which it always has the same few at hand."""

    def is_the_same(self: Any, other: Any) -> Any:
        if self is other or (type(self) is type(other) and OPTIONS_OF(self) == OPTIONS_OF(other)):
            return True
        return compare(self, other)

    return is_the_same


def _hash(options: Any) -> int:
    """As numba computes it (of the options' names alone), once for each kind of options."""
    kind: Any = type(options)
    return _hash_of_names(kind)


@functools.cache
def _hash_of_names(kind: Any) -> int:
    return hash(tuple(sorted(kind.options)))


def _call_type(resolve: Any) -> Any:
    """What an operator or a function of numba's own returns for arguments of some types: it never changes.

    For most operators numba tries a dozen rules each time, and words why they do not fit.
    """

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        key = self, context, tuple(args), tuple(sorted(kws.items()))
        known = _signatures.get(key)
        if known is None:
            known = resolve(self, context, args, kws)
            if known.return_type.is_precise():  # else it may be refined where it stands
                _signatures[key] = known
        return known

    return get_call_type


def _post_processing(run: Any) -> Any:
    """Which variable lives how long is asked once, where the code is complete, not after each pass."""
    from numba.core.transforms import canonicalize_cfg

    def post_process(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        if emit_dels or self.func_ir.is_generator:
            run(self, emit_dels, extend_lifetimes)
        else:
            self.func_ir.blocks = canonicalize_cfg(self.func_ir.blocks)
            self.func_ir.generator_info = None

    return post_process


def _implementation(find: Any) -> Any:
    """Where numba has no special code, as for `a[0]`, it looks through all its registries each time."""

    def get_function(self: Any, function: Any, signature: Any, _firstcall: bool = True) -> Any:
        if not isinstance(function, str):
            return find(self, function, signature, _firstcall)
        key = function, signature.args
        if key in _missing:
            raise NotImplementedError(function)
        try:
            return find(self, function, signature, _firstcall)
        except NotImplementedError:
            _missing.add(key)
            raise

    return get_function


def _reading(lower: Any) -> Any:
    """One number of an array, without the copy of the array's words that numba makes of them in memory."""
    from numba.np.arrayobj import load_item

    def lower_getitem(self: Any, kind: Any, expression: Any, value: Any, index: Any, signature: Any) -> Any:
        place = _place_in(self, value, index, signature)
        if place is None:
            return lower(self, kind, expression, value, index, signature)
        found = load_item(self.context, self.builder, signature.args[0], place)
        return self.context.cast(self.builder, found, signature.return_type, kind)

    return lower_getitem


def _writing(lower: Any) -> Any:
    from numba.np.arrayobj import store_item

    def lower_setitem(self: Any, target: Any, index: Any, value: Any, signature: Any) -> Any:
        place = _place_in(self, target, index, signature)
        if place is None:
            return lower(self, target, index, value, signature)
        array, _, kind = signature.args
        given, passed = self.loadvar(value.name), self.typeof(value.name)
        for before, after in ((passed, kind), (kind, array.dtype)):
            given = self.context.cast(self.builder, given, before, after)
        return store_item(self.context, self.builder, array, given, place)

    return lower_setitem


def _place_in(lowering: Any, array: Any, index: Any, signature: Any) -> Any:
    """The address of a number in a contiguous array; None of what numba handles better."""
    from llvmlite import ir
    from numba import types as nb

    context: Any = lowering.context
    builder: Any = lowering.builder
    kind, places = signature.args[:2]
    kinds = tuple(places) if isinstance(places, nb.BaseTuple) else (places,)
    is_plain = isinstance(kind, nb.Array) and kind.layout == "C" and isinstance(kind.dtype, nb.Number)
    if not is_plain or kind != lowering.typeof(array.name) or context.enable_boundscheck:
        return None
    if kinds != (nb.int64,) * kind.ndim:
        return None
    words = lowering.loadvar(array.name)
    given = context.cast(builder, lowering.loadvar(index.name), lowering.typeof(index.name), places)
    place = None
    for axis in range(kind.ndim):
        at = builder.extract_value(given, axis) if isinstance(places, nb.BaseTuple) else given
        size = None
        if not (
            isinstance(at, ir.Constant) and isinstance(at.constant, int) and at.constant >= 0
        ):  # else it counts from the end
            size = builder.extract_value(words, (SHAPE, axis))
            at = builder.select(builder.icmp_signed("<", at, at.type(0)), builder.add(at, size), at)
        if axis:
            size = size or builder.extract_value(words, (SHAPE, axis))
            at = builder.add(builder.mul(place, size), at)
        place = at
    return builder.gep(builder.extract_value(words, DATA), [place])
