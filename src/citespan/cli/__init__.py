"""The ``citespan`` command: one plain line for every mistake, a documented exit code, no traceback.

Nothing but click is imported until a command runs, so that help comes at once.
"""

from __future__ import annotations

import os
import sys


def main(arguments: list[str] | None = None) -> None:
    """Run the command; exits with the code that ``docs/cli.md`` lists."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a letter gets its code, and never an error.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _run(arguments)
    except KeyboardInterrupt:
        code = _fail("stopped; all that was committed is kept", 130)
    sys.exit(code)


def _run(arguments: list[str] | None) -> int:
    """Return the exit code, having said in one line what went wrong if anything did."""
    import click

    from citespan.cli.app import cli
    from citespan.errors import CitespanError

    try:
        code = cli.main(args=arguments, prog_name="citespan", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 2
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as error:
        hint = ""
        context = getattr(error, "ctx", None)
        if isinstance(error, click.UsageError) and context is not None:
            hint = f"; see: {context.command_path} --help"
        return _fail(error.format_message().rstrip(".") + hint, 2)
    except CitespanError as error:
        return _fail(str(error), error.exit_code)
    except Exception as error:
        if os.environ.get("CITESPAN_DEBUG"):
            raise
        return _fail(_describe(error), 1)
    return code if isinstance(code, int) else 0


def _describe(error: Exception) -> str:
    """Say what the system refused; what it did not refuse is a defect of ours, and said to be."""
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror}; check the path, its permissions and the space left there"
    return (
        f"an error that citespan did not foresee, {type(error).__name__}: {error}; "
        f"please report it with the lines that CITESPAN_DEBUG=1 shows"
    )


def _fail(message: str, code: int) -> int:
    print(f"citespan: {' '.join(message.split())}", file=sys.stderr)
    return code
