"""Abilities of participants beside the contract, each one a protocol.

A participant has an ability when it has the members of its protocol; it need not derive from it. A master
asks with ``isinstance``.
"""

from __future__ import annotations

from cosim_master.abilities import LOG_LEVELS as LOG_LEVELS
from cosim_master.abilities import CanAbort as CanAbort
from cosim_master.abilities import ExportsFmu as ExportsFmu
from cosim_master.abilities import HasFile as HasFile
from cosim_master.abilities import InitializationMode as InitializationMode
from cosim_master.abilities import InnerPoint as InnerPoint
from cosim_master.abilities import IntegratesInside as IntegratesInside
from cosim_master.abilities import LogsPrinted as LogsPrinted
from cosim_master.abilities import RecordsEvents as RecordsEvents
from cosim_master.abilities import ReportsCloseError as ReportsCloseError
from cosim_master.abilities import ReportsWarnings as ReportsWarnings
from cosim_master.abilities import Resizes as Resizes
from cosim_master.abilities import ReusesInstance as ReusesInstance
from cosim_master.abilities import TellsInside as TellsInside
from cosim_master.abilities import Ticks as Ticks
from cosim_master.abilities import WaitsForInputs as WaitsForInputs
from cosim_master.abilities import Watches as Watches
from cosim_master.abilities import WritesLog as WritesLog
from cosim_master.native_calls import NativeCalls as NativeCalls
from cosim_master.native_calls import StepsNatively as StepsNatively
from cosim_master.native_calls import StepsTypesNatively as StepsTypesNatively
