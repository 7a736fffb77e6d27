"""cosim: a plugin-based co-simulation framework.

A system is data and a schedule. The kernel knows State, Stage, event causes and Step(); physics,
methods and file formats come from plugins.
"""

from cosim.version import __version__ as __version__

# True for type checkers; to import `typing` would take longer than all else here. To editors that evaluate it
# (jedi) `False` would hide all names below.
TYPE_CHECKING = bool(0)
if TYPE_CHECKING:
    from cosim import kit as kit
    from cosim.cause import EventCause as EventCause
    from cosim.component.component import Component as Component
    from cosim.component.declared_constants import option as option
    from cosim.component.declared_constants import parameter as parameter
    from cosim.component.declared_signals import cache_slot as cache_slot
    from cosim.component.declared_signals import collect as collect
    from cosim.component.declared_signals import history as history
    from cosim.component.declared_signals import input as input  # noqa: A004
    from cosim.component.declared_signals import output as output
    from cosim.component.declared_signals import signal as signal
    from cosim.component.declared_signals import source as source
    from cosim.component.declared_variables import auxiliary_state as auxiliary_state
    from cosim.component.declared_variables import discrete as discrete
    from cosim.component.declared_variables import position as position
    from cosim.component.declared_variables import speed as speed
    from cosim.component.declared_variables import timer as timer
    from cosim.component.handler_decorators import at as at
    from cosim.component.handler_decorators import every as every
    from cosim.component.handler_decorators import on as on
    from cosim.component.kernel_decorators import kernel as kernel
    from cosim.component.kernel_decorators import update as update
    from cosim.component.witness_decorator import witness as witness
    from cosim.contracts.command import Command as Command
    from cosim.contracts.ensemble import Ensemble as Ensemble
    from cosim.contracts.exporter import Exporter as Exporter
    from cosim.contracts.integrator import Integrator as Integrator
    from cosim.contracts.master_algorithm import MasterAlgorithm as MasterAlgorithm
    from cosim.contracts.measure import Measure as Measure
    from cosim.contracts.model_reader import ModelReader as ModelReader
    from cosim.contracts.model_table import ModelTable as ModelTable
    from cosim.contracts.participant import Participant as Participant
    from cosim.contracts.result_sink import ResultSink as ResultSink
    from cosim.contracts.verification import verify as verify
    from cosim.errors import ContractError as ContractError
    from cosim.errors import CosimError as CosimError
    from cosim.errors import FmuError as FmuError
    from cosim.errors import LookUpError as LookUpError
    from cosim.errors import ModelError as ModelError
    from cosim.errors import PluginError as PluginError
    from cosim.errors import Problem as Problem
    from cosim.errors import SimulationError as SimulationError
    from cosim.errors import StageError as StageError
    from cosim.errors import StateError as StateError
    from cosim.errors import UnitError as UnitError
    from cosim.model.model import Model as Model
    from cosim.registration.hookspecs import Register as Register
    from cosim.registration.hookspecs import hookimpl as hookimpl
    from cosim.registration.kinds import plugin_kind as plugin_kind
    from cosim.registration.registry import registry as registry
    from cosim.simulation import objectives as objectives
    from cosim.simulation.assembler import assemble as assemble
    from cosim.simulation.checkpoint import Checkpoint as Checkpoint
    from cosim.simulation.checkpoint import read_checkpoint as read_checkpoint
    from cosim.simulation.event_record import EventRecord as EventRecord
    from cosim.simulation.result import Result as Result
    from cosim.simulation.result_files import read_result as read_result
    from cosim.simulation.result_files import save_result as save_result
    from cosim.simulation.simulate import simulate as simulate
    from cosim.simulation.simulator import Simulator as Simulator
    from cosim.simulation.status import EventStatus as EventStatus
    from cosim.simulation.status import Reason as Reason
    from cosim.simulation.status import Severity as Severity
    from cosim.simulation.status import SimulatorStatus as SimulatorStatus
    from cosim.stage import Stage as Stage
    from cosim.system.state import State as State
    from cosim.system.system import System as System
    from cosim.units import parse_quantity as parse_quantity
else:
    from cosim.registration.late_names import late_names

    __getattr__, __dir__ = late_names(__name__)
