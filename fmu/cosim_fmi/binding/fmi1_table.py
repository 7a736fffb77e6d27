"""FMI 1.0: types and functions.

Source: Functional Mock-up Interface for Model Exchange 1.0 and for Co-Simulation 1.0,
``fmiModelFunctions.h``, ``fmiFunctions.h``.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_double, c_int, c_int8, c_size_t, c_uint, c_void_p
from typing import Any

from cosim_fmi.binding.fmi2_table import LOGGER
from cosim_fmi.binding.function_table import FunctionTable, accesses, plain, vectors

C_TYPES: dict[str, Any] = {
    "Real": c_double,
    "Integer": c_int,
    "Enumeration": c_int,
    "Boolean": c_int8,
    "String": c_char_p,
}


class Callbacks(ctypes.Structure):
    """fmiCallbackFunctions; of Model Exchange the first three only."""

    _fields_ = (
        ("logger", LOGGER),
        ("allocate", c_void_p),
        ("free", c_void_p),
        ("step_finished", c_void_p),
    )


class ModelCallbacks(ctypes.Structure):
    """fmiCallbackFunctions of Model Exchange."""

    _fields_ = Callbacks._fields_[:3]


class EventInfo(ctypes.Structure):
    """fmiEventInfo."""

    _fields_ = (
        ("converged", c_int8),
        ("references_changed", c_int8),
        ("values_changed", c_int8),
        ("terminate", c_int8),
        ("defined", c_int8),
        ("next", c_double),
    )


REFERENCES, REALS, WHO = POINTER(c_uint), POINTER(c_double), c_void_p
INFO = POINTER(EventInfo)
TABLE = FunctionTable(
    version="1.0",
    prefix="fmi",
    with_identifier=True,
    signatures={
        "GetVersion": (c_char_p, ()),
        "GetTypesPlatform": (c_char_p, ()),
        "GetModelTypesPlatform": (c_char_p, ()),
        "SetDebugLogging": (c_int, (WHO, c_int8)),
        **accesses(C_TYPES),
        # Co-Simulation
        "InstantiateSlave": (
            WHO,
            (c_char_p, c_char_p, c_char_p, c_char_p, c_double, c_int8, c_int8, Callbacks, c_int8),
        ),
        "InitializeSlave": (c_int, (WHO, c_double, c_int8, c_double)),
        **plain("TerminateSlave", "ResetSlave", "Terminate"),
        "FreeSlaveInstance": (None, (WHO,)),
        "SetRealInputDerivatives": (c_int, (WHO, REFERENCES, c_size_t, POINTER(c_int), REALS)),
        "DoStep": (c_int, (WHO, c_double, c_double, c_int8)),
        "GetRealStatus": (c_int, (WHO, c_int, REALS)),
        # Model Exchange
        "InstantiateModel": (WHO, (c_char_p, c_char_p, ModelCallbacks, c_int8)),
        "FreeModelInstance": (None, (WHO,)),
        "SetTime": (c_int, (WHO, c_double)),
        "Initialize": (c_int, (WHO, c_int8, c_double, INFO)),
        "EventUpdate": (c_int, (WHO, c_int8, INFO)),
        "CompletedIntegratorStep": (c_int, (WHO, POINTER(c_int8))),
        **vectors("SetContinuousStates", "GetContinuousStates", "GetNominalContinuousStates"),
        **vectors("GetDerivatives", "GetEventIndicators"),
    },
    needed={
        "CoSimulation": ("InstantiateSlave", "InitializeSlave", "FreeSlaveInstance", "DoStep"),
        "ModelExchange": (
            *("InstantiateModel", "Initialize", "FreeModelInstance"),
            *("EventUpdate", "SetTime", "GetDerivatives"),
        ),
    },
)
"""`Enumeration` has no functions of its own: it is read and written as `Integer`."""
