"""Component: what everything in a model is."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Mapping
from dataclasses import replace
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, ClassVar

from cosim.attributes import AbstractClosedAttributes, MadeAbstract, is_made
from cosim.component.argument import Argument
from cosim.component.argument_names import (
    STATES,
    clashing_names,
    known_names,
    may_hold_result,
    switch_argument,
)
from cosim.component.arguments import resolve
from cosim.component.class_checks import check_names, check_signals, check_writers
from cosim.component.declaration import Declaration
from cosim.component.documented import documented
from cosim.component.hidden_memory import hidden_memories
from cosim.component.kernel_function import HandlerFunction, KernelFunction
from cosim.component.kink_functions import kinks_of
from cosim.component.part_text import shown_values
from cosim.component.set_attribute import MADE_WITH, set_attribute
from cosim.component.uncalled_functions import uncalled_functions
from cosim.component.unit_rules import check_rule_names, settle_unit_rules
from cosim.component.values import GIVEN, Values, check_default, own_value, read_values
from cosim.component.view_functions import written_out
from cosim.errors import ContractError
from cosim.registration.kinds import plugin_kind
from cosim.registration.listing_process import is_listing
from cosim_compiler.names_at_rest import names_at_rest
from cosim_compiler.sources.kernel_source import where

DECLARING = tuple(f"cosim.component.declared_{kind}" for kind in ("constants", "variables", "signals"))
RESERVED = {"t", "name", "values", "side", "state"}


class DocumentedByDeclarations(MadeAbstract):
    """Metaclass whose classes show in their docstrings what they declare."""

    @property
    def __doc__(cls) -> str | None:
        return documented(cls) if "declarations" in vars(cls) else vars(cls).get("__doc__")

    @__doc__.setter
    def __doc__(cls, text: str | None) -> None:
        type.__dict__["__doc__"].__set__(cls, text)
        documented.cache_clear()


@plugin_kind("component")
class Component(AbstractClosedAttributes, metaclass=DocumentedByDeclarations):
    """Base of every part of a model.

    A subclass declares, at class level, its parameters, states, ports, attachments and cache slots,
    and its kernel functions, whose argument names say what they read and write. From these
    declarations follow the layout of the State, the schedule, the model-file schema, the FMI
    variables and the check of units.

    Parameters
    ----------
    **values
        Parameters, options, attachments (a component or its name) and start values of states and
        inputs, by name. Text with a unit is converted: ``stiffness="120 N/mm"``.

    Attributes
    ----------
    switch : str
        Of a subclass: name of a parameter that turns its kernel functions off where it is 0. What they
        would write is 0 then, and they add nothing.
    elementwise : bool
        Of a subclass that is written for numbers: where its sources are vectors, what it declares as a
        number has as many elements, and its functions run for one element after the other. Sources
        that are numbers, and parameters, are shared by all elements.
    signals : dict of str to tuple
        Of a subclass, names for elements: declared quantity, index, unit, and what it is in words, in which
        ``{part}`` stands for the name of the part: ``"z": ("X_GB", 11, "m", "height of {part}")``.
    conditions : dict of str to callable
        Of a subclass: what else kernel functions can be switched by (``when=``), from an instance to
        a bool. It holds for the topology, like an option.
    takes_more : bool
        Of a subclass: whether it takes values besides those declared, which follow from a file.
    made_by : type
        Of a subclass that another component makes for the values it is given: that one.
    announces_kinks : bool
        Of a subclass: whether its kinks are events, or times in ``smooth_until``; those of the first element,
        where it takes vectors. Steps of integrators are not made to end there once more.
    not_exported : str
        Of a subclass: why a model that has one cannot be exported.
    not_saved : str
        Of a subclass: why no State of a model that has one goes on in another process.
    goes_back : bool
        Of a subclass: whether a State from before an event can be put back in the same process.
    contract_kit : str
        Of the base class of a kind: the kit that checks what is of this kind, ``module:Class``.
    tried_with : dict of str to object
        Of a subclass: parameters with which ``cosim check`` tries it, where its defaults do nothing.
    open_units : tuple of str
        Of a subclass: names that take the unit of what they are connected to where their declarations
        have none, as inputs and outputs do.

    Raises
    ------
    ModelError
        Listing every value that does not fit its declaration.
    ContractError
        When a subclass is made that breaks a rule.

    Examples
    --------
    >>> import cosim
    >>> class Spring(cosim.Component):
    ...     '''A mass on a spring.'''
    ...     stiffness = cosim.parameter(unit="N/m", minimum=0.0)
    >>> Spring(stiffness="2 N/mm").stiffness
    2000.0
    """

    declarations: ClassVar[dict[str, Declaration]] = {}
    kernels: ClassVar[dict[str, KernelFunction]] = {}
    handlers: ClassVar[dict[str, HandlerFunction]] = {}
    kink_functions: ClassVar[dict[str, KernelFunction]] = {}
    arguments: ClassVar[dict[str, list[Argument]]] = {}
    signals: ClassVar[dict[str, tuple[str, int, str] | tuple[str, int, str, str]]] = {}
    plain_methods: ClassVar[tuple[str, ...]] = ("derivatives",)
    switch: ClassVar[str] = ""
    elementwise: ClassVar[bool] = False
    announces_kinks: ClassVar[bool] = False
    conditions: ClassVar[dict[str, Callable[[Any], bool]]] = {}
    tried_with: ClassVar[Mapping[str, Any]] = {}
    open_units: ClassVar[tuple[str, ...]] = ()
    takes_more: ClassVar[bool] = False
    made_by: ClassVar[type[Component] | None] = None
    not_exported: ClassVar[str] = ""
    not_saved: ClassVar[str] = ""
    goes_back: ClassVar[bool] = True
    contract_kit: ClassVar[str] = "cosim.testing.component_contract:ComponentContract"
    solved_by: ClassVar[type[Any] | None] = None  # the kind of solver (`cosim.kit.Solver`) that it needs

    call_signature: ClassVar[Signature]

    name: str
    values: Values

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._collect()
        if is_listing():
            return
        with names_at_rest():
            cls._read_functions()
        check_rule_names(cls.declarations, known_names(cls.declarations), cls.__name__)
        check_writers(cls)
        check_names(cls)
        if "__init__" not in vars(cls):
            cls.call_signature = _signature(cls.declarations)
        cls.check_law()

    @classmethod
    def _read_functions(cls) -> None:
        """Find what the functions of the class mean; `ContractError` with all that is wrong."""
        faults = uncalled_functions(cls) or [*hidden_memories(cls), *cls._resolve()]
        if faults:
            raise ContractError("\n".join(faults))
        cls.kink_functions = kinks_of(cls.kernels, cls.arguments, cls.declarations)
        for name, kink in cls.kink_functions.items():
            tables = frozenset(a.name for a in cls.arguments[kink.kink_of] if a.is_table)
            cls.arguments[name] = resolve(kink, cls.declarations, cls.__name__, tables=tables)

    def __init__(self, **values: Any) -> None:
        if lacking := _missing_law(type(self)):
            raise ContractError(lacking)
        held = self.__dict__  # neither name is one of a value that is given
        declared, read = self.declarations, read_values(self.declarations, values)
        held["name"], held["values"] = "", read
        if read.declarations is not declared:
            self.declarations = dict(read.declarations)  # type: ignore[misc]
        held.update(read.public())

    def _store_arguments(self, positional: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        """Store the arguments of a class with a constructor of its own: `set_attribute` calls it again."""
        if type(self).__init__ is not Component.__init__:
            self.__dict__[MADE_WITH] = (own_value(positional), own_value(dict(named)))

    if not TYPE_CHECKING:  # type checkers know which attributes there are

        def __setattr__(self, name: str, value: Any) -> None:
            if not is_made(self) and self._holds_value(name):  # by a constructor of its own
                self._replace_value(name, value)
            elif name.startswith("_") or not is_made(self):
                object.__setattr__(self, name, value)
            else:
                set_attribute(self, name, value)

    def _holds_value(self, name: str) -> bool:
        """Whether it is the name of a value that the part was given already."""
        values = vars(self).get("values")
        return values is not None and any(
            name in held for held in (values.numbers, values.options, values.attachments)
        )

    def _replace_value(self, name: str, value: Any) -> None:
        """Take a value in place of the one that was given."""
        self.values = read_values(type(self).declarations, {**self.values.given, name: value})
        for attribute, read in self.values.public().items():
            object.__setattr__(self, attribute, read)

    def _hint_where_missing(self, name: str) -> str:
        if name in self.declarations or name in self.signals:
            path = f"{vars(self).get('name') or 'part'}.{name}"
            return f"it is computed: read it from a result, result['{path}'], or a State, state['{path}']"
        return super()._hint_where_missing(name)

    def explain_failure(self) -> Exception | None:
        """An external cause (in an FMU, in a library) of a failed evaluation of this part.

        Asked of a part whose kernel function has raised an exception, and of all parts where a derivative
        is not a number.

        Returns
        -------
        Exception or None
            Its text stands in the error of the run, and it is the cause of that; None: nothing is known.
        """
        return None

    def __repr__(self) -> str:
        values = shown_values(self) if "values" in vars(self) else ""
        return f"{self._brief()[:-1]}: {values}>" if values else self._brief()

    def _brief(self) -> str:
        """The class and the name of the component, for messages."""
        name = vars(self).get("name", "")
        return f"<{type(self).__name__} {name!r}>" if name else f"<{type(self).__name__}>"

    @classmethod
    def _check_class_attribute(cls, name: str, value: Any) -> None:
        """Refuse laws and declarations that come when the class is made already: nothing would read them."""
        if name == "__dataclass_params__":
            raise ContractError(
                f"{cls.__name__}: @dataclass would replace the constructor: remove it. The constructor "
                "takes the declared variables, such as stiffness = cosim.parameter(…)"
            )
        is_law = isinstance(value, (Declaration, KernelFunction, HandlerFunction))
        is_declared = isinstance(vars(cls).get(name), Declaration)
        if (is_law or is_declared) and "declarations" in vars(cls):
            raise ContractError(
                f"{cls.__name__}.{name}: the class is already defined, so this has no effect: write it "
                "in the body of the class, or in a derived class"
            )

    @classmethod
    def check_law(cls) -> None:
        """Refuse a class whose functions are no law of its kind: `ContractError` with what is wrong."""

    @classmethod
    def missing_law(cls) -> str:
        """A sentence where the class lacks what its kind is for: no part can be made of it. Else empty."""
        return ""

    @classmethod
    def may_write(cls, argument: Argument) -> bool:
        """Whether a function of the class that asks for this may write or add to it."""
        return may_hold_result(argument, cls.declarations)

    @classmethod
    def _resolve(cls) -> list[str]:
        """Find what the arguments of each function mean; the faults of all functions together."""
        if clashes := clashing_names(cls.declarations, cls.__name__):
            return clashes
        with_view = cls._write_out_views()
        cls.arguments, faults = {}, [line for text in with_view.values() for line in text.splitlines()]
        handlers = {n: h.function for n, h in cls.handlers.items() if not h.function.is_python}
        for name, kernel in {**cls.kernels, **handlers}.items():
            if name in with_view:
                continue
            try:
                cls.arguments[name] = resolve(kernel, cls.declarations, cls.__name__, not cls.not_saved)
            except ContractError as error:
                faults += str(error).splitlines()
                continue
            if name in handlers:
                faults += cls._forbidden_results(kernel, name, cls.handlers[name].does)
            if cls.switch and kernel.role == "kernel":
                cls.arguments[name].append(switch_argument(cls.switch))
        return list(dict.fromkeys(faults))

    @classmethod
    def _forbidden_results(cls, kernel: KernelFunction, name: str, does: str) -> list[str]:
        """A sentence for each result that a handler writes and that what it does does not allow."""
        written = [a for a in cls.arguments[name] if a.effect == "write"]
        if does == "publish":
            text = 'is written: declare it with does="discrete" or "unrestricted"'
            what = "a publish changes nothing, and"
        elif does == "discrete":
            written = [a for a in written if cls.declarations[a.of].kind in STATES]
            text = 'is the next value of a state: declare it with does="unrestricted"'
            what = "a discrete handler changes discrete variables alone, and"
        else:
            return []
        return [f"{where(kernel.function)}: {what} {kernel.written_name(a.name)} {text}" for a in written]

    @classmethod
    def _write_out_views(cls) -> dict[str, str]:
        """Replace each view argument by the names that its function uses; the faults, by function."""
        faults: dict[str, str] = {}
        argument_names = known_names(cls.declarations)
        kernels, became = written_out(cls.kernels, argument_names, faults)
        cls.handlers, _ = written_out(cls.handlers, argument_names, faults)
        of = {n: became.get(id(k.rate_of)) for n, k in kernels.items()}  # the witnesses of rates
        changed = {n: witness for n, witness in of.items() if witness is not kernels[n].rate_of and witness}
        cls.kernels = kernels | {n: replace(kernels[n], rate_of=w) for n, w in changed.items()}
        return faults

    @classmethod
    def _collect(cls) -> None:
        """The declarations of the class and its bases; later ones replace earlier ones."""
        for name, value in vars(cls).items():
            cls._check_attribute(name, value)
        cls.declarations, cls.kernels, cls.handlers = {}, {}, {}
        names: dict[int, str] = {}  # of declarations: a handler may refer to one of them
        for base in reversed(cls.__mro__):
            for name, value in vars(base).items():
                if isinstance(value, Declaration):
                    cls.declarations[name] = value.named(name)
                    names[id(value)] = name
                elif isinstance(value, KernelFunction):
                    value.name = name
                    cls.kernels[name] = value
                elif isinstance(value, HandlerFunction):
                    value.name = value.function.name = name
                    cls.handlers[name] = value
                    if isinstance(value.signal, Declaration):
                        value.signal = names.get(id(value.signal), value.signal)
                    if isinstance(value.timer, Declaration):
                        value.timer = names.get(id(value.timer), value.timer)
                elif name in cls.plain_methods and isinstance(value, types.FunctionType):
                    cls.kernels[name] = KernelFunction(value, name=name)
                elif value is None and name in cls.declarations:
                    del cls.declarations[name]  # `name = None` takes back what a base declares
                else:
                    cls.kernels.pop(name, None)
                    cls.handlers.pop(name, None)
        settle_unit_rules(cls.declarations, cls.open_units, getattr(cls, "unit_from", ""))
        check_signals(cls)

    @classmethod
    def _check_attribute(cls, name: str, value: Any) -> None:
        """`ContractError` for what the body of the class may not say under a name."""
        if getattr(value, "__module__", "") in DECLARING and isinstance(value, types.FunctionType):
            call = f"cosim.{value.__name__}"
            raise ContractError(f"{cls.__name__}: {name} = {call} declares nothing: write {call}(…)")
        is_reserved = isinstance(value, Declaration) and name in RESERVED
        is_declared = isinstance(value, (Declaration, KernelFunction, HandlerFunction))
        if is_reserved or (is_declared and name in vars(Component)):
            hint = f"; every component has {', '.join(sorted(RESERVED))}" if is_reserved else ""
            raise ContractError(f"{cls.__name__}: the name '{name}' is taken; choose another{hint}")
        if isinstance(value, Declaration) and value.kind == "parameter":
            check_default(value)


@functools.cache
def _missing_law(cls: type[Component]) -> str:
    return cls.missing_law()


def _signature(declarations: dict[str, Declaration]) -> Signature:
    """The parameters of a call of the class, for ``help()`` and completion."""
    accepted = [d for d in declarations.values() if d.kind in GIVEN]
    parameters = []
    for declaration in accepted:
        is_needed = declaration.kind == "parameter" and declaration.start is None
        default = Parameter.empty if is_needed else declaration.start
        parameters.append(Parameter(declaration.name, Parameter.KEYWORD_ONLY, default=default))
    return Signature(parameters)
