"""The command `readgate`: which subcommands there are. Each one's work is in its own module, imported when asked for.

Exit codes: 0 done, 1 failed or blocked, 2 used wrongly. `ask`, `policy` and `config` need the base install alone.
"""

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = _parser().parse_args(argv)
    match arguments.command:
        case "serve":
            from deployments.cli_serve import serve  # noqa: PLC0415 - Ray takes a second to import

            return serve(arguments.config)
        case "ask":
            from deployments.cli_ask import ask  # noqa: PLC0415 - so that each command loads its own

            return ask(arguments)
        case "config":
            from deployments.cli_check import check_config  # noqa: PLC0415

            return check_config(arguments.file)
        case "policy":
            from deployments import cli_policy  # noqa: PLC0415

            return (cli_policy.check if arguments.action == "check" else cli_policy.test)(arguments.path)
        case "doctor":
            from deployments.cli_doctor import doctor  # noqa: PLC0415

            return doctor(arguments.config)
        case _:
            raise AssertionError("argparse lets no other command through")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="readgate", description="Typed questions about a text, read with probabilities."
    )
    parser.add_argument("--version", action="version", version=f"readgate {version('readgate')}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    serve = commands.add_parser("serve", help="serve the APIs on this machine")
    _add_config(serve)

    ask = commands.add_parser("ask", help="ask a running server about a text")
    ask.add_argument("text", help="the text to judge; - reads standard input")
    ask.add_argument("--predicate", action="append", default=[], metavar="TEXT", help="a yes/no question")
    ask.add_argument("--choice", action="append", default=[], metavar="TEXT=A,B,...", help="a question and its options")
    ask.add_argument(
        "--score", action="append", default=[], metavar="TEXT=LOW,...,HIGH", help="a question and its levels"
    )
    ask.add_argument("--url", default="http://127.0.0.1:8000", help="the server (default: %(default)s)")
    ask.add_argument("--key-env", metavar="NAME", help="environment variable that holds the API key")
    ask.add_argument("--packed", action="store_true", help="read all questions on as few canvases as possible")
    ask.add_argument("--json", action="store_true", help="print the server's answer as it came")

    config = commands.add_parser("config", help="check a configuration")
    checks = config.add_subparsers(dest="action", required=True, metavar="ACTION")
    check = checks.add_parser("check", help="every key at every level, and unsafe engine settings")
    check.add_argument("file", type=Path, nargs="?", help="default: READGATE_CONFIG, else the laptop's")

    policy = commands.add_parser("policy", help="check or test policies")
    actions = policy.add_subparsers(dest="action", required=True, metavar="ACTION")
    for action, text in (("check", "load a policy or a directory of them"), ("test", "run the tests beside them")):
        sub = actions.add_parser(action, help=text)
        sub.add_argument("path", type=Path)

    doctor = commands.add_parser("doctor", help="what is installed, configured and reachable")
    _add_config(doctor)
    return parser


def _add_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", type=Path, metavar="FILE", help="default: READGATE_CONFIG, else the laptop's")


if __name__ == "__main__":
    sys.exit(main())
