"""The registrations of this package."""

from __future__ import annotations

import cosim
from cosim_workbench.check_command import CheckCommand
from cosim_workbench.compare_command import CompareCommand
from cosim_workbench.completion_command import CompletionCommand
from cosim_workbench.components_table import ComponentsTable
from cosim_workbench.connections_table import ConnectionsTable
from cosim_workbench.dataset import Dataset
from cosim_workbench.describe_command import DescribeCommand
from cosim_workbench.event_plot import EventPlot
from cosim_workbench.event_table import EventTable
from cosim_workbench.export_command import ExportCommand
from cosim_workbench.info_command import InfoCommand
from cosim_workbench.measures_table import MeasuresTable
from cosim_workbench.model_schema import ModelSchema
from cosim_workbench.new_command import NewCommand
from cosim_workbench.parquet_results import ParquetResults
from cosim_workbench.plot import Plot
from cosim_workbench.plot_command import PlotCommand
from cosim_workbench.profile_command import ProfileCommand
from cosim_workbench.results_csv import ResultsCsv
from cosim_workbench.run_command import RunCommand
from cosim_workbench.schema_command import SchemaCommand
from cosim_workbench.second_opinion import SecondOpinion
from cosim_workbench.simulation_table import SimulationTable
from cosim_workbench.starts_table import StartsTable
from cosim_workbench.studies.calibrate_command import CalibrateCommand
from cosim_workbench.studies.dask_support import DaskSupport
from cosim_workbench.studies.fan_chart import FanChart
from cosim_workbench.studies.optimize_command import OptimizeCommand
from cosim_workbench.studies.series_parts import SeriesParts
from cosim_workbench.studies.sweep_command import SweepCommand
from cosim_workbench.table import Table
from cosim_workbench.toml_reader import TomlReader

cosim_contract = "1.0"


@cosim.hookimpl
def cosim_register(register: cosim.Register) -> None:
    register("workbench.run", RunCommand)
    register("workbench.info", InfoCommand)
    register("workbench.describe", DescribeCommand)
    register("workbench.export", ExportCommand)
    register("workbench.measures", MeasuresTable)
    register("workbench.components", ComponentsTable)
    register("workbench.connections", ConnectionsTable)
    register("workbench.starts", StartsTable)
    register("workbench.simulation", SimulationTable)
    register("workbench.toml", TomlReader)
    register("workbench.csv", ResultsCsv)
    register("workbench.parquet", ParquetResults)
    register("workbench.dataset", Dataset)
    register("workbench.compare", CompareCommand)
    register("workbench.plot", PlotCommand)
    register("workbench.new", NewCommand)
    register("workbench.check", CheckCommand)
    register("workbench.profile", ProfileCommand)
    register("workbench.schema", SchemaCommand)
    register("workbench.completion", CompletionCommand)
    register("workbench.model", ModelSchema)
    register("workbench.plot", Plot)
    register("workbench.table", Table)
    register("workbench.event_plot", EventPlot)
    register("workbench.event_table", EventTable)
    register("workbench.fan_chart", FanChart)
    register("workbench.series_parts", SeriesParts)
    register("workbench.dask", DaskSupport)
    register("workbench.sweep", SweepCommand)
    register("workbench.second_opinion", SecondOpinion)
    register("workbench.calibrate", CalibrateCommand)
    register("workbench.optimize", OptimizeCommand)
