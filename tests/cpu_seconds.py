"""Runs a command and prints the CPU seconds of it and its children: python tests/cpu_seconds.py COMMAND."""

import resource
import subprocess
import sys


def main(command: list[str]) -> int:
    """The exit status of the command."""
    status = subprocess.run(command).returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"CPU seconds: {used.ru_utime + used.ru_stime:.0f} ({used.ru_utime:.0f} user, {used.ru_stime:.0f} system)")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
