"""`python -m config.up`: what `make up` runs."""

from __future__ import annotations

import argparse
import os
import signal
import sys

import psycopg

from config import env
from config.embedded import process
from config.embedded.postgres import PostgresFailed
from config.embedded.privileges import CannotRun
from config.up.house import House
from config.up.output import Output
from config.up.start import Start
from config.up.supervisor import Stopped, Supervisor
from config.up.words import CannotStart


def main() -> int:
    """0 after a stop that was asked for, 1 when it could not start."""
    parser = argparse.ArgumentParser(prog="make up", description="Start everything; Ctrl-C stops it.")
    parser.add_argument("--stop-with-parent", action="store_true", help="end when the caller is killed")
    if parser.parse_args().stop_with_parent:
        parent = os.getppid()
        process.die_with_parent(signal.SIGTERM)
        if os.getppid() != parent:
            return 1
    try:
        return _serve()
    except (CannotStart, CannotRun, PostgresFailed, env.EnvError) as problem:
        print(problem, file=sys.stderr, flush=True)
    except psycopg.OperationalError as problem:
        print(
            f"The database cannot be used: {problem}Everything is stopped again.", file=sys.stderr, flush=True
        )
    return 1


def _serve() -> int:
    settings, _ = env.load()
    house = House(settings.data_dir)
    house.take()
    house.sign()
    output = Output()
    supervisor = Supervisor(output, house.remember)
    supervisor.install()
    try:
        Start(settings, house, supervisor, output).run()
        while not supervisor.stopping:
            supervisor.turn()
    except Stopped:
        pass
    finally:
        house.sign(stopping=True)
        supervisor.say("stopping")
        supervisor.stop()
        house.withdraw()
        supervisor.say("stopped; nothing is running any more")
    return 0


if __name__ == "__main__":
    sys.exit(main())
