"""What this package registers."""

import cosim
from cosim_fmu.export.pythonfmu_exporter import PythonFmuExporter
from cosim_fmu.master.adaptive_forward import AdaptiveForward
from cosim_fmu.master.adaptive_step import AdaptiveStep
from cosim_fmu.master.cosimulate_command import CosimulateCommand
from cosim_fmu.master.fmi3_model_exchange_participant import Fmi3ModelExchangeParticipant
from cosim_fmu.master.fmi3_participant import Fmi3Participant
from cosim_fmu.master.fmu_participant import FmuParticipant
from cosim_fmu.master.gauss_seidel import GaussSeidel
from cosim_fmu.master.interface_newton import InterfaceNewton
from cosim_fmu.master.jacobi import Jacobi
from cosim_fmu.master.model_exchange_participant import ModelExchangeParticipant
from cosim_fmu.master.scenario_schema import ScenarioSchema
from cosim_fmu.master.system_participant import SystemParticipant
from cosim_fmu.master.waveform_iteration import WaveformIteration
from cosim_fmu.native.fitting_exporter import FittingFmuExporter
from cosim_fmu.native.native_exporter import NativeFmuExporter
from cosim_fmu.ssp.ssp_describer import SspDescriber
from cosim_fmu.validate.validate_command import ValidateCommand

cosim_contract = "1.0"


@cosim.hookimpl
def cosim_register(register: cosim.Register) -> None:
    register("fmu.pythonfmu", PythonFmuExporter)
    register("fmu.native", NativeFmuExporter)
    register("fmu.fitting", FittingFmuExporter)
    register("fmu.jacobi", Jacobi)
    register("fmu.gauss_seidel", GaussSeidel)
    register("fmu.waveform_iteration", WaveformIteration)
    register("fmu.interface_newton", InterfaceNewton)
    register("fmu.adaptive_step", AdaptiveStep)
    register("fmu.adaptive_forward", AdaptiveForward)
    register("fmu.fmi2", FmuParticipant)
    register("fmu.fmi3", Fmi3Participant)
    register("fmu.model_exchange", ModelExchangeParticipant)
    register("fmu.fmi3_model_exchange", Fmi3ModelExchangeParticipant)
    register("fmu.system", SystemParticipant)
    register("fmu.cosimulate", CosimulateCommand)
    register("fmu.validate", ValidateCommand)
    register("fmu.ssp", SspDescriber)
    register("fmu.scenario", ScenarioSchema)
