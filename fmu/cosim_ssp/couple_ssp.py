"""A co-simulation of an SSP."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import cosim
from cosim.kit import ParticipantDescription
from cosim_fmi.instances import read_fmu
from cosim_master.coupling.connection import Connection
from cosim_master.coupling.coupling import Coupling
from cosim_master.participants.create_participants import open_fmu
from cosim_master.participants.instance_participant import InstanceParticipant
from cosim_master.participants.isolation import DECLARED, Isolation
from cosim_master.participants.model_exchange_participant import ModelExchangeParticipant
from cosim_master.participants.process_participant import ProcessParticipant
from cosim_ssp.network import Network, Place, Route, conversion_along, routes
from cosim_ssp.own_connectors import SystemInputs, derived_signals
from cosim_ssp.package import Package, problem_of
from cosim_ssp.read_structure import read_ssp
from cosim_ssp.start_values import StartValues, elements_of, leg_to
from cosim_ssp.structure import Component, Settings
from cosim_toml.toml_lines import KeyPath

Made = TypeVar("Made", bound=Coupling)
ALGORITHM = "jacobi"
OTHER = re.compile(r"connections\[(\d+)\]")
STEPS = 1000
"""Communication steps of a run when no length is given."""


class SspCoupling:
    """The arguments of `CoSimulation` from an SSP.

    Parameters
    ----------
    package : Package
    variant : str, optional
    isolation : Isolation
        Which FMUs run in separate processes.

    Attributes
    ----------
    system : System
    settings : Settings
    participants : dict of str to Participant
        Elements of nested systems are named ``system/element``; a dot in a name becomes ``_``.
    connections : list of Connection
    starts : dict of str to object
    derived : dict of str to DerivedSignal
        The signals of the system's own connectors.
    given_starts, given_options : dict of str to object
        The user's values besides the SSP.
    inputs : str or None
        The participant that gives values over time.

    Raises
    ------
    ModelError
        All faults, each with its place in the SSP.
    """

    def __init__(self, package: Package, variant: str | None = None, isolation: Isolation = DECLARED) -> None:
        self.package, self._isolation = package, isolation
        self.given_starts: dict[str, Any] = {}
        self.inputs: str | None = None
        self.given_options: dict[str, Any] = {}
        self.system, self.settings = read_ssp(package, variant)
        self.variant = package.choose(variant)
        self.network = Network.of(self.system)
        self._faults = list(self.network.faults)
        self.names = _names(list(self.network.components))
        self.participants: dict[str, cosim.Participant] = {}
        self.places: list[str] = []
        self.connections: list[Connection] = []
        for place, component in self.network.components.items():
            self._open(place, component)
        self._descriptions = self._describe()
        self._connect()
        values = StartValues(self.network, self._descriptions)
        values.apply(self.system)
        self._faults += values.faults
        self.starts = {f"{self.names[place]}.{name}": v for (place, name), v in values.starts.items()}
        self.derived = derived_signals(self.network, self._descriptions, self.names, package.say)
        for finding in (*self.network.findings, *values.findings):
            package.say(finding.where, finding.text)
        self.fail_on_faults()

    def feed(self, series: Any) -> None:
        """Receive values over time for the inputs; raises a `ModelError` as `SystemInputs` does."""
        inputs = SystemInputs(series, self.network, self._descriptions, self.names)
        self.participants[inputs.name] = inputs.participant
        self.connections += inputs.connections
        self.places += [f"inputs.{connection.start.partition('.')[2]}" for connection in inputs.connections]
        self.inputs = inputs.name

    def fail_on_faults(self) -> None:
        """Raise the faults so far."""
        if self._faults:
            raise cosim.ModelError(list(dict.fromkeys(self._faults)))

    def _open(self, place: Place, component: Component) -> None:
        """Open the participant of a component; what hinders it is a fault."""
        name = self.names[place]
        try:
            path = component.package.file(component.file)
        except ValueError as error:
            self._faults.append(cosim.Problem(component.place, str(error)))
            return
        try:
            is_isolated = self._isolation.applies(name, declared=False)
            participant = _participant(path, name, component.implementation, is_isolated)
            if isinstance(participant, InstanceParticipant):
                participant.show_as(f"{component.package.path.name}: {component.file}")
            self.participants[name] = participant
        except (cosim.FmuError, ValueError) as error:
            text = str(error).replace(str(path), component.file)
            self._faults.append(cosim.Problem(component.place, text))

    def _describe(self) -> dict[Place, ParticipantDescription]:
        descriptions = {}
        for place, name in self.names.items():
            if name in self.participants:
                descriptions[place] = self.participants[name].describe()
        return descriptions

    def _connect(self) -> None:
        for point in self.network.hops:
            if point[0] not in self._descriptions:
                continue
            for route in routes(self.network, point):
                if route.end[0] in self._descriptions:
                    try:
                        self._add(route)
                    except ValueError as error:
                        self._faults.append(problem_of(str(error), route.hops[-1].place))

    def _add(self, route: Route) -> None:
        """Add the connections of a route, one for each scalar."""
        source, output = route.hops[0].start
        target, input_name = route.end
        starts = elements_of(self._descriptions[source], output, route.taken)
        ends = elements_of(self._descriptions[target], input_name, route.given)
        if len(starts) != len(ends):
            counts = f"{'.'.join(source)}.{output} gives {len(starts)} values"
            raise ValueError(f"{counts}, {'.'.join(target)}.{input_name} takes {len(ends)} values")
        legs = [leg_to(self.network, self._descriptions, hop.end, hop) for hop in route.hops]
        if not starts:
            return
        first = leg_to(self.network, self._descriptions, route.hops[0].start, route.hops[0])
        kinds = (
            self._descriptions[source].variables[starts[0]].type,
            self._descriptions[target].variables[ends[0]].type,
        )
        conversion = conversion_along(legs, kinds, first.unit, first.items)
        # entries for what the source cannot be are ignored, as the standard has it
        table = tuple((k, v) for k, v in conversion.table.items() if kinds[0] != "boolean" or k in (0, 1))
        for start, end in zip(starts, ends, strict=True):
            paths = f"{self.names[source]}.{start}", f"{self.names[target]}.{end}"
            connection = Connection(
                *paths, conversion.factor, conversion.offset, converts=False, mapping=table, reads_any=True
            )
            self.connections.append(connection)
            self.places.append(route.hops[-1].place)


def couple_ssp(
    make: Callable[..., Made],
    path: str | Path,
    variant: str | None = None,
    starts: Mapping[str, Any] | None = None,
    inputs: Any = None,
    isolation: Isolation = DECLARED,
    **options: Any,
) -> Made:
    """The coupling that `make`, a co-simulation, makes of an SSP, checked; see `CoSimulation.from_ssp`."""
    package = Package(path)
    coupling = SspCoupling(package, variant, isolation)
    if inputs is not None:
        coupling.feed(inputs)
    settings = coupling.settings
    arguments: dict[str, Any] = {
        "algorithm": settings.algorithm or ALGORITHM,
        "options": settings.options,
        "start": settings.start or 0.0,
        "tolerance": settings.tolerance if settings.tolerance and settings.tolerance > 0.0 else None,
        "step": settings.step or _default_step(package, settings, "step" in options),
    }
    if "algorithm" in options:
        arguments["options"] = {}
    arguments.update({name: value for name, value in options.items() if value is not None})
    steps = _own_steps(coupling, arguments["step"]) if "steps" not in arguments else arguments.pop("steps")
    try:
        loop = make(
            coupling.participants,
            coupling.connections,
            starts={**coupling.starts, **(starts or {})},
            steps=steps,
            **arguments,
        )
    except cosim.ModelError as error:
        raise cosim.ModelError([_placed(coupling, fault) for fault in error.problems]) from None
    loop.until = settings.stop if settings.stop is not None else loop.start + 1.0
    if settings.stop is None:
        package.say(str(package.path), f"gives no stop time; the run ends at {loop.until:g} s")
    coupling.given_starts, coupling.given_options = dict(starts or {}), options
    loop.read_from(coupling, package.findings, coupling.derived)
    return loop


def _participant(path: Path, name: str, implementation: str, is_isolated: bool) -> cosim.Participant:
    """The FMU with the requested implementation.

    Raises
    ------
    FmuError
        It cannot be read, or has no such implementation.
    """
    kind = implementation if implementation != "any" else "CoSimulation"
    interface = read_fmu(path, kind)[1]
    if implementation != "any" and implementation not in interface.interfaces:
        offers = " and ".join(interface.interfaces)
        raise cosim.FmuError(str(path), f"offers {offers}, but {implementation} is requested")
    make = ModelExchangeParticipant if implementation == "ModelExchange" else open_fmu
    return ProcessParticipant(make, path, name) if is_isolated else make(path, name)


def _names(places: list[Place]) -> dict[Place, str]:
    """Names of participants: no dots, each once."""
    names: dict[Place, str] = {}
    used: set[str] = set()
    for place in places:
        name = base = "/".join(place).replace(".", "_")
        number = 1
        while name in used:
            number += 1
            name = f"{base}_{number}"
        names[place] = name
        used.add(name)
    return names


def _default_step(package: Package, settings: Settings, is_given: bool) -> float:
    stop = settings.stop if settings.stop is not None else (settings.start or 0.0) + 1.0
    span = stop - (settings.start or 0.0)
    step = span / STEPS if span > 0.0 else 1e-3
    if not is_given:
        text = f"gives no communication step; values are exchanged every {step:g} s: give a step"
        package.say(str(package.path), text)
    return step


def _own_steps(coupling: SspCoupling, step: Any) -> dict[str, float]:
    """Longer steps that are recommended for components, where they are multiples of the common one."""
    size = cosim.parse_quantity(step, "s") if isinstance(step, str) else float(step)
    steps = {}
    for place, component in coupling.network.components.items():
        multiple = component.step / size if size > 0.0 else 0.0
        if multiple > 1.0 + 1e-9:
            if abs(multiple - round(multiple)) <= 1e-9 * multiple:
                steps[coupling.names[place]] = component.step
            else:
                text = f"recommends a step of {component.step:g} s, no multiple of {size:g} s: not used"
                coupling.package.say(component.place, text)
    return steps


def _placed(coupling: SspCoupling, fault: cosim.Problem) -> cosim.Problem:
    """A fault of the coupling with its place in the SSP; other connections that it names, too."""
    key: KeyPath = getattr(fault, "key", ())
    if key[:1] == ("connections",) and len(key) > 1 and isinstance(key[1], int):
        text = OTHER.sub(lambda match: f"in {coupling.places[int(match[1])]}", fault.text)
        return cosim.Problem(coupling.places[key[1]], text)
    if key[:1] == ("participants",) and len(key) > 1:
        place = next((p for p, name in coupling.names.items() if name == key[1]), None)
        if place is not None:
            where = coupling.network.components[place].place
            return cosim.Problem(where, f"{'.'.join(map(str, key[1:]))}: {fault.text}")
    return fault
