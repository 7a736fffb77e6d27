"""The interface for builders of integrators, dynamics solvers, masters and exporters, beyond ``cosim``.

Authors of components do not need it. It is as stable as the contract version says, as `cosim` is.

================= ==========================================================================================
machine code      `compiled` and `compile_function` make a kernel function callable, `function_address` gives
                  its address, `lower` its text for other processors (with `data_of`, `length_of`,
                  `with_loops_kept`),
                  `lower_to_c` its C99 (`KnownArray`, `LoweredC`: what is known of arrays, what is written);
                  `read_cached` and `write_cached`: costly results, by the digest of their sources;
                  `shipped_content`: those that came with the package;
                  `interrupts_held`: Ctrl-C waits until LLVM is done; `kernel_code`: what the compiler reads
                  `emit_object`: the object file of a module of LLVM
                  `compiled_together`: kernel functions of one signature as one piece, which share helpers;
                  `rarely`: one that seldom runs, which is not written out where it is called;
                  `never_inlined`: a large one, so that what calls it stays small
derivatives       `tangent_of`: a tangent of your own for a kernel function; `kernel_derivatives`: what of a
                  component is differentiated; `block_tangent`, `function_adjoint`; `NoTangentError`;
                  `recorded_by`, `push`, `pop`, `reserve`, `end_of_tape`, `cut_tape`: an adjoint of your own,
                  which records blocks by `record_blocks` and goes back along them by `reverse_walk`;
                  `reduced_by`: the gradient of a number made of signals
                  `gathering`: names for the arguments of a function of ``*arguments``
calls by address  `walk` (blocks of a schedule), `call_step`, `call_dense`, `call_block`, `call_tangent`,
                  and the signatures;
                  `indirect_call`: one for a signature of your own
integrators       `OdeSystem` and `MethodArrays`: what the functions of a method take; `step_entry` and
                  `redo_entry`: what is called by its address; `Settings`, `StepMemory`, `StepWork`,
                  `MethodSlots`, `Corrections`: the records in the arrays; `MethodKernels`, `PlacedFunction`,
                  `ErrorEstimate`, `Capabilities`, `StepCode`; `store_state`: a state that is finite;
                  `project` and others, for steps that meet constraints
records           `Record`, `rows_of`, `width_of`, `place_in`: memory with named fields; `c_header`: the same
                  in C; `as_table`: rows by columns; `group_reader`, `head_of`: named tuples of arrays
                  (`Integers`, `Reals`) behind one address
solvers           `Assembly`, `Block`, `Slot`, `Projection`: what a solver is given, and what it gives back
histories         `History`: what ``s.past`` of a view is; `history_at`: that of a place in `k`; `flattened`:
                  helpers of it that also take its arrays, as `append_to_history` … of `history_buffer` do
the Step          its arrays, tables and entry points, for hosts without Python: `Run`, `Clock`, `Tables` …
co-simulation     `Exchange`, `Course`, `FeedthroughLoop`; `ParticipantDescription` and its parts
helper processes  `start_process`, `run_process`, `python_command`, `safe_spawn` …: where they are
                  started; `kill_with_parent`, `end_with_parent`: they end with the process that started them;
                  `black_box`, `Recovery`: what outlives the process of a run; `ResourceLimits`
runs              `python_in_steps`: what of a run is plain Python, and what that costs;
                  `without_collection`: Python looks for no garbage while very many objects are made;
                  `seldom_evaluated`: what is built there is not compiled for a few evaluations
many runs         `EnsembleResult`, `FailedRun`, which `cosim.Ensemble` gives; the Step in batches:
                  `ArrayPlace`, `arrays_at` …; `checked_interval`, `counted_grid`, `output_times`
data in files     `data_file` and `text`: options that are no choices; `path_below`, `check_folder`,
                  `is_device`, `space_warning`, `write_whole`, `save_somewhere`: files that are written;
                  `replaced_file`: one that is there only when it is whole (`is_draft`);
                  `private_folder`, `remove_folder`, `remove_abandoned_folders`: temporary files;
                  `checkpoint_bytes`: one that is read
declarations      `declared_bounds`, `declared_default`: in words
registry          `Registry`, `use_registry`, `RegisteredClass`, `PluginRecord`: others than installed ones;
                  `declared_kinds`: the base class of each kind
attributes        `ClosedAttributes`: unknown ones are an error; `FixedAttributes`: all are;
                  `is_made`, `refuse_attribute`
times             `rational_time`, `common_resolution`, `tick_time`, `periodic_time` and `exact_quantity`:
                  times that are rational numbers, so that what meets on paper is one double
options           `options_checked`, `check_options`, `option_names`: unknown ones are an `OptionError`;
                  `read_seconds`: a time that may be text; `check_callable`: a function, or nothing;
                  `check_ending`: the ending of a file; `check_choice`, `check_mapping`, `check_whole`;
                  `quote`: a value in messages
commands          `commands` and `CommandParser`: which there are, what they read; `printable`: text for
                  terminals, `PrintableStream`: a stream of it; `raw_stream`: for what draws on them
packages          `late_names`: an ``__init__`` that imports a name when it is first used
text              units (`parse_unit`, `unit_product`, `conversion`), patterns (`matches`), `nearest` name;
                  `run_source` in place of exec, for text that makes components
================= ==========================================================================================
"""

TYPE_CHECKING = bool(0)  # as in `cosim`

if TYPE_CHECKING:
    from cosim.argument_checks import check_callable as check_callable
    from cosim.argument_checks import check_choice as check_choice
    from cosim.argument_checks import check_ending as check_ending
    from cosim.argument_checks import check_mapping as check_mapping
    from cosim.argument_checks import check_whole as check_whole
    from cosim.argument_checks import read_seconds as read_seconds
    from cosim.attributes import AbstractClosedAttributes as AbstractClosedAttributes
    from cosim.attributes import ClosedAttributes as ClosedAttributes
    from cosim.attributes import FixedAttributes as FixedAttributes
    from cosim.attributes import MadeFromOptions as MadeFromOptions
    from cosim.attributes import is_made as is_made
    from cosim.attributes import refuse_attribute as refuse_attribute
    from cosim.command_line import black_box as black_box
    from cosim.command_line.command_entries import commands as commands
    from cosim.command_line.command_parser import CommandParser as CommandParser
    from cosim.command_line.printable import PrintableStream as PrintableStream
    from cosim.command_line.printable import printable as printable
    from cosim.command_line.printable import raw_stream as raw_stream
    from cosim.component.argument import Argument as Argument
    from cosim.component.attachment import Attachment as Attachment
    from cosim.component.attachment import Offer as Offer
    from cosim.component.declaration import Declaration as Declaration
    from cosim.component.declared_constants import data_file as data_file
    from cosim.component.declared_constants import text as text
    from cosim.component.declared_signals import attachment as attachment
    from cosim.component.documented import declared_bounds as declared_bounds
    from cosim.component.documented import declared_default as declared_default
    from cosim.component.history import ENTRY_WIDTH as ENTRY_WIDTH
    from cosim.component.history import LOOKED as LOOKED
    from cosim.component.history import MOVED as MOVED
    from cosim.component.history import ORDINARY as ORDINARY
    from cosim.component.history import History as History
    from cosim.component.history import Ring as Ring
    from cosim.component.history import history_at as history_at
    from cosim.component.history import is_same as is_same
    from cosim.component.history import margin as margin
    from cosim.component.kink_functions import missed_kinks as missed_kinks
    from cosim.component.read_numbers import choices_of as choices_of
    from cosim.component.values import NUMERIC as NUMERIC
    from cosim.component.values import own_value as own_value
    from cosim.contracts import method_layout as method_layout
    from cosim.contracts.capabilities import Capabilities as Capabilities
    from cosim.contracts.constraints import CONSTRAINT_TOLERANCE as CONSTRAINT_TOLERANCE
    from cosim.contracts.constraints import NOT_MET as NOT_MET
    from cosim.contracts.constraints import failure_code as failure_code
    from cosim.contracts.constraints import has_constraints as has_constraints
    from cosim.contracts.constraints import has_corrections as has_corrections
    from cosim.contracts.constraints import nan_max as nan_max
    from cosim.contracts.constraints import project as project
    from cosim.contracts.constraints import project_end as project_end
    from cosim.contracts.constraints import project_error as project_error
    from cosim.contracts.constraints import worth_projecting as worth_projecting
    from cosim.contracts.dense_output import DenseOutput as DenseOutput
    from cosim.contracts.ensemble_result import EnsembleResult as EnsembleResult
    from cosim.contracts.exporter import ExportReport as ExportReport
    from cosim.contracts.failed_run import FailedRun as FailedRun
    from cosim.contracts.integrator import Vector as Vector
    from cosim.contracts.master_algorithm import Course as Course
    from cosim.contracts.master_algorithm import Exchange as Exchange
    from cosim.contracts.master_algorithm import FeedthroughLoop as FeedthroughLoop
    from cosim.contracts.method_entries import by_address as by_address
    from cosim.contracts.method_entries import redo_entry as redo_entry
    from cosim.contracts.method_entries import step_entry as step_entry
    from cosim.contracts.method_kernels import ErrorEstimate as ErrorEstimate
    from cosim.contracts.method_kernels import MethodKernels as MethodKernels
    from cosim.contracts.method_kernels import PlacedFunction as PlacedFunction
    from cosim.contracts.method_kernels import method_settings as method_settings
    from cosim.contracts.method_kernels import method_slots as method_slots
    from cosim.contracts.method_kernels import slots_named as slots_named
    from cosim.contracts.method_layout import BLOCK_FAILED as BLOCK_FAILED
    from cosim.contracts.method_layout import BY_KINK as BY_KINK
    from cosim.contracts.method_layout import BY_LIMIT as BY_LIMIT
    from cosim.contracts.method_layout import BY_MAXIMUM as BY_MAXIMUM
    from cosim.contracts.method_layout import BY_METHOD as BY_METHOD
    from cosim.contracts.method_layout import BY_TARGET as BY_TARGET
    from cosim.contracts.method_layout import CONSTRAINTS_NOT_MET as CONSTRAINTS_NOT_MET
    from cosim.contracts.method_layout import DONE as DONE
    from cosim.contracts.method_layout import MINIMUM_STEP as MINIMUM_STEP
    from cosim.contracts.method_layout import NO_CONVERGENCE as NO_CONVERGENCE
    from cosim.contracts.method_layout import NOT_FINITE as NOT_FINITE
    from cosim.contracts.method_layout import NOT_INITIALIZED as NOT_INITIALIZED
    from cosim.contracts.method_layout import OWN as OWN
    from cosim.contracts.method_layout import TUNE_SIGNATURE as TUNE_SIGNATURE
    from cosim.contracts.method_layout import WORK_HEADER as WORK_HEADER
    from cosim.contracts.method_layout import Corrections as Corrections
    from cosim.contracts.method_layout import MethodArrays as MethodArrays
    from cosim.contracts.method_layout import MethodSlots as MethodSlots
    from cosim.contracts.method_layout import OdeSystem as OdeSystem
    from cosim.contracts.method_layout import Settings as Settings
    from cosim.contracts.method_layout import StepMemory as StepMemory
    from cosim.contracts.method_layout import StepWork as StepWork
    from cosim.contracts.method_layout import store_state as store_state
    from cosim.contracts.method_layout import walked_dots as walked_dots
    from cosim.contracts.participant_description import CAUSALITIES as CAUSALITIES
    from cosim.contracts.participant_description import TYPES as TYPES
    from cosim.contracts.participant_description import DefaultExperiment as DefaultExperiment
    from cosim.contracts.participant_description import ParticipantDescription as ParticipantDescription
    from cosim.contracts.participant_description import ParticipantVariable as ParticipantVariable
    from cosim.contracts.participant_description import UnitDefinition as UnitDefinition
    from cosim.contracts.recovery import Recovery as Recovery
    from cosim.contracts.result_stream import ResultStream as ResultStream
    from cosim.contracts.solver import Solver as Solver
    from cosim.contracts.step_code import StepCode as StepCode
    from cosim.contracts.step_code import StepReason as StepReason
    from cosim.contracts.step_statistics import StepStatistics as StepStatistics
    from cosim.contracts.tolerances import accuracy_fault as accuracy_fault
    from cosim.contracts.verification import Verification as Verification
    from cosim.derivatives.carrier import Carrier as Carrier
    from cosim.derivatives.carrier import CarryNotes as CarryNotes
    from cosim.errors import NotWrittenError as NotWrittenError
    from cosim.errors import OptionError as OptionError
    from cosim.errors import nearest as nearest
    from cosim.name_patterns import is_pattern as is_pattern
    from cosim.name_patterns import matches as matches
    from cosim.options import check_options as check_options
    from cosim.options import option_names as option_names
    from cosim.options import options_checked as options_checked
    from cosim.preparation.choice import choice_of as choice_of
    from cosim.preparation.entries import ENTRIES as ENTRIES
    from cosim.preparation.entries import advance_run as advance_run
    from cosim.preparation.entries import finish_run as finish_run
    from cosim.preparation.entries import initialize_run as initialize_run
    from cosim.preparation.entries import record_run as record_run
    from cosim.preparation.entries_with_tangents import CARRIED_ENTRY_SIGNATURE as CARRIED_ENTRY_SIGNATURE
    from cosim.preparation.entries_with_tangents import ENTRIES_WITH_TANGENTS as ENTRIES_WITH_TANGENTS
    from cosim.preparation.event_entries import EventEntries as EventEntries
    from cosim.preparation.exported_tangents import GROWING_TANGENTS as GROWING_TANGENTS
    from cosim.preparation.exported_tangents import LISTED_TANGENTS as LISTED_TANGENTS
    from cosim.preparation.exported_tangents import exported_tangents as exported_tangents
    from cosim.preparation.held_tables import HeldTables as HeldTables
    from cosim.preparation.method import Method as Method
    from cosim.preparation.method import prepared as prepared
    from cosim.preparation.run_tables import POLICIES as POLICIES
    from cosim.preparation.run_tables import Tables as Tables
    from cosim.preparation.tangent_tables import REASONS as REASONS
    from cosim.private_folder import private_folder as private_folder
    from cosim.private_folder import remove_abandoned_folders as remove_abandoned_folders
    from cosim.private_folder import remove_folder as remove_folder
    from cosim.rational import common_resolution as common_resolution
    from cosim.rational import tick_time as tick_time
    from cosim.rational_doubles import periodic_time as periodic_time
    from cosim.rational_doubles import rational_time as rational_time
    from cosim.recorded_walk import record_blocks as record_blocks
    from cosim.recorded_walk import reverse_walk as reverse_walk
    from cosim.registration.hookspecs import CONTRACT_VERSION as CONTRACT_VERSION
    from cosim.registration.kinds import declared_kinds as declared_kinds
    from cosim.registration.kinds import kinds_of as kinds_of
    from cosim.registration.late_names import late_names as late_names
    from cosim.registration.plugin_record import PluginRecord as PluginRecord
    from cosim.registration.plugin_record import RegisteredClass as RegisteredClass
    from cosim.registration.registry import Registry as Registry
    from cosim.registration.registry import use_registry as use_registry
    from cosim.resource_limits import ResourceLimits as ResourceLimits
    from cosim.run_data.records import evaluation as evaluation
    from cosim.run_data.records import recording as recording
    from cosim.run_data.records.clock import SAME_TIME as SAME_TIME
    from cosim.run_data.records.clock import Clock as Clock
    from cosim.run_data.records.clock import Options as Options
    from cosim.run_data.records.handlers import Handler as Handler
    from cosim.run_data.records.plan import MethodFunctions as MethodFunctions
    from cosim.run_data.records.plan import PlacesHeader as PlacesHeader
    from cosim.run_data.records.plan import Plan as Plan
    from cosim.run_data.run import ADDRESS as ADDRESS
    from cosim.run_data.run import ARRAY_WIDTH as ARRAY_WIDTH
    from cosim.run_data.run import ARRAYS as ARRAYS
    from cosim.run_data.run import CHOICE_WIDTH as CHOICE_WIDTH
    from cosim.run_data.run import COMPUTED as COMPUTED
    from cosim.run_data.run import CONSTANT as CONSTANT
    from cosim.run_data.run import ENTRY_SIGNATURE as ENTRY_SIGNATURE
    from cosim.run_data.run import GRID_WIDTH as GRID_WIDTH
    from cosim.run_data.run import LENGTH as LENGTH
    from cosim.run_data.run import ROLES as ROLES
    from cosim.run_data.run import SCRATCH as SCRATCH
    from cosim.run_data.run import STATE as STATE
    from cosim.run_data.run import WHOLE_HEAD as WHOLE_HEAD
    from cosim.run_data.run import ArrayPlace as ArrayPlace
    from cosim.run_data.run import Run as Run
    from cosim.run_data.run import arrays_at as arrays_at
    from cosim.simulation.checkpoint import checkpoint_bytes as checkpoint_bytes
    from cosim.simulation.chosen_integrator import DEFAULT as DEFAULT
    from cosim.simulation.chosen_integrator import chosen_integrator as chosen_integrator
    from cosim.simulation.chosen_signals import choose_signals as choose_signals
    from cosim.simulation.event_record import Finding as Finding
    from cosim.simulation.file_digest import file_digest as file_digest
    from cosim.simulation.handled_events import EventLog as EventLog
    from cosim.simulation.interrupt import held_interrupt as held_interrupt
    from cosim.simulation.interrupt import interrupt_between_steps as interrupt_between_steps
    from cosim.simulation.interrupt import seconds_interrupted as seconds_interrupted
    from cosim.simulation.interrupt import uninterrupted as uninterrupted
    from cosim.simulation.interrupt import waited_for_interrupt as waited_for_interrupt
    from cosim.simulation.missing_values import missing_value as missing_value
    from cosim.simulation.objectives import reduced_by as reduced_by
    from cosim.simulation.output_interval import POINTS as POINTS
    from cosim.simulation.output_interval import checked_interval as checked_interval
    from cosim.simulation.output_interval import counted_grid as counted_grid
    from cosim.simulation.output_interval import output_times as output_times
    from cosim.simulation.output_interval import shortest_interval as shortest_interval
    from cosim.simulation.own_files import check_folder as check_folder
    from cosim.simulation.own_files import is_device as is_device
    from cosim.simulation.own_files import space_warning as space_warning
    from cosim.simulation.path_below import path_below as path_below
    from cosim.simulation.python_in_steps import python_in_steps as python_in_steps
    from cosim.simulation.replaced_file import is_draft as is_draft
    from cosim.simulation.replaced_file import replaced_file as replaced_file
    from cosim.simulation.replaced_file import write_whole as write_whole
    from cosim.simulation.result import derivative_name as derivative_name
    from cosim.simulation.result import quotient as quotient
    from cosim.simulation.result_files import result_sink as result_sink
    from cosim.simulation.result_files import save_somewhere as save_somewhere
    from cosim.simulation.simulate import end_of_run as end_of_run
    from cosim.simulation.statistics import Statistics as Statistics
    from cosim.step import failures as failures
    from cosim.step.block_calls import lower_stage as lower_stage
    from cosim.step.failures import EVENT as EVENT
    from cosim.step.failures import FAILED as FAILED
    from cosim.step.failures import GROW as GROW
    from cosim.step.failures import REACHED as REACHED
    from cosim.step.failures import SENTENCES as SENTENCES
    from cosim.step.failures import STEPPED as STEPPED
    from cosim.step.failures import TERMINATED as TERMINATED
    from cosim.step.failures import StepFailure as StepFailure
    from cosim.step.integration import set_accuracy as set_accuracy
    from cosim.step.integration import step_without_states as step_without_states
    from cosim.step.realize import realize as realize
    from cosim.step.recording import SLACK as SLACK
    from cosim.step.sliding_field import sliding_field as sliding_field
    from cosim.system import history_buffer as history_buffer
    from cosim.system.assembly import Assembly as Assembly
    from cosim.system.block_address import python_block_address as python_block_address
    from cosim.system.block_address import seldom_evaluated as seldom_evaluated
    from cosim.system.block_row import BlockRow as BlockRow
    from cosim.system.blocks import Block as Block
    from cosim.system.blocks import Slot as Slot
    from cosim.system.history_buffer import append_to_history as append_to_history
    from cosim.system.history_buffer import break_time as break_time
    from cosim.system.history_buffer import enter_piece as enter_piece
    from cosim.system.history_buffer import entry as entry
    from cosim.system.history_buffer import entry_count as entry_count
    from cosim.system.history_buffer import entry_kind as entry_kind
    from cosim.system.history_buffer import entry_time as entry_time
    from cosim.system.history_buffer import forget_after as forget_after
    from cosim.system.history_buffer import is_open as is_open
    from cosim.system.history_buffer import mark_start as mark_start
    from cosim.system.history_buffer import newest_time as newest_time
    from cosim.system.history_buffer import next_break_order as next_break_order
    from cosim.system.history_buffer import restart_piece as restart_piece
    from cosim.system.history_buffer import trim_history as trim_history
    from cosim.system.kernel_code import KernelCode as KernelCode
    from cosim.system.kernel_code import kernel_code as kernel_code
    from cosim.system.kernel_derivatives import kernel_derivatives as kernel_derivatives
    from cosim.system.projection import Projection as Projection
    from cosim.system.system import check_system as check_system
    from cosim.system.system_adjoints import function_adjoint as function_adjoint
    from cosim.system.system_tangents import block_tangent as block_tangent
    from cosim.system.variable import Variable as Variable
    from cosim.unit_text import unit_product as unit_product
    from cosim.units import conversion as conversion
    from cosim.units import exact_quantity as exact_quantity
    from cosim.units import parse_unit as parse_unit
    from cosim.value_text import quote as quote
    from cosim.walker import BLOCK_SIGNATURE as BLOCK_SIGNATURE
    from cosim.walker import DENSE_SIGNATURE as DENSE_SIGNATURE
    from cosim.walker import PYTHON_SIGNATURE as PYTHON_SIGNATURE
    from cosim.walker import REDO_SIGNATURE as REDO_SIGNATURE
    from cosim.walker import REPEAT_SIGNATURE as REPEAT_SIGNATURE
    from cosim.walker import STEP_SIGNATURE as STEP_SIGNATURE
    from cosim.walker import TANGENT_SIGNATURE as TANGENT_SIGNATURE
    from cosim.walker import WALK as WALK
    from cosim.walker import WALK_SIGNATURE as WALK_SIGNATURE
    from cosim.walker import WalkedDots as WalkedDots
    from cosim.walker import call_block as call_block
    from cosim.walker import call_dense as call_dense
    from cosim.walker import call_step as call_step
    from cosim.walker import call_tangent as call_tangent
    from cosim.walker import repeat_walk as repeat_walk
    from cosim.walker import walk as walk
    from cosim.walker import walk_tangents as walk_tangents
    from cosim_compiler import foreign as foreign
    from cosim_compiler.array_groups import Integers as Integers
    from cosim_compiler.array_groups import Reals as Reals
    from cosim_compiler.array_groups import group_reader as group_reader
    from cosim_compiler.array_groups import head_of as head_of
    from cosim_compiler.calls import compiled_together as compiled_together
    from cosim_compiler.calls import data_of as data_of
    from cosim_compiler.calls import gathering as gathering
    from cosim_compiler.calls import indirect_call as indirect_call
    from cosim_compiler.calls import length_of as length_of
    from cosim_compiler.calls import name_of as name_of
    from cosim_compiler.calls import never_inlined as never_inlined
    from cosim_compiler.calls import plain_address as plain_address
    from cosim_compiler.calls import rarely as rarely
    from cosim_compiler.child_process import forget_safe_spawn as forget_safe_spawn
    from cosim_compiler.child_process import ignore_stop_signals as ignore_stop_signals
    from cosim_compiler.child_process import python_command as python_command
    from cosim_compiler.child_process import python_environment as python_environment
    from cosim_compiler.child_process import python_path as python_path
    from cosim_compiler.child_process import run_process as run_process
    from cosim_compiler.child_process import safe_spawn as safe_spawn
    from cosim_compiler.child_process import signals_held as signals_held
    from cosim_compiler.child_process import start_process as start_process
    from cosim_compiler.collection import without_collection as without_collection
    from cosim_compiler.derivatives.own_tangents import recorded_by as recorded_by
    from cosim_compiler.derivatives.own_tangents import tangent_of as tangent_of
    from cosim_compiler.derivatives.tangents import NoTangentError as NoTangentError
    from cosim_compiler.derivatives.tape_ends import cut_tape as cut_tape
    from cosim_compiler.derivatives.tape_ends import end_of_tape as end_of_tape
    from cosim_compiler.derivatives.tape_ends import pop as pop
    from cosim_compiler.derivatives.tape_ends import push as push
    from cosim_compiler.derivatives.tape_ends import reserve as reserve
    from cosim_compiler.fingerprint import digest_of_module as digest_of_module
    from cosim_compiler.foreign import call_with_array as call_with_array
    from cosim_compiler.foreign import call_with_interval as call_with_interval
    from cosim_compiler.foreign import integers_at as integers_at
    from cosim_compiler.foreign import reals_at as reals_at
    from cosim_compiler.held_interrupts import interrupts_held as interrupts_held
    from cosim_compiler.helper_process import end_with_parent as end_with_parent
    from cosim_compiler.helper_process import kill_with_parent as kill_with_parent
    from cosim_compiler.kept_loops import with_loops_kept as with_loops_kept
    from cosim_compiler.kernel_cache import read_cached as read_cached
    from cosim_compiler.kernel_cache import write_cached as write_cached
    from cosim_compiler.language.known_arrays import KnownArray as KnownArray
    from cosim_compiler.language.types import COLUMNS_IN_GROUP as COLUMNS_IN_GROUP
    from cosim_compiler.machine import emit_object as emit_object
    from cosim_compiler.machine import llvm_versions as llvm_versions
    from cosim_compiler.machine import plainest_processor as plainest_processor
    from cosim_compiler.names_at_rest import names_at_rest as names_at_rest
    from cosim_compiler.names_in_reach import environment as environment
    from cosim_compiler.native import c_address as c_address
    from cosim_compiler.native import compile_function as compile_function
    from cosim_compiler.native import function_address as function_address
    from cosim_compiler.native import is_plain as is_plain
    from cosim_compiler.native import lower as lower
    from cosim_compiler.native import lower_to_c as lower_to_c
    from cosim_compiler.native import release_address as release_address
    from cosim_compiler.printers.c_lowered import LoweredC as LoweredC
    from cosim_compiler.printers.c_lowered import parameters_in_c as parameters_in_c
    from cosim_compiler.python_calls import compiled as compiled
    from cosim_compiler.python_calls import prepared_call as prepared_call
    from cosim_compiler.record import Record as Record
    from cosim_compiler.record import place_in as place_in
    from cosim_compiler.record import rows_of as rows_of
    from cosim_compiler.record import width_of as width_of
    from cosim_compiler.record_header import c_header as c_header
    from cosim_compiler.shipped import shipped_content as shipped_content
    from cosim_compiler.sine_pairs import with_sine_pairs as with_sine_pairs
    from cosim_compiler.sources.flatten import flattened as flattened
    from cosim_compiler.sources.kernel_rules import check_rules as check_rules
    from cosim_compiler.sources.run_source import run_source as run_source
    from cosim_compiler.sources.side_functions import nearer_side as nearer_side
    from cosim_compiler.tables import as_table as as_table

else:
    from cosim.registration.late_names import late_names

    __getattr__, __dir__ = late_names(__name__)
