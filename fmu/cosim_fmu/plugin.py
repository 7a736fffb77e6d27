"""The registrations of this package."""

import cosim
from cosim_export.native.fitting_exporter import FittingFmuExporter
from cosim_export.native.native_exporter import NativeFmuExporter
from cosim_export.python_fmu.pythonfmu_exporter import PythonFmuExporter
from cosim_fmi.validate.validate_command import ValidateCommand
from cosim_fmu.command.cosimulate_command import CosimulateCommand
from cosim_fmu.command.serve_command import ServeCommand
from cosim_fmu.container.container_exporter import ContainerExporter
from cosim_fmu.contract_kits import MasterAlgorithmKit, ParticipantKit
from cosim_fmu.scenario.scenario_schema import ScenarioSchema
from cosim_fmu.scenario_subject import ScenarioSubject
from cosim_fmu.ssp_exporter import SspExporter
from cosim_master.algorithms.adaptive import Adaptive
from cosim_master.algorithms.gauss_seidel import GaussSeidel
from cosim_master.algorithms.interface_newton import InterfaceNewton
from cosim_master.algorithms.jacobi import Jacobi
from cosim_master.algorithms.joint import Joint
from cosim_master.algorithms.waveform_iteration import WaveformIteration
from cosim_master.component.fmu_component import ModelExchangeFmu
from cosim_master.participants.fmu_participant import FmuParticipant
from cosim_master.participants.model_exchange_participant import ModelExchangeParticipant
from cosim_master.participants.system_participant import SystemParticipant
from cosim_ssp.describe import SspDescriber

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
    register("fmu.serve", ServeCommand)
    register("fmu.validate", ValidateCommand)
    register("fmu.ssp", SspDescriber)
    register("fmu.container", ContainerExporter)
    register("fmu.ssp_exporter", SspExporter)
    register("fmu.scenario", ScenarioSchema)
    register("fmu.scenario_subject", ScenarioSubject)
    register("fmu.participant_kit", ParticipantKit)
    register("fmu.master_algorithm_kit", MasterAlgorithmKit)
