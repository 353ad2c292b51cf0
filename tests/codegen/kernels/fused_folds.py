"""Random bodies of kernels that fold: what is before the folds, what uses them, what is stored."""

from collections.abc import Sequence

import numpy as np

from tests.codegen.kernels.module_texts import listed, reducer
from tests.codegen.kernels.one_kernel import Array

_SIZES = (1, 2, 3, 4, 7, 16, 19, 32, 35, 64, 96)
_MOST = 12_000


class RandomBody:
    """The text of a module with one fusion, and arguments for it."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._parameters: list[tuple[str, tuple[int, ...]]] = []
        self._lines: list[str] = []
        self.sizes = self._some_sizes()
        rank = len(self.sizes)
        self.folded = tuple(sorted({int(d) for d in self._random.integers(0, rank, rank)}))
        self.kept = tuple(n for d, n in enumerate(self.sizes) if d not in self.folded)
        self.text = self._module()

    def arguments(self) -> list[Array]:
        """Returns an array for each parameter."""
        return [self._random.standard_normal(sizes).astype("f4") for _, sizes in self._parameters]

    def _some_sizes(self) -> tuple[int, ...]:
        sizes = [int(self._random.choice(_SIZES)) for _ in range(self._random.integers(1, 5))]
        while np.prod(sizes) > _MOST:
            sizes[int(np.argmax(sizes))] = 5
        return tuple(sizes)

    def _layout(self, rank: int) -> str:
        if not rank:
            return ""
        order = list(range(rank))[::-1]
        if self._random.integers(0, 3) == 0:
            self._random.shuffle(order)
        return f"{{{listed(order)}}}"

    def _shape(self, sizes: Sequence[int]) -> str:
        return f"f32[{listed(sizes)}]"

    def _parameter(self, sizes: Sequence[int]) -> str:
        name = f"p{len(self._parameters)}"
        shape = self._shape(sizes) + self._layout(len(sizes))
        self._lines.append(f"{name} = {shape} parameter({len(self._parameters)})")
        self._parameters.append((shape, tuple(sizes)))
        return name

    def _add(self, sizes: Sequence[int], what: str) -> str:
        name = f"v{len(self._lines)}"
        self._lines.append(f"{name} = {self._shape(sizes)} {what}")
        return name

    def _spread(self, name: str) -> str:
        kept = [d for d in range(len(self.sizes)) if d not in self.folded]
        return self._add(self.sizes, f"broadcast({name}), dimensions={{{listed(kept)}}}")

    def _element(self) -> str:
        """Returns an array of all sizes: a parameter, perhaps seen in another way."""
        rank, sizes = len(self.sizes), self.sizes
        match self._random.integers(0, 6):
            case 0:
                order = [int(d) for d in self._random.permutation(rank)]
                moved = self._parameter([sizes[order.index(d)] for d in range(rank)])
                return self._add(sizes, f"transpose({moved}), dimensions={{{listed(order)}}}")
            case 1:
                longer = self._parameter([n + 2 for n in sizes])
                bounds = ", ".join(f"[1:{n + 1}]" for n in sizes)
                return self._add(sizes, f"slice({longer}), slice={{{bounds}}}")
            case 2:
                dimension = int(self._random.integers(0, rank))
                one = self._parameter(sizes)
                return self._add(sizes, f"reverse({one}), dimensions={{{dimension}}}")
            case 3:
                flat = self._parameter([int(np.prod(sizes))])
                return self._add(sizes, f"reshape({flat})")
            case 4:
                return self._spread(self._parameter(self.kept))
        return self._parameter(sizes)

    def _fold(self, name: str) -> str:
        op = str(self._random.choice(["add", "maximum"]))
        initial = "zero" if op == "add" else "least"
        away = f"dimensions={{{listed(self.folded)}}}"
        return self._add(self.kept, f"reduce({name}, {initial}), {away}, to_apply={op}s")

    def _module(self) -> str:
        self._lines += ["zero = f32[] constant(0)", "least = f32[] constant(-1000)"]
        one = self._add(self.sizes, f"multiply({self._element()}, {self._element()})")
        outputs = []
        values = [self._fold(one)]
        for _ in range(self._random.integers(0, 3)):
            less = self._add(self.sizes, f"subtract({one}, {self._spread(values[-1])})")
            function = str(self._random.choice(["tanh", "negate", "logistic"]))
            one = self._add(self.sizes, f"{function}({less})")
            if self._random.integers(0, 2):
                values.append(self._fold(one))
            if self._random.integers(0, 3) == 0:
                outputs.append((one, self.sizes))
        both = self._add(self.kept, f"add({values[0]}, {values[-1]})")
        outputs.append((both, self.kept))
        if self._random.integers(0, 2):
            outputs.append((one, self.sizes))
        return self._text(dict(outputs))

    def _text(self, outputs: dict[str, tuple[int, ...]]) -> str:
        # Layouts of results are those that the body's instructions have.
        shapes = ", ".join(self._shape(sizes) for sizes in outputs.values())
        lines = "\n  ".join([*self._lines, f"ROOT r = ({shapes}) tuple({', '.join(outputs)})"])
        given = "\n  ".join(
            f"p{n} = {shape} parameter({n})" for n, (shape, _) in enumerate(self._parameters)
        )
        names = ", ".join(f"p{n}" for n in range(len(self._parameters)))
        return f"""HloModule fused_folds
{reducer("add", "f32", "adds")}
{reducer("maximum", "f32", "maximums")}
fused {{
  {lines}
}}
ENTRY main {{
  {given}
  ROOT r = ({shapes}) fusion({names}), kind=kInput, calls=fused
}}
"""
