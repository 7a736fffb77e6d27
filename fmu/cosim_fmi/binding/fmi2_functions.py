"""The types and functions of FMI 2.0 in C.

References
----------
Functional Mock-up Interface 2.0.4, ``fmi2TypesPlatform.h``, ``fmi2FunctionTypes.h``.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_double, c_int, c_size_t, c_uint, c_void_p
from typing import Any

from cosim_fmi.binding.fmu_library import FunctionTable, accesses, plain, vectors
from cosim_fmi.binding.fmu_output import LOGGER

C_TYPES: dict[str, Any] = {
    "Real": c_double,
    "Integer": c_int,
    "Enumeration": c_int,
    "Boolean": c_int,
    "String": c_char_p,
}


class Callbacks(ctypes.Structure):
    """fmi2CallbackFunctions."""

    _fields_ = (
        ("logger", LOGGER),
        ("allocate", c_void_p),
        ("free", c_void_p),
        ("step_finished", c_void_p),
        ("environment", c_void_p),
    )


class EventInfo(ctypes.Structure):
    """fmi2EventInfo."""

    _fields_ = (
        ("again", c_int),
        ("terminate", c_int),
        ("nominals_changed", c_int),
        ("values_changed", c_int),
        ("defined", c_int),
        ("next", c_double),
    )


REFERENCES = POINTER(c_uint)
"""Value references of several variables."""
REALS = POINTER(c_double)
INSTANCE = c_void_p
"""``fmi2Component``."""
STATE = POINTER(c_void_p)
"""``fmi2FMUstate*``."""
NEEDED_BY_ALL = (
    "Instantiate",
    "FreeInstance",
    "EnterInitializationMode",
    "ExitInitializationMode",
    "SetupExperiment",
)
TABLE = FunctionTable(
    version="2.0",
    prefix="fmi2",
    signatures={
        "GetVersion": (c_char_p, ()),
        "GetTypesPlatform": (c_char_p, ()),
        "SetDebugLogging": (c_int, (INSTANCE, c_int, c_size_t, POINTER(c_char_p))),
        "Instantiate": (
            INSTANCE,
            (c_char_p, c_int, c_char_p, c_char_p, POINTER(Callbacks), c_int, c_int),
        ),
        "FreeInstance": (None, (INSTANCE,)),
        "SetupExperiment": (c_int, (INSTANCE, c_int, c_double, c_double, c_int, c_double)),
        **plain("EnterInitializationMode", "ExitInitializationMode", "Terminate", "Reset"),
        **accesses(C_TYPES),
        "GetFMUstate": (c_int, (INSTANCE, STATE)),
        "SetFMUstate": (c_int, (INSTANCE, c_void_p)),
        "FreeFMUstate": (c_int, (INSTANCE, STATE)),
        "SerializedFMUstateSize": (c_int, (INSTANCE, c_void_p, POINTER(c_size_t))),
        "SerializeFMUstate": (c_int, (INSTANCE, c_void_p, c_char_p, c_size_t)),
        "DeSerializeFMUstate": (c_int, (INSTANCE, c_char_p, c_size_t, STATE)),
        "GetDirectionalDerivative": (
            c_int,
            (INSTANCE, REFERENCES, c_size_t, REFERENCES, c_size_t, REALS, REALS),
        ),
        # Co-Simulation
        "SetRealInputDerivatives": (c_int, (INSTANCE, REFERENCES, c_size_t, POINTER(c_int), REALS)),
        "DoStep": (c_int, (INSTANCE, c_double, c_double, c_int)),
        "GetRealStatus": (c_int, (INSTANCE, c_int, REALS)),
        "GetBooleanStatus": (c_int, (INSTANCE, c_int, POINTER(c_int))),
        # Model Exchange
        **plain("EnterEventMode", "EnterContinuousTimeMode"),
        "NewDiscreteStates": (c_int, (INSTANCE, POINTER(EventInfo))),
        "CompletedIntegratorStep": (c_int, (INSTANCE, c_int, POINTER(c_int), POINTER(c_int))),
        "SetTime": (c_int, (INSTANCE, c_double)),
        **vectors("SetContinuousStates", "GetContinuousStates", "GetNominalsOfContinuousStates"),
        **vectors("GetDerivatives", "GetEventIndicators"),
    },
    needed={
        "CoSimulation": (*NEEDED_BY_ALL, "DoStep"),
        "ModelExchange": (*NEEDED_BY_ALL, "NewDiscreteStates", "EnterContinuousTimeMode", "SetTime"),
    },
)
"""`Enumeration` has no functions of its own: it is read and written as `Integer`."""
