"""The kernel language: its types, its typed form, and how a Python function becomes one.

The whole language is on one page, docs/kernel-language.md. The files, in the order in which to read them:

- the typed form: `types`, `typed_form`, `statement_parts`, `control_flow`
- reading a function: `program`, `function_reader`, `statements`, `loops`, `expressions`, `operators`; with
  `reading` (their interface for the next ones), `lifetimes`, `constants` and `refusal`
- reading a call: `calls`, `builtins`, `tables`, `helper_calls`, `address_calls`, `call_arguments`; `special`
  has functions of `math` that are written in the language
- faults in what a function reads and writes: `verdict`, `written_paths`, `followed_views`, `out_of_bounds`,
  `unwritten`, `known_values`
- what each result depends on: `flows`, `read_elements`, `written_parameters`, `kept_flows`; element by
  element, for derivatives: `element_flows`, `expression_flows`, `flow_values`
- for libraries of one model: `simplifier`, `known_arrays`, `single_turn`
"""
