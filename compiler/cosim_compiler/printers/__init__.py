"""Writing the typed form: as LLVM's text, as C, for readers.

- LLVM's text: `llvm` writes functions, by `llvm_values`, `llvm_arithmetic` and `llvm_frame`; `llvm_entries`
lets
  others call them; `llvm_lowered` is for libraries without Python.
- C: `c99` writes functions, by `c_values` and its bases; `c_lines` makes the text shorter; `c_entries` lets
others
  call them; `c_lowered` is for libraries without Python.
- For readers: `plain_text`.
"""
