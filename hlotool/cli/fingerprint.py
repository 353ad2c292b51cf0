"""`hlotool fingerprint`: prints digests that are equal for modules that mean the same."""

from __future__ import annotations

import json
from argparse import Namespace

from hlotool.analysis.fingerprint import fingerprint
from hlotool.cli.arguments import ArgumentParser, add_inputs, add_json, add_verify
from hlotool.cli.modules import inputs
from hlotool.cli.outputs import print_text
from hlotool.cli.rendering import printable
from hlotool.cli.report import Report

OPERANDS = "FILE ..."
EXAMPLES = """\
  hlotool fingerprint one.hlo other.hlo.pb     the same but for names and order?
  hlotool fingerprint dumps | sort             group the modules of a folder
  hlotool fingerprint --json *.hlo             a line of JSON for each module
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the options of the command."""
    add_inputs(parser, folders="the .hlo and .hlo.pb files and texts of modules in a dump")
    add_verify(parser)
    add_json(parser, "a line of JSON for each module: file, module, fingerprint")


def run(arguments: Namespace, report: Report) -> int:
    """Prints the fingerprint of each module."""
    for unread in inputs(arguments, report, folders=True):
        with report.errors_of(unread.name):
            module = unread.read(lenient=arguments.lenient, verified=arguments.verify)
            report.warnings(module, unread.name)
            digest = fingerprint(module)
            if arguments.json:
                fields = {"file": unread.name, "module": module.name, "fingerprint": digest}
                print_text(json.dumps(fields) + "\n")
            else:
                print_text(f"{digest}  {printable(unread.name)}\n")
    return report.exit_code
