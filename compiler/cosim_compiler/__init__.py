"""Machine code of plain Python functions: compiled, cached, and shipped with releases.

It stands below the kernel, knows nothing of systems, States and Steps, and imports nothing of `cosim`. Others
use it through `cosim.kit`.

`sources` reads what functions say, and what is wrong with them; `language` makes the typed form of them, and
`printers` LLVM's text, C or plain Python of that; `native` is what the kernel calls.
"""
