"""Makes `hlo.desc`, the form in which the schema reaches Python, from `hlo.proto`.

A developer's step: it needs grpcio-tools, which reading and writing protos does not.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
SCHEMA = FOLDER / "hlo.proto"
DESCRIPTOR = FOLDER / "hlo.desc"


def compile_schema(target: Path = DESCRIPTOR) -> None:
    """Writes the compiled schema to `target`; raises `CalledProcessError` where it is wrong."""
    subprocess.run(  # noqa: S603  # our own arguments
        [
            *(sys.executable, "-m", "grpc_tools.protoc"),
            f"--proto_path={FOLDER}",
            f"--descriptor_set_out={target}",
            SCHEMA.name,
        ],
        check=True,
    )


if __name__ == "__main__":
    compile_schema()
