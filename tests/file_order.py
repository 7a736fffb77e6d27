"""In which order workers take the files of tests: they end together when what takes long comes first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeVar

Item = TypeVar("Item")

LONG = (
    "tests/fmu/test_native_events.py",
    "tests/fmu/test_remote.py",
    "tests/fmu/test_coupling_theory.py",
    "tests/fmu/test_native_signals.py",
    "tests/fmu/test_faults_of_fmus.py",
    "tests/examples/test_start_pages.py",
    "tests/step_oracle/test_oracle.py",
    "tests/testing/test_force_element_contract.py",
    "tests/examples/test_engine_mount.py",
    "tests/test_docs.py",
    "tests/integrators/test_kinks.py",
    "tests/fmu/test_export_processes.py",
    "tests/test_child_processes.py",
    "tests/fmu/test_processes.py",
    "tests/fmu/test_source_fmus.py",
    "tests/kernel/test_run_derivatives.py",
    "tests/fmu/test_co_simulation_checkpoint.py",
    "tests/fmu/test_native_fuzz.py",
    "tests/fmu/test_names_for_buses.py",
    "tests/fmu/test_ssp_write.py",
    "tests/fmu/test_scenario_study.py",
    "tests/fmu/test_native_containers.py",
    "tests/kernel/test_rational_times.py",
    "tests/mechanics/test_force_contracts.py",
    "tests/fmu/test_verdict.py",
    "tests/integrators/test_libraries.py",
    "tests/fmu/test_compiled_loop.py",
    "tests/workbench/test_new_and_check.py",
    "tests/test_cli.py",
    "tests/testing/test_component_contract.py",
    "tests/kernel/test_delay_derivatives.py",
    "tests/fmu/test_conformance_of_archives.py",
    "tests/workbench/test_cluster.py",
    "tests/test_plugin_index.py",
    "tests/kernel/test_walks_of_the_step.py",
    "tests/language/test_printers.py",
    "tests/fmu/test_native_views.py",
    "tests/fmu/test_default_interface.py",
    "tests/examples/test_cruise_control.py",
    "tests/fmu/test_bad_input.py",
    "tests/fmu/test_isolated_exchange.py",
    "tests/fmu/test_native_random.py",
    "tests/workbench/test_optimization.py",
    "tests/workbench/test_progress.py",
    "tests/workbench/test_calibration_of_co_simulations.py",
    "tests/fmu/test_remote_networks.py",
    "tests/fmu/test_native_clocks.py",
    "tests/fmu/test_event_mode.py",
    "tests/fmu/test_export_fuzz.py",
    "tests/test_platforms.py",
    "tests/fmu/test_initialization_mode.py",
    "tests/language/test_random_programs.py",
    "tests/lowering/test_events.py",
    "tests/fmu/test_dependencies_are_complete.py",
    "tests/integrators/test_stiffness.py",
    "tests/kernel/test_other_process.py",
    "tests/fmu/test_harmless_writes.py",
    "tests/lowering/test_model_exchange.py",
    "tests/kernel/test_building.py",
    "tests/test_doctests.py",
    "tests/fmu/test_clocks.py",
    "tests/fmu/test_typed_classes.py",
    "tests/testing/test_integrator_contract.py",
    "tests/fmu/test_ssp_lines.py",
    "tests/test_words.py",
    "tests/fmu/test_helper_processes.py",
    "tests/step_oracle/test_method_digests.py",
    "tests/fmu/test_streaming.py",
)
"""Files that take longest, also since they compile; the others come after, those of many tests first."""


def in_order(items: Iterable[tuple[str, Item]]) -> list[Item]:
    """Items by the file that each belongs to; those of one file stay as they are."""
    given: Sequence[tuple[str, Item]] = list(items)
    counts, places = Counter(file for file, _ in given), {file: n for n, file in enumerate(LONG)}
    found = sorted(given, key=lambda entry: (places.get(entry[0], len(LONG)), -counts[entry[0]], entry[0]))
    return [item for _, item in found]
