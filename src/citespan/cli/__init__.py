"""The ``citespan`` command: one plain line for every mistake, a documented exit code, no traceback.

Nothing but click is imported until a command runs, so that help comes at once.
"""

from __future__ import annotations

import os
import sys


def main(arguments: list[str] | None = None) -> None:
    """Run the command; exits with the code that ``docs/cli.md`` lists."""
    import click

    from citespan.cli.app import cli
    from citespan.errors import CitespanError

    try:
        code = cli.main(args=arguments, prog_name="citespan", standalone_mode=False)
    except click.exceptions.Abort:
        sys.exit(_fail("stopped; all that was committed is kept", 130))
    except click.ClickException as error:
        hint = ""
        context = getattr(error, "ctx", None)
        if isinstance(error, click.UsageError) and context is not None:
            hint = f"; see: {context.command_path} --help"
        sys.exit(_fail(error.format_message().rstrip(".") + hint, 2))
    except CitespanError as error:
        sys.exit(_fail(str(error), error.exit_code))
    except KeyboardInterrupt:
        sys.exit(_fail("stopped; all that was committed is kept", 130))
    except BrokenPipeError:
        # The reader of our output went away (``citespan … | head``): that is no mistake.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str, code: int) -> int:
    print(f"citespan: {' '.join(message.split())}", file=sys.stderr)
    return code
