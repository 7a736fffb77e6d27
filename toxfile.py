"""tox reads this: plain `tox` runs two environments at a time, as `tox --parallel 2 --parallel-live` does.

Installing packages and checking types occupy one processor each; `tox.ini` has no setting for it.
"""

from tox.config.sets import ConfigSet
from tox.plugin import impl
from tox.session.state import State


@impl
def tox_add_core_config(core_conf: ConfigSet, state: State) -> None:
    """Say what the command line leaves open: `-e` and `--parallel` decide for themselves."""
    options = state.conf.options
    is_plain = options.command == "legacy" and options.env.is_default_list
    if is_plain and not options.parallel:
        options.parallel, options.parallel_live = 2, True
