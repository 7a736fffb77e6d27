"""What this package registers."""

import cosim
from cosim_fmu.component.fmu_component import ModelExchangeFmu
from cosim_fmu.contract_kits import MasterAlgorithmKit, ParticipantKit
from cosim_fmu.export.pythonfmu_exporter import PythonFmuExporter
from cosim_fmu.master.algorithms.adaptive import Adaptive
from cosim_fmu.master.algorithms.gauss_seidel import GaussSeidel
from cosim_fmu.master.algorithms.interface_newton import InterfaceNewton
from cosim_fmu.master.algorithms.jacobi import Jacobi
from cosim_fmu.master.algorithms.joint import Joint
from cosim_fmu.master.algorithms.waveform_iteration import WaveformIteration
from cosim_fmu.master.participants.fmu_participant import FmuParticipant
from cosim_fmu.master.participants.model_exchange_participant import ModelExchangeParticipant
from cosim_fmu.master.participants.system_participant import SystemParticipant
from cosim_fmu.master.scenario.cosimulate_command import CosimulateCommand
from cosim_fmu.master.scenario.scenario_schema import ScenarioSchema
from cosim_fmu.master.scenario.scenario_subject import ScenarioSubject
from cosim_fmu.native.fitting_exporter import FittingFmuExporter
from cosim_fmu.native.native_exporter import NativeFmuExporter
from cosim_fmu.ssp.ssp_describer import SspDescriber
from cosim_fmu.ssp.ssp_exporter import SspExporter
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
    register("fmu.joint", Joint)
    register("fmu.adaptive", Adaptive)
    register("fmu.co_simulation", FmuParticipant)
    register("fmu.model_exchange", ModelExchangeParticipant)
    register("fmu.system", SystemParticipant)
    register("fmu.model_exchange", ModelExchangeFmu)
    register("fmu.cosimulate", CosimulateCommand)
    register("fmu.validate", ValidateCommand)
    register("fmu.ssp", SspDescriber)
    register("fmu.ssp_exporter", SspExporter)
    register("fmu.scenario", ScenarioSchema)
    register("fmu.scenario_subject", ScenarioSubject)
    register("fmu.participant_kit", ParticipantKit)
    register("fmu.master_algorithm_kit", MasterAlgorithmKit)
