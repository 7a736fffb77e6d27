"""The kernel language: its types, its typed form, and how a Python function becomes one.

Read the files in this order: `types`, `typed_form`, `refusal`, `constants`, `lifetimes`, `reading`,
`program`, `function_reader`, `loops`, `statements`, `expressions`, `operators`, `calls`, `builtins`. The
whole language is on one page, docs/kernel-language.md.
"""
