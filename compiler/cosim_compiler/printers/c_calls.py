"""Calls as C: of functions of the program, of machine code at an address, and of linked functions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.typed_form import Expression
from cosim_compiler.language.types import NOTHING, WHOLE, Type, View, types_of
from cosim_compiler.printers.c_names import words_of
from cosim_compiler.printers.c_order import OrderedWriter


class CallWriter(OrderedWriter):
    """Writes calls. A function that may raise returns a status, and writes its result to an address."""

    tries: list[Any]

    @abstractmethod
    def return_status(self, status: str) -> str:
        """The statement that passes a status on: to the `except` around it, else to the caller."""

    def at_top(self, node: Expression) -> str:
        """The text of an expression that has a line of its own, so that a call may stand in it."""
        if isinstance(node, form.Call) and not node.function.raises:
            return self.call(node)
        return self.of(node)

    def _call(self, node: form.Call) -> str:
        text = self.call(node)
        if node.type is NOTHING or node.function.raises:
            if text and node.type is NOTHING:
                self.line(f"{text};")
                return ""
            return text
        return self.named(node.type, text)

    def call(self, node: form.Call) -> str:
        """The text of a call; of a function that may raise, the name of its result."""
        function, arguments = node.function, self.in_order(node.arguments)
        name = self.names[function.symbol]
        if not function.raises:
            return f"{name}({', '.join(arguments)})"
        result = ""
        if function.result is not NOTHING:
            result = self.declare_result(function.result)
            arguments.append(f"&{result}")
        self._check_status(f"{name}({', '.join(arguments)})")
        return result

    def declare_result(self, result: Type) -> str:
        """Declare a variable for a result that a function writes at an address; its name."""
        name = self.new("result")
        kind = "int64_t" if result is NOTHING else self.types[result]
        self.line(f"{kind} {name}{self.zero(result)};")
        return name

    def _check_status(self, call: str) -> None:
        """Write a call, and pass its status on unless that is 0."""
        if not self.function.raises and not self.tries:  # the called function never raises
            self.line(f"(void){call};")
            return
        if self.status is None:
            self.status = self.new("status")
            self.room.append(f"    int32_t {self.status};")
        self.line(f"if (({self.status} = {call}) != 0) {self.return_status(self.status)}")

    def machine_arguments(self, arguments: Sequence[Expression], texts: Sequence[str]) -> list[str]:
        """The texts of arguments as machine code takes them: of a view its address and its lengths."""
        passed = []
        for argument, text in zip(arguments, texts, strict=True):
            if isinstance(argument.type, View):
                held = text if self.is_short(argument, text) else self.named(argument.type, text)
                passed += [f"{held}.at", f"{held}.n", *([f"{held}.m"] if argument.type.axes == 2 else [])]
            else:
                passed.append(text)
        return passed

    def _calladdress(self, node: form.CallAddress) -> str:
        address, *texts = self.in_order([node.address, *node.arguments])
        arguments = self.machine_arguments(node.arguments, texts)
        kinds = [kind for argument in node.arguments for kind in words_of(argument.type, self.types)]
        if node.kind == form.FOREIGN:
            called = f"((int32_t (*)({', '.join(kinds)}))(intptr_t)({address}))"
            return self.named(WHOLE, f"{called}({', '.join(arguments)})")
        result = types_of(node.signature)[1]
        room = self.declare_result(result)
        if result is not NOTHING:
            self.line(f"{room} = 0;")
        called = f"((int32_t (*)({', '.join(['void *', *kinds])}))(intptr_t)({address}))"
        call = f"{called}({', '.join([f'&{room}', *arguments])})"
        if node.kind == form.STATUS:
            return self.named(WHOLE, f"{call} != 0")
        self.line(f"{call};")
        return "" if result is NOTHING else room

    def _calllinked(self, node: form.CallLinked) -> str:
        arguments = self.machine_arguments(node.arguments, self.in_order(node.arguments))
        kinds = ["void *", *(kind for a in node.arguments for kind in words_of(a.type, self.types))]
        self.declared[node.symbol] = f"int32_t {node.symbol}({', '.join(kinds)});"
        room = self.declare_result(node.type)
        self._check_status(f"{node.symbol}({', '.join([f'&{room}', *arguments])})")
        return "" if node.type is NOTHING else room
