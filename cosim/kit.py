"""What builders of integrators, dynamics solvers, masters and exporters need, beyond what `import cosim` shows.

Authors of components do not need it. It is as stable as the contract version says, as `cosim` is.

================= ==============================================================================================
machine code      `compiled` and `compile_function` make a kernel function callable, `function_address` gives
                  its address, `lower` its text for other processors (with `entry_point` and `MachineCode`)
calls by address  `walk` (blocks of a schedule), `call_step`, `call_dense`, `call_block`, and the signatures
integrators       `method_layout` and its names: the arrays that compiled steps work in; `MethodKernels`,
                  `Capabilities`, `StepCode`; `project` and its companions, for ends of steps that meet constraints
solvers           `Assembly`, `Block`, `Slot`, `Projection`: what a solver is given, and what it gives back
histories         the functions that look inside a history (`append_to_history`, `delayed_value` …)
the Step          its arrays, tables and entry points, for hosts without Python: `step_layout`, `Tables` …
co-simulation     `Course`, `Exchange`, `InnerPoint`, `ParticipantVariable`, `CalledSimulator`
registry          `Registry`, `use_registry`, `Entry`, `PluginRecord`: other registries than the installed one
text              units (`parse_unit`, `conversion`), patterns (`matches`), the nearest name (`nearest`)
================= ==============================================================================================
"""

from cosim.compiled.fingerprint import environment as environment
from cosim.compiled.foreign import call_with_array as call_with_array
from cosim.compiled.foreign import call_with_interval as call_with_interval
from cosim.compiled.llvm_text import without_strings as without_strings
from cosim.compiled.lowered_calls import called_signatures as called_signatures
from cosim.compiled.lowered_code import entry_point as entry_point
from cosim.compiled.machine_code import MachineCode as MachineCode
from cosim.compiled.native import compile_function as compile_function
from cosim.compiled.native import function_address as function_address
from cosim.compiled.native import is_plain as is_plain
from cosim.compiled.native import lower as lower
from cosim.compiled.native import part_name as part_name
from cosim.compiled.native import python_block_address as python_block_address
from cosim.compiled.native import release_address as release_address
from cosim.compiled.silent import compiled as compiled
from cosim.compiled.walker import BLOCK_SIGNATURE as BLOCK_SIGNATURE
from cosim.compiled.walker import DENSE_SIGNATURE as DENSE_SIGNATURE
from cosim.compiled.walker import REDO_SIGNATURE as REDO_SIGNATURE
from cosim.compiled.walker import REPEAT_SIGNATURE as REPEAT_SIGNATURE
from cosim.compiled.walker import STEP_SIGNATURE as STEP_SIGNATURE
from cosim.compiled.walker import WALK_SIGNATURE as WALK_SIGNATURE
from cosim.compiled.walker import call_block as call_block
from cosim.compiled.walker import call_dense as call_dense
from cosim.compiled.walker import call_step as call_step
from cosim.compiled.walker import plain_address as plain_address
from cosim.compiled.walker import repeat_walk as repeat_walk
from cosim.compiled.walker import walk as walk
