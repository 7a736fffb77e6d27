"""cosim: a plugin-based co-simulation framework.

A system is data and a schedule. The kernel knows State, Stage, event causes and Step(); physics,
methods and file formats come from plugins.
"""

from cosim.assembly import Assembly as Assembly
from cosim.cause import EventCause as EventCause
from cosim.component import Component as Component
from cosim.contracts.dynamics_solver import DynamicsSolver as DynamicsSolver
from cosim.contracts.force_element import ForceElement as ForceElement
from cosim.contracts.joint import Joint as Joint
from cosim.contracts.participant import Participant as Participant
from cosim.contracts.participant import ParticipantDescription as ParticipantDescription
from cosim.contracts.participant import ParticipantVariable as ParticipantVariable
from cosim.declarations import auxiliary_state as auxiliary_state
from cosim.declarations import body as body
from cosim.declarations import cache_slot as cache_slot
from cosim.declarations import collect as collect
from cosim.declarations import coordinate as coordinate
from cosim.declarations import discrete as discrete
from cosim.declarations import history as history
from cosim.declarations import input as input  # noqa: A004
from cosim.declarations import option as option
from cosim.declarations import output as output
from cosim.declarations import parameter as parameter
from cosim.declarations import position as position
from cosim.declarations import signal as signal
from cosim.declarations import source as source
from cosim.declarations import speed as speed
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
from cosim.errors import nearest as nearest
from cosim.hookspecs import hookimpl as hookimpl
from cosim.kernel_function import at as at
from cosim.kernel_function import every as every
from cosim.kernel_function import kernel as kernel
from cosim.kernel_function import on as on
from cosim.kernel_function import update as update
from cosim.kernel_function import witness as witness
from cosim.model import Model as Model
from cosim.native import compile_function as compile_function
from cosim.registry import registry as registry
from cosim.schedule import Block as Block
from cosim.schedule import Slot as Slot
from cosim.stage import Stage as Stage
from cosim.state import State as State
from cosim.system import System as System
from cosim.units import conversion as conversion
from cosim.units import parse_quantity as parse_quantity
from cosim.units import parse_unit as parse_unit
from cosim.variable import Variable as Variable
from cosim.version import __version__ as __version__
from cosim.walker import WALK_SIGNATURE as WALK_SIGNATURE
from cosim.walker import repeat_walk as repeat_walk
from cosim.walker import walk as walk
