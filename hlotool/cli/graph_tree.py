"""A module as a tree on the terminal: instructions, and what is inside fusions, loops, calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hlotool.cli.outputs import STDOUT, encode, write_file
from hlotool.cli.rendering import printable, shortened
from hlotool.cli.tables import GLUE, WIDEST, drawn, print_drawn
from hlotool.cli.units import byte_text, count_text
from hlotool.graph.arguments import Arguments
from hlotool.graph.model import Called, ModuleGraph, called_by, is_folded, unrepeated
from hlotool.graph.palette import LIGHT
from hlotool.graph.selection import DEEPEST, Choice, Selection
from hlotool.ir.appearance import Drawn
from hlotool.ir.instruction import Instruction

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree

_MOST_OPERANDS = 6
_LONGEST_SHAPE = 48


def print_tree(graph: ModuleGraph, selection: Selection, choice: Choice, path: str) -> None:
    """Writes what is selected as a tree to a file or standard output.

    Constants stand with their users.
    """
    tree = _Growing(graph, selection, choice).grown()
    if path == STDOUT:
        print_drawn(tree)
    else:
        write_file(path, encode(drawn(tree, columns=WIDEST, colour=False)))


class _Growing:
    def __init__(self, graph: ModuleGraph, selection: Selection, choice: Choice) -> None:
        self._graph = graph
        self._selection = selection
        self._choice = choice
        self._left = choice.most_nodes
        self._left_out = selection.left_out
        self._arguments = Arguments()

    def grown(self) -> Tree:
        from rich.text import Text
        from rich.tree import Tree

        computation = self._selection.computation
        entry = "ENTRY " if computation is self._graph.module.entry else ""
        tree = Tree(Text(printable(f"{entry}{computation.name}"), "bold"), guide_style="dim")
        self._add(tree, self._selection.instructions, 0)
        if self._left_out:
            tree.add(Text(f"… {self._left_out:,} more", "dim"))
        return tree

    def _add(self, tree: Tree, instructions: list[Instruction], depth: int) -> None:
        for instruction in instructions:
            if instruction in self._arguments or is_folded(instruction):
                continue
            if self._left is not None:
                if not self._left:
                    self._left_out += 1
                    continue
                self._left -= 1
            branch = tree.add(self._line(instruction))
            bodies = [called for called in called_by(instruction) if called.is_inside]
            if not self._choice.top_level and depth < DEEPEST:
                for called in bodies:
                    self._add_body(branch, instruction, called, depth)

    def _add_body(self, branch: Tree, caller: Instruction, called: Called, depth: int) -> None:
        from rich.text import Text

        body = called.computation
        instructions = self._graph.instructions(body)
        # The body of a fusion or a call needs no line of its own: there is just one.
        if caller.op.drawn in {Drawn.FUSION, Drawn.CALL}:
            with self._arguments.passed(caller, body):
                self._add(branch, instructions, depth + 1)
        else:
            branch = branch.add(Text(printable(f"{called.part}: {body.name}"), "italic"))
            self._add(branch, instructions, depth + 1)

    def _line(self, instruction: Instruction) -> Text:
        from rich.text import Text

        tint = LIGHT.tints[self._graph.category(instruction)]
        is_marked = instruction in self._selection.marked
        line = Text(overflow="fold")
        line.append(printable(instruction.name), "bold reverse" if is_marked else "bold")
        line.append("  ")
        line.append(printable(self._head(instruction)), tint.line)
        line.append(f"  {shortened(instruction.shape.plain_text, _LONGEST_SHAPE)}")
        if instruction.operands:
            line.append(f"  ← {printable(self._operands(instruction))}", "dim")
        costs = self._costs(instruction)
        if costs:
            line.append(f"  {costs}", "dim italic")
        if instruction.is_root:
            line.append("  root", "bold")
        return line

    def _head(self, instruction: Instruction) -> str:
        number = instruction.op.parameter_number
        title = self._graph.title(instruction)
        if instruction.op.is_fusion:
            return f"fusion: {title}"
        return title if number is None else f"{title}({number})"

    def _costs(self, instruction: Instruction) -> str:
        cost = self._graph.cost(instruction)
        operations = cost.flops + cost.transcendentals
        parts = [count_text(operations, "flop")] if operations else []
        if cost.bytes_accessed:
            parts.append(byte_text(cost.bytes_accessed))
        return ", ".join(part.replace(" ", GLUE) for part in parts)

    def _operands(self, instruction: Instruction) -> str:
        meant = map(self._arguments.meant, instruction.operands)
        shown = [unrepeated(o).op.short_value if is_folded(o) else o.name for o in meant]
        left = len(shown) - _MOST_OPERANDS
        more = f", … {left} more" if left > 0 else ""
        return ", ".join(shown[:_MOST_OPERANDS]) + more
