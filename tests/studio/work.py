"""What the workers of the tests do; a process that is spawned imports it by name."""

import os
import time


def echo(channel, greeting):
    channel.send("hello", (greeting, os.getpid()))
    while (given := channel.command(None)) and given[0] != "end":
        channel.send("echo", given)


def fail(channel):
    raise ValueError("no <b>luck</b>")


def crash(channel):
    os.abort()


def toil(channel):
    """Never listens, as a fit in the midst of an update does not."""
    channel.send("hello", ("busy", os.getpid()))
    while True:
        time.sleep(0.05)
