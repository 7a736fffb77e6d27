"""Functions for kernel functions beside those of `math`: ``from cosim.functions import clip, solve``.

NumPy's names with NumPy's meaning; the page on the kernel language lists them.
"""

from cosim_compiler.functions import clip as clip
from cosim_compiler.functions import dot as dot
from cosim_compiler.functions import interp as interp
from cosim_compiler.functions import matmul as matmul
from cosim_compiler.functions import norm as norm
from cosim_compiler.functions import sign as sign
from cosim_compiler.functions import solve as solve
from cosim_compiler.functions import transpose as transpose
from cosim_compiler.functions import where as where
from cosim_compiler.functions import zeros as zeros
