"""Which way the lanes of a kernel that folds run: along its rows, or over several of them."""

from __future__ import annotations

from hlotool.codegen.kernels.folds.reductions_plan import Plan


def orientation(plan: Plan, lanes: int) -> tuple[bool, int]:
    """Returns whether lanes are elements of a row, and else how many rows lie side by side."""
    if not plan.rows:
        return True, 1
    is_row = [label in plan.rows for label in plan.order]
    rows = _last_group(plan, [label for label in plan.order if label in plan.rows])
    if any(sweep.is_in_order for sweep in plan.sweeps) and rows > 1:
        return False, rows
    if is_row[-1]:
        return (rows < 4 and plan.row_elements >= 2 * lanes), rows
    folded = 1
    for label in reversed(plan.order):
        if label in plan.rows:
            break
        folded *= plan.sizes[label]
    return (folded >= 2 * lanes or rows < 4), rows


def _last_group(plan: Plan, rows: list[int]) -> int:
    """Returns how many rows the labels at the end have that are side by side in memory."""
    found = plan.sizes[rows[-1]]
    for label, after in zip(reversed(rows[:-1]), reversed(rows), strict=False):
        if plan.order.index(after) != plan.order.index(label) + 1:
            break
        found *= plan.sizes[label]
    return found
