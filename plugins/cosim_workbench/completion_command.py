"""``cosim completion SHELL``."""

from __future__ import annotations

import argparse
from importlib.resources import files
from typing import ClassVar

import cosim
from cosim_workbench.completion import candidates

SHELLS = ("bash", "zsh", "fish")


class CompletionCommand(cosim.Command):
    """Print the script with which a shell completes commands, options, ids, signals and files."""

    name: ClassVar[str] = "completion"
    summary: ClassVar[str] = "print a script for command completion in bash, zsh or fish"
    examples = (
        (
            "cosim completion bash > ~/.local/share/bash-completion/completions/cosim",
            "from the next shell on",
        ),
        ('eval "$(cosim completion bash)"', "in this shell only"),
        ("cosim completion zsh > ~/.zfunc/_cosim", "with `fpath+=~/.zfunc` before `compinit` in .zshrc"),
        ("cosim completion fish > ~/.config/fish/completions/cosim.fish", ""),
    )

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the choice of the shell; the scripts ask with --answer."""
        parser.add_argument("shell", nargs="?", choices=SHELLS, help="the shell")
        parser.add_argument("--answer", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)

    def run(self, arguments: argparse.Namespace) -> int:
        """Print the script, or what fits the words of a line."""
        if arguments.answer is not None:
            for word, text in candidates(arguments.answer):
                print(f"{word}\t{text}" if text else word)
            return 0
        if arguments.shell is None:
            raise cosim.CosimError(f"cosim completion: which shell? There are: {', '.join(SHELLS)}.")
        script = (files("cosim_workbench") / "templates" / f"completion_{arguments.shell}.txt").read_text(
            "utf-8"
        )
        self.report(script=script)
        print(script, end="")
        return 0
