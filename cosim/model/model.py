"""Model: parts and connections, as people write them down."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, TypeVar, overload

from cosim.argument_checks import check_mapping
from cosim.attributes import ClosedAttributes
from cosim.component.component import Component
from cosim.component.values import own_value
from cosim.contracts.solver import Solver
from cosim.errors import LookUpError, ModelError, Problem
from cosim.html_table import html_table
from cosim.model.content import content
from cosim.model.model_checks import check_model, check_model_name, check_starts
from cosim.model.model_data import model_data
from cosim.model.new_part import (
    check_constructed,
    check_is_free,
    check_part_name,
    component_class_of,
    fault_of_part,
    with_whole_paths,
)
from cosim.model.read_model import read_model
from cosim.model.typed_names import complete_in_ipython
from cosim.options import check_options, option_names, options_checked
from cosim.registration.kinds import declared_kinds, kinds_of
from cosim.registration.registry import registry
from cosim.system.connection import Connection
from cosim.value_text import quote
from cosim_compiler.collection import without_collection

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from cosim.contracts.ensemble_result import EnsembleResult
    from cosim.contracts.exporter import Exporter
    from cosim.contracts.verification import Verification
    from cosim.simulation.gradient import Gradient
    from cosim.simulation.objectives import Objective
    from cosim.simulation.result import Result
    from cosim.system.system import System

log = logging.getLogger("cosim.model")

P = ParamSpec("P")
Part = TypeVar("Part", bound=Component)

ABOUT = ("description", "author", "version", "copyright", "license")
OF_A_RUN = ("until", "integrator", "accuracy", "output_interval", "signals", "fixed_step", "maximum_step")


class Parts(dict[str, Component]):
    """Parts by name; a name that no part has is a `LookUpError` with the nearest."""

    def __missing__(self, name: str) -> Component:
        raise LookUpError("part", name if isinstance(name, str) else quote(name), self)


class Model(ClosedAttributes):
    """Parts, connections and start values; `build` makes a system of them.

    Parameters
    ----------
    name : str
    **settings
        For the assembly: a solver that parts ask for, such as ``dynamics="dynamics.sval"``.
        For readers (`ABOUT`): ``description``, ``author``, ``version``, ``copyright``, ``license``.

    Attributes
    ----------
    folder : Path, optional
        Where relative paths of data files begin: that of the file the model was read from; else they begin in
        the working directory.

    Examples
    --------
    >>> import cosim
    >>> class Ramp(cosim.Component):
    ...     '''Grows at a constant rate.'''
    ...     level = cosim.auxiliary_state()
    ...     rate = cosim.parameter(unit="1/s", default=2.0)
    ...     @cosim.kernel
    ...     def derivatives(rate, level_dot):
    ...         level_dot[0] = rate
    >>> model = cosim.Model("ramp")
    >>> ramp = model.add(Ramp, "ramp", rate=3.0)
    >>> state = model.build().default_state().realize(cosim.Stage.ACCELERATION)
    >>> state["ramp.level_dot"]
    3.0
    """

    attribute_hints: ClassVar[Mapping[str, str]] = {
        **{n: f"give it to simulate({n}=…), or write model.simulation['{n}'] = …" for n in OF_A_RUN},
        **{n: f"it is a setting: write model.settings['{n}'] = …" for n in (*ABOUT, "dynamics")},
    }
    reading_hints: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("run", "solve", "start"), "call simulate(until=…)"),
        **dict.fromkeys(
            ("body", "joint", "constraint"), "make a Multibody: `from cosim_mechanics import Multibody`"
        ),
        **dict.fromkeys(("components", "elements"), "write model.parts"),
        **dict.fromkeys(("add_part", "add_component"), "call add(kind, name, …)"),
    }

    def __repr__(self) -> str:
        parts, wires = len(self.parts), len(self.connections)
        return f"<{type(self).__name__} '{self.name}': {parts} parts, {wires} connections>"

    def __getitem__(self, name: str) -> Component:
        """A part by its name."""
        return self.parts[name]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.parts)

    def _hint_where_missing(self, name: str) -> str:
        return (
            f"it is a part: write model['{name}']"
            if name in self.parts
            else super()._hint_where_missing(name)
        )

    def _repr_html_(self) -> str:
        rows = []
        for name, part in self.parts.items():
            values = ", ".join(f"{key} = {_plain_text(value)}" for key, value in part.values.given.items())
            rows.append((name, type(part).__name__, values))
        return html_table(repr(self), [("part", "kind", "values"), *rows])

    ABOUT: ClassVar[tuple[str, ...]] = ABOUT

    def __init__(self, name: str, **settings: Any) -> None:
        self.name = name
        check_model_name(self)
        self.settings = settings
        self.parts: dict[str, Component] = Parts()
        self.connections: list[Connection] = []
        self.starts: dict[str, Any] = {}
        self.simulation: dict[str, Any] = {}
        self.folder: Path | None = None
        self._built: tuple[bytes, dict[int, Any], System] | None = None
        complete_in_ipython(Model)

    @overload
    def add(self, kind: str, name: str, **values: Any) -> Any: ...
    @overload
    def add(self, kind: Callable[P, Part], name: str, *no: P.args, **values: P.kwargs) -> Part: ...
    @overload
    def add(self, kind: Part, name: str) -> Part: ...
    @options_checked  # type: ignore[misc]  # P.args: nothing is given without its name
    def add(self, kind: str | Callable[..., Any] | Component, name: str, **values: Any) -> Any:
        """Add a part.

        Parameters
        ----------
        kind : str, class or instance
            ``"mechanics.linear_bushing"``, a `Component` subclass, or a component made already.
        name : str
            Letters, digits and underscores.
        **values
            As for the constructor of the component.

        Returns
        -------
        Component

        Raises
        ------
        ModelError
            Listing every fault, each with the path of the value.
        LookUpError
            No such kind.
        """
        check_part_name(name, kind, self.parts)
        if not isinstance(kind, str) and isinstance(kind, Component):
            check_is_free(kind, name, values)
            part = kind
        else:
            component_class = component_class_of(kind)
            if self.folder is not None:
                values = with_whole_paths(component_class, values, self.folder)
            try:
                part = component_class(**values)
            except ModelError as error:
                raise fault_of_part(name, error) from None
        check_constructed(part, name)
        part.__dict__["name"] = name
        self.parts[name] = part
        return part

    @overload
    def measure(self, kind: str, name: str, **values: Any) -> Any: ...
    @overload
    def measure(self, kind: Callable[P, Part], name: str, *no: P.args, **values: P.kwargs) -> Part: ...
    @options_checked  # type: ignore[misc]  # as for `add`
    def measure(self, kind: str | Callable[..., Any], name: str, **values: Any) -> Any:
        """Add a measure: the same as `add`."""
        return self.add(kind, name, **values)

    @options_checked
    def connect(
        self, source: str | Component, target: str = "", factor: float | str = 1.0, offset: float | str = 0.0
    ) -> None:
        """Connect a signal to an input: ``model.connect("felt", "controller.speed")``.

        The input gets ``factor * signal + offset``. Physical units are checked, and converted where they
        measure the same, when the system is built.

        Parameters
        ----------
        source : str or Component
        target : str
        factor : float or str
            A number, or text with a unit: ``"40 N/m"`` makes a force of a length.
        offset : float or str
            In the unit of ``factor * signal``, or text with a unit.
        """
        path = source.name if isinstance(source, Component) else source
        for end in (path, target):
            if not isinstance(end, str):
                raise ModelError.of("connect", f"an end is {quote(end)}, needs a path such as 'part.input'")
        if not target:
            first, _, second = (end.strip() for end in path.replace("→", "->").partition("->"))
            example = f'connect("{first}", "{second or "part.input"}")'
            raise ModelError.of(path, f"a connection has two ends: write {example}")
        connection = Connection(path, target, factor, offset)
        if connection.fault:
            raise ModelError.of(f"{path} → {target}", connection.fault)
        self.connections.append(connection)

    @options_checked
    def set_start(self, path: str, value: Any) -> None:
        """Value that a parameter, state or input has in the default State of the system."""
        if not isinstance(path, str):
            raise ModelError.of(
                "set_start", f"is for {quote(path)}, needs the path of a variable: 'part.name'"
            )
        self.starts[path] = own_value(value)

    def build(self) -> System:
        """Assemble a system.

        Raises
        ------
        ModelError
            All faults of the wiring together.
        """
        from cosim.system.assembly import Assembly
        from cosim.system.system import System

        check_model(self)
        base = self.solver_base
        solver = None if base is None else registry().get(kinds_of(base)[0], self.solver_id)()
        with without_collection():
            system = System(Assembly(self.parts, self.connections, solver), self)
        check_starts(self, system)
        log.info("built %s: %d parts, %d blocks", self.name, len(self.parts), len(system.blocks))
        return system

    def _system(self) -> System:
        """The system that was built last, where nothing has changed since."""
        if self._built is None or self._built[0] != self._content()[0]:
            system = self.build()  # which finds sizes and units of the parts
            self._built = *self._content(), system
        return self._built[2]

    def _content(self) -> tuple[bytes, dict[int, Any]]:
        """A digest of all that a system follows from, and what in it is compared by identity."""
        parts = self.parts.values()
        of_parts = [list(self.parts), list(parts), list(map(vars, parts))]
        with without_collection():
            return content([self.name, self.settings, self.connections, self.starts, *of_parts])

    @property
    def solver_base(self) -> type[Solver] | None:
        """The kind of solver that parts ask for (`Component.solved_by`); None where no part does.

        Raises
        ------
        ModelError
            Parts ask for different ones.
        """
        bases = {part.solved_by: name for name, part in self.parts.items() if part.solved_by is not None}
        if len(bases) > 1:
            listed = " and ".join(f"{name} a {kinds_of(base)[0]}" for base, name in bases.items())
            raise ModelError.of("", f"{listed} is needed, and a model has one solver: split it in two models")
        return next(iter(bases), None)

    @property
    def solver_id(self) -> str:
        """The id of the solver: the setting, or the default; empty if no part asks for a solver."""
        base = self.solver_base
        if base is None:
            return ""
        return registry().entry(kinds_of(base)[0], str(self.settings.get(base.setting, base.default))).id

    @classmethod
    def setting_names(cls) -> list[str]:
        """The settings of a model of this class: its own, and the solvers of all plugins."""
        for plugin in registry().plugins:  # a kind of solver may be one that no model has used yet
            for entry in plugin.entries:
                if not declared_kinds().keys() >= set(entry.kinds):
                    _ = entry.cls
        solvers = [kind.setting for kind in declared_kinds().values() if issubclass(kind, Solver)]
        return [*cls.ABOUT, *solvers, *option_names(cls)]

    def simulate(
        self,
        until: float | str | None = None,
        integrator: str | None = None,
        accuracy: float | None = None,
        output_interval: float | str | None = None,
        signals: Sequence[str] | None = None,
        progress: Callable[[float], bool | None] | None = None,
        **options: Any,
    ) -> Result:
        """Build, run and record; see `cosim.simulate`. Missing arguments come from the model's file.

        A model that has not changed is not built again.

        Raises
        ------
        ModelError
            All faults of the model and of these settings, before anything is compiled.
        OptionError
            An option that neither `cosim.simulate`, nor `Simulator`, nor the integrator has.
        """
        from cosim.simulation.simulate import simulate

        arguments = {
            "until": until,
            "integrator": integrator,
            "accuracy": accuracy,
            "output_interval": output_interval,
            "signals": signals,
        }
        settings = {**self.simulation, **{k: v for k, v in arguments.items() if v is not None}, **options}
        result = simulate(self.prepare(**settings, progress=progress), progress=progress, **settings)
        result._model = self
        return result

    def gradient(self, objective: str | Objective, by: str | Sequence[str], **settings: Any) -> Gradient:
        """Run the model, and how a number that follows from the run changes with parameters and start values.

        Parameters
        ----------
        objective : str or callable
            As for `Result.gradient`.
        by : str or sequence of str
            Paths of parameters, start values and inputs, arrays as a whole.
        **settings
            As for `simulate`.

        Returns
        -------
        Gradient
        """
        return self.simulate(gradient=[by] if isinstance(by, str) else list(by), **settings).gradient(
            objective
        )

    def prepare(self, **settings: Any) -> System:
        """The system, as `build` makes it, after checking what a run with these settings needs.

        Raises
        ------
        ModelError
            All faults of the model and of the settings together.
        OptionError
            A setting that a run does not have.
        """
        from cosim.simulation.simulate import faults_of_settings

        problems = [
            Problem(self._place_of_setting(problem.where), problem.text)
            for problem in faults_of_settings(settings)
        ]
        try:
            system = self._system()
        except ModelError as error:
            if not problems:
                raise
            error.problems += problems
            raise type(error)(error.problems) from None
        if problems:
            raise ModelError(problems)
        return system

    def _place_of_setting(self, name: str) -> str:
        """The place where a setting of a run is written, for messages."""
        return name

    def verify(self, **settings: Any) -> Verification:
        """Repeat the run with a tenth of the tolerance, another method and another solver, and compare.

        Parameters
        ----------
        **settings
            As for `simulate`.
        """
        from cosim.contracts.verification import verify

        return verify(self, **{**self.simulation, **settings})

    def export_fmu(
        self, path: str | Path, *, native: bool | None = None, exporter: str | None = None, **options: Any
    ) -> Any:
        """Write the model as an FMU through a registered exporter.

        Parameters
        ----------
        path : path
        native : bool, optional
            True: machine code that needs no Python, or an error that says what cannot be compiled. False: an
            FMU that runs in a Python interpreter. Unless given, machine code where all of the model can be
            compiled and a C compiler is here, else Python; a warning of the log ``cosim.model`` says why.
        exporter : str, optional
            Id of another exporter.
        **options
            For the exporter: ``inputs``, ``outputs``, ``expose`` …

        Raises
        ------
        OptionError
            Neither the exporter nor the integrator has such an option.
        """
        from cosim.simulation.chosen_integrator import DEFAULT, integrator_options

        chosen = self.exporter(native, exporter)
        integrator = options.get("integrator") or self.simulation.get("integrator", DEFAULT)
        accepted = [*chosen.option_names(), "native", "exporter", *integrator_options(integrator)]
        check_options("export_fmu()", options, accepted)
        report = chosen.export(self, Path(path), **options)
        if report.fallback:
            log.warning("%s: %s", report.path, report.summary)
        return report.path

    @staticmethod
    def exporter(native: bool | None = None, exporter: str | None = None) -> Exporter:
        """The exporter that `export_fmu` takes."""
        chosen = "fmu.fitting" if native is None else "fmu.native" if native else "fmu.pythonfmu"
        instance: Exporter = registry().get("exporter", exporter or chosen)()
        return instance

    def simulate_many(
        self,
        values: Mapping[str, Any],
        until: float | str | None = None,
        *,
        progress: Callable[[int, int], bool | None] | None = None,
        executor: Executor | None = None,
        parts: str | PathLike[str] | None = None,
        **settings: Any,
    ) -> EnsembleResult:
        """Many runs that differ in parameters, start values or inputs, on all processors.

        Parameters
        ----------
        values : mapping of str to sequence
            A value for each run: ``{"controller.gain": [1.0, 2.0, 4.0]}``.
        until : float or str, optional
            End of each run, s, or text with a unit; that of the model's file unless given, as all settings.
        progress, executor, parts
            As for `Ensemble.run`.
        **settings
            As for `Ensemble`: ``reduce=["max(engine.z)"]``, ``signals``, ``accuracy`` …

        Returns
        -------
        EnsembleResult
        """
        from cosim.contracts.ensemble import Ensemble

        check_mapping(values, "values", "{'mount.stiffness': [1e5, 2e5]}")
        run_settings = {**self.simulation, **settings}
        if until is not None:
            run_settings["until"] = until
        return Ensemble(self._system(), **run_settings).run(values, None, progress, executor, parts=parts)

    def __reduce__(self) -> Any:
        """The result of `to_dict`, with the classes of the parts in place of their ids."""
        return Model.from_dict, (model_data(self, lambda part: part.made_by or type(part)),)

    def to_dict(self) -> dict[str, Any]:
        """The model as data that JSON can hold; `from_dict` makes the same model of it."""
        return model_data(self, lambda part: registry().owner(type(part)).id)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Model:
        """A model from `to_dict`'s data."""
        model = Model(data["name"], **data.get("settings", {}))
        for part in data.get("parts", []):
            model.add(part["type"], part["name"], **part["values"])
        for connection in data.get("connections", []):
            model.connect(*connection)
        model.starts = dict(data.get("starts", {}))
        model.simulation = dict(data.get("simulation", {}))
        return model

    @classmethod
    def from_file(cls, path: str | PathLike[str]) -> Model:
        """A model that is written in a file; a plugin reads it, found by the ending of the name.

        Parameters
        ----------
        path : path_like
            Such as ``engine_mount.toml``.

        Raises
        ------
        ModelError
            All faults of the file together, each with its line; also when it cannot be read.
        CosimError
            No installed plugin reads such files, or several do.
        """
        model: Model = read_model(Path(path))
        return model


def _plain_text(value: Any) -> str:
    return value.name if isinstance(value, Component) else str(value)
