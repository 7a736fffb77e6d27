"""The functions that a library has to export, by version and interface, as the standards list them."""

from __future__ import annotations

COMMON_2 = """
GetTypesPlatform GetVersion SetDebugLogging Instantiate FreeInstance SetupExperiment
EnterInitializationMode ExitInitializationMode Terminate Reset GetReal GetInteger GetBoolean GetString
SetReal SetInteger SetBoolean SetString GetFMUstate SetFMUstate FreeFMUstate SerializedFMUstateSize
SerializeFMUstate DeSerializeFMUstate GetDirectionalDerivative
"""
COMMON_3 = """
GetVersion SetDebugLogging FreeInstance EnterInitializationMode ExitInitializationMode EnterEventMode
Terminate Reset GetFloat32 GetFloat64 GetInt8 GetUInt8 GetInt16 GetUInt16 GetInt32 GetUInt32 GetInt64
GetUInt64 GetBoolean GetString GetBinary GetClock SetFloat32 SetFloat64 SetInt8 SetUInt8 SetInt16
SetUInt16 SetInt32 SetUInt32 SetInt64 SetUInt64 SetBoolean SetString SetBinary SetClock
GetNumberOfVariableDependencies GetVariableDependencies GetFMUState SetFMUState FreeFMUState
SerializedFMUStateSize SerializeFMUState DeserializeFMUState GetDirectionalDerivative
GetAdjointDerivative EnterConfigurationMode ExitConfigurationMode GetIntervalDecimal GetIntervalFraction
GetShiftDecimal GetShiftFraction SetIntervalDecimal SetIntervalFraction SetShiftDecimal SetShiftFraction
EvaluateDiscreteStates UpdateDiscreteStates
"""
COMMON_1 = """
GetVersion SetDebugLogging GetReal GetInteger GetBoolean GetString SetReal SetInteger SetBoolean SetString
"""
REQUIRED = {
    ("1.0", "CoSimulation"): COMMON_1 + "GetTypesPlatform InstantiateSlave InitializeSlave TerminateSlave "
    "ResetSlave FreeSlaveInstance SetRealInputDerivatives GetRealOutputDerivatives DoStep CancelStep "
    "GetStatus GetRealStatus GetIntegerStatus GetBooleanStatus GetStringStatus",
    ("1.0", "ModelExchange"): COMMON_1 + "GetModelTypesPlatform InstantiateModel FreeModelInstance SetTime "
    "SetContinuousStates CompletedIntegratorStep Initialize GetDerivatives GetEventIndicators EventUpdate "
    "GetContinuousStates GetNominalContinuousStates GetStateValueReferences Terminate",
    ("2.0", "CoSimulation"): COMMON_2 + "SetRealInputDerivatives GetRealOutputDerivatives DoStep CancelStep "
    "GetStatus GetRealStatus GetIntegerStatus GetBooleanStatus GetStringStatus",
    ("2.0", "ModelExchange"): COMMON_2 + "EnterEventMode NewDiscreteStates EnterContinuousTimeMode "
    "CompletedIntegratorStep SetTime SetContinuousStates GetDerivatives GetEventIndicators "
    "GetContinuousStates GetNominalsOfContinuousStates",
    ("3.0", "CoSimulation"): COMMON_3 + "InstantiateCoSimulation EnterStepMode GetOutputDerivatives DoStep",
    ("3.0", "ModelExchange"): COMMON_3 + "InstantiateModelExchange EnterContinuousTimeMode "
    "CompletedIntegratorStep SetTime SetContinuousStates GetContinuousStateDerivatives GetEventIndicators "
    "GetContinuousStates GetNominalsOfContinuousStates GetNumberOfEventIndicators "
    "GetNumberOfContinuousStates",
}
"""Names without their prefixes, between spaces, by version and interface."""
CAPABILITIES = {
    "can_restore": ("getfmustate", "setfmustate", "freefmustate"),
    "can_serialize": ("serializedfmustatesize", "serializefmustate", "deserializefmustate"),
}
"""Functions that a declared capability needs, without prefixes and in small letters."""
