"""FMI 3.0: types and functions.

Source: Functional Mock-up Interface 3.0.1, ``fmi3PlatformTypes.h``, ``fmi3FunctionTypes.h``.
"""

from __future__ import annotations

import ctypes
from ctypes import (
    POINTER,
    c_bool,
    c_char_p,
    c_double,
    c_float,
    c_int,
    c_int8,
    c_int16,
    c_int32,
    c_int64,
    c_size_t,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import Any

from cosim_fmi.binding.function_table import FunctionTable, accesses, plain, vectors

C_TYPES: dict[str, Any] = {
    "Float64": c_double,
    "Float32": c_float,
    "Int8": c_int8,
    "UInt8": c_uint8,
    "Int16": c_int16,
    "UInt16": c_uint16,
    "Int32": c_int32,
    "UInt32": c_uint32,
    "Int64": c_int64,
    "UInt64": c_uint64,
    "Enumeration": c_int64,
    "Boolean": c_bool,
    "String": c_char_p,
}
BYTES = POINTER(c_uint8)
LOGGER = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_char_p, c_char_p)
"""The environment, status, category, message."""
INTERMEDIATE_UPDATE = ctypes.CFUNCTYPE(
    None, c_void_p, c_double, c_bool, c_bool, c_bool, c_bool, POINTER(c_bool), POINTER(c_double)
)
REFERENCES, REALS, WHO, COUNT = POINTER(c_uint32), POINTER(c_double), c_void_p, c_size_t
STATE, FLAG = POINTER(c_void_p), POINTER(c_bool)
ALWAYS = ("FreeInstance", "EnterInitializationMode", "ExitInitializationMode")
BINARY = (c_int, (WHO, REFERENCES, COUNT, POINTER(c_size_t), POINTER(BYTES), COUNT))
TABLE = FunctionTable(
    version="3.0",
    prefix="fmi3",
    signatures={
        "GetVersion": (c_char_p, ()),
        "SetDebugLogging": (c_int, (WHO, c_bool, COUNT, POINTER(c_char_p))),
        "InstantiateCoSimulation": (
            WHO,
            (
                *(c_char_p, c_char_p, c_char_p, c_bool, c_bool, c_bool, c_bool, REFERENCES, COUNT),
                *(c_void_p, LOGGER, INTERMEDIATE_UPDATE),
            ),
        ),
        "InstantiateModelExchange": (
            WHO,
            (c_char_p, c_char_p, c_char_p, c_bool, c_bool, c_void_p, LOGGER),
        ),
        "FreeInstance": (None, (WHO,)),
        "EnterInitializationMode": (c_int, (WHO, c_bool, c_double, c_double, c_bool, c_double)),
        **plain("ExitInitializationMode", "EnterConfigurationMode", "ExitConfigurationMode"),
        **plain("EnterEventMode", "EnterStepMode", "EnterContinuousTimeMode", "Terminate", "Reset"),
        **accesses(C_TYPES, COUNT),
        "GetBinary": BINARY,
        "SetBinary": BINARY,
        "GetClock": (c_int, (WHO, REFERENCES, COUNT, FLAG)),
        "SetClock": (c_int, (WHO, REFERENCES, COUNT, FLAG)),
        "GetIntervalDecimal": (c_int, (WHO, REFERENCES, COUNT, REALS, POINTER(c_int))),
        "GetIntervalFraction": (
            c_int,
            (WHO, REFERENCES, COUNT, POINTER(c_uint64), POINTER(c_uint64), POINTER(c_int)),
        ),
        "UpdateDiscreteStates": (c_int, (WHO, FLAG, FLAG, FLAG, FLAG, FLAG, REALS)),
        "GetFMUState": (c_int, (WHO, STATE)),
        "SetFMUState": (c_int, (WHO, c_void_p)),
        "FreeFMUState": (c_int, (WHO, STATE)),
        "SerializedFMUStateSize": (c_int, (WHO, c_void_p, POINTER(c_size_t))),
        "SerializeFMUState": (c_int, (WHO, c_void_p, c_char_p, c_size_t)),
        "DeserializeFMUState": (c_int, (WHO, c_char_p, c_size_t, STATE)),
        "GetDirectionalDerivative": (
            c_int,
            (WHO, REFERENCES, COUNT, REFERENCES, COUNT, REALS, COUNT, REALS, COUNT),
        ),
        # Co-Simulation
        "DoStep": (c_int, (WHO, c_double, c_double, c_bool, FLAG, FLAG, FLAG, REALS)),
        # Model Exchange
        "CompletedIntegratorStep": (c_int, (WHO, c_bool, FLAG, FLAG)),
        "SetTime": (c_int, (WHO, c_double)),
        **vectors("SetContinuousStates", "GetContinuousStates", "GetNominalsOfContinuousStates"),
        **vectors("GetContinuousStateDerivatives", "GetEventIndicators"),
        "GetNumberOfContinuousStates": (c_int, (WHO, POINTER(c_size_t))),
        "GetNumberOfEventIndicators": (c_int, (WHO, POINTER(c_size_t))),
    },
    needed={
        "CoSimulation": ("InstantiateCoSimulation", *ALWAYS, "DoStep"),
        "ModelExchange": (
            *("InstantiateModelExchange", *ALWAYS),
            *("UpdateDiscreteStates", "EnterContinuousTimeMode", "SetTime"),
        ),
    },
)
"""`Enumeration` has no functions of its own: it is read and written as `Int64`."""
