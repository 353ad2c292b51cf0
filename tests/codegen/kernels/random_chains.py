"""Random fusions: several moves of elements one after the other, with arithmetic between them."""

from collections.abc import Callable

import numpy as np

from tests.codegen.kernels.module_texts import listed
from tests.codegen.kernels.random_moves import Chooser, Module

_KINDS = ("f32", "s32", "u8", "bf16", "pred")
_MOST = 4000


class Chain:
    """A fusion while it is built; `name` and `sizes` are those of its last instruction."""

    def __init__(self, seed: int) -> None:
        self.choose = Chooser(seed)
        self.kind = self.choose.one(_KINDS)
        self.sizes = self.choose.sizes(self.choose.number(1, 3), 600)
        self.parameters = [self.choose.shape(self.kind, self.sizes)]
        self.body: list[str] = []
        self.name = "p0"

    def module(self, length: int) -> Module:
        """Returns the fusion after so many instructions."""
        steps: list[Callable[[], None]] = [
            self.transpose, self.reshape, self.pad, self.slice, self.reverse, self.broadcast,
            self.concatenate, self.dynamic_slice, self.update, self.gather, self.compute,
        ]  # fmt: skip
        for _ in range(length):
            steps[self.choose.number(0, len(steps) - 1)]()
        root = self.body.pop().partition(" = ")[2] if self.body else f"{self.shape()} copy(p0)"
        return Module(root, self.parameters, body=self.body or ["unused = s32[] constant(0)"])

    def shape(self) -> str:
        """Returns the shape of the last instruction, row-major."""
        return f"{self.kind}[{listed(self.sizes)}]"

    def add(self, sizes: list[int], text: str) -> None:
        """Adds an instruction."""
        self.sizes = sizes
        name = f"v{len(self.body)}"
        self.body.append(f"{name} = {self.shape()} {text}")
        self.name = name

    def parameter(self, kind: str, sizes: list[int]) -> str:
        """Returns a new parameter, in any layout."""
        self.parameters.append(self.choose.shape(kind, sizes))
        return f"p{len(self.parameters) - 1}"

    def transpose(self) -> None:
        """Permutes dimensions."""
        order = [int(d) for d in self.choose.random.permutation(len(self.sizes))]
        sizes = [self.sizes[d] for d in order]
        self.add(sizes, f"transpose({self.name}), dimensions={{{listed(order)}}}")

    def reshape(self) -> None:
        """Regroups the factors of the dimensions."""
        factors, rest = [], int(np.prod(self.sizes))
        for prime in (2, 3, 5, 7, 11, 13):
            while rest % prime == 0:
                factors.append(prime)
                rest //= prime
        sizes = [1] * self.choose.number(1, 4)
        for factor in [*factors, rest]:
            sizes[self.choose.number(0, len(sizes) - 1)] *= factor
        self.add(sizes, f"reshape({self.name})")

    def pad(self) -> None:
        """Pads, at edges and between."""
        paddings, sizes = [], []
        for size in self.sizes:
            low, high = self.choose.number(-1, 3), self.choose.number(-1, 3)
            between = 1 if self.choose.random.random() < 0.2 else 0
            padded = low + size + (size - 1) * between + high
            if padded <= 0:
                low, high, between, padded = 0, 0, 0, size
            paddings.append(f"{low}_{high}_{between}")
            sizes.append(padded)
        if np.prod(sizes) <= _MOST:
            value = self.parameter(self.kind, [])
            self.add(sizes, f"pad({self.name}, {value}), padding={'x'.join(paddings)}")

    def slice(self) -> None:
        """Takes a part."""
        ranges, sizes = [], []
        for size in self.sizes:
            begin = self.choose.number(0, size // 2)
            end, step = self.choose.number(max(begin + 1, size - 2), size), self.choose.number(1, 2)
            ranges.append(f"[{begin}:{end}:{step}]")
            sizes.append(-(-(end - begin) // step))
        self.add(sizes, f"slice({self.name}), slice={{{', '.join(ranges)}}}")

    def reverse(self) -> None:
        """Turns some dimensions round."""
        turned = [d for d in range(len(self.sizes)) if self.choose.random.random() < 0.5]
        self.add(self.sizes, f"reverse({self.name}), dimensions={{{listed(turned)}}}")

    def broadcast(self) -> None:
        """Repeats along a new dimension."""
        place, size = self.choose.number(0, len(self.sizes)), self.choose.number(1, 5)
        if np.prod(self.sizes) * size > _MOST or len(self.sizes) > 4:
            return
        kept = [d + (d >= place) for d in range(len(self.sizes))]
        sizes = [*self.sizes[:place], size, *self.sizes[place:]]
        self.add(sizes, f"broadcast({self.name}), dimensions={{{listed(kept)}}}")

    def concatenate(self) -> None:
        """Puts another array, or the same one, behind or before."""
        joined = self.choose.number(0, len(self.sizes) - 1)
        other, more = self.name, self.sizes[joined]
        if self.choose.random.random() < 0.6:
            more = self.choose.number(1, 6)
            sizes = [more if d == joined else n for d, n in enumerate(self.sizes)]
            other = self.parameter(self.kind, sizes)
        sizes = [n + more if d == joined else n for d, n in enumerate(self.sizes)]
        if np.prod(sizes) <= _MOST:
            pair = [self.name, other]
            names = ", ".join(pair if self.choose.number(0, 1) else pair[::-1])
            self.add(sizes, f"concatenate({names}), dimensions={{{joined}}}")

    def dynamic_slice(self) -> None:
        """Takes a part from anywhere."""
        sizes = [self.choose.number(max(1, n - 3), n) for n in self.sizes]
        starts = ", ".join(self.parameter("s32", []) for _ in sizes)
        part = f"dynamic-slice({self.name}, {starts}), dynamic_slice_sizes={{{listed(sizes)}}}"
        self.add(sizes, part)

    def update(self) -> None:
        """Replaces a part."""
        sizes = [self.choose.number(max(1, n // 2), n) for n in self.sizes]
        part = self.parameter(self.kind, sizes)
        starts = ", ".join(self.parameter("s32", []) for _ in sizes)
        self.add(self.sizes, f"dynamic-update-slice({self.name}, {part}, {starts})")

    def gather(self) -> None:
        """Takes rows at indices."""
        count = self.choose.number(1, 9)
        indices = self.parameter("u8", [count])
        rest = self.sizes[1:]
        if count * np.prod(rest) > _MOST:
            return
        offsets = listed(range(1, len(self.sizes)))
        self.add(
            [count, *rest],
            f"gather({self.name}, {indices}), offset_dims={{{offsets}}}, index_vector_dim=1,"
            f" collapsed_slice_dims={{0}}, start_index_map={{0}},"
            f" slice_sizes={{{listed([1, *rest])}}}",
        )

    def compute(self) -> None:
        """Computes with another array, which lies in any layout."""
        other = self.parameter(self.kind, self.sizes)
        opcode = "xor" if self.kind == "pred" else "multiply"
        self.add(self.sizes, f"{opcode}({self.name}, {other})")


def chain(seed: int) -> Module:
    """Returns a random fusion."""
    found = Chain(seed)
    return found.module(2 + seed % 5)
