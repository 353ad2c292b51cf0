"""What the reference prints, asked of it in a process of its own: it may abort."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

_CHILD = """
import json, sys
from jaxlib import _hlo

wanted, results = sys.argv[1:]
with open(results, "w") as out:
    for path in json.load(open(wanted)):
        # Said before the attempt: if the reference aborts, the last line names the text.
        print(json.dumps({"path": path}), file=out, flush=True)
        try:
            module = _hlo.hlo_module_from_text(open(path, newline="").read())
        except Exception as error:
            print(json.dumps({"path": path, "error": str(error)}), file=out, flush=True)
            continue
        canonical = _hlo.HloPrintOptions.canonical()
        short = _hlo.HloPrintOptions.short_parsable()
        fingerprint = _hlo.HloPrintOptions.fingerprint()
        long = _hlo.HloPrintOptions()
        long.print_large_constants = True
        long.print_operand_shape = True
        prints = {
            "default": module.to_string(),
            "canonical": module.to_string(canonical),
            "short-parsable": module.to_string(short),
            "fingerprint": module.to_string(fingerprint),
            "long": module.to_string(long),
        }
        print(json.dumps({"path": path, "prints": prints}), file=out, flush=True)
"""


class Answer:
    """What the reference makes of one text: its prints by preset, or an error."""

    def __init__(self, prints: dict[str, str] | None, error: str) -> None:
        self.prints = prints
        self.error = error


def ask(paths: list[Path]) -> dict[Path, Answer]:
    """Returns the reference's answer for each file; an abort is an error of that file."""
    answers: dict[Path, Answer] = {}
    waiting = list(paths)
    while waiting:
        with tempfile.TemporaryDirectory() as folder:
            wanted, results = Path(folder, "wanted.json"), Path(folder, "results.jsonl")
            wanted.write_text(json.dumps([str(path) for path in waiting]))
            child = subprocess.run(
                [sys.executable, "-c", _CHILD, str(wanted), str(results)],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            lines = [json.loads(line) for line in results.read_text().splitlines()]
        if not lines:
            raise RuntimeError(f"the reference does not start: {child.stderr[-2000:]}")
        for line in lines:
            error = line.get("error", "the reference aborted")
            answers[Path(line["path"])] = Answer(line.get("prints"), error)
        waiting = [path for path in waiting if path not in answers]
    return answers
