"""Runs the command line: `python -m hlotool` is `hlotool`."""

from __future__ import annotations

import sys

from hlotool.cli.driver import main

if __name__ == "__main__":
    sys.exit(main())
