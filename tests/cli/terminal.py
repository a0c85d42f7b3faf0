#!/usr/bin/env python3
"""Runs a command on a terminal of its own, and does one step after the other:

    terminal.py STEP... -- COMMAND...

    ROWSxCOLUMNS    the terminal has this size now
    await=REGEX     wait until what was written since the last step matches
    send=KEYS       press keys; \\e is escape
    signal=NAME     send a signal: TERM, TSTP ...
    run=COMMAND     let a shell run this
    end=STATUS      wait for the end, with this exit status

All that the command has written goes to stdout.
"""
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

PATIENCE = 60


class Terminal:
    def __init__(self, command):
        self.pid, self.fd = os.forkpty()
        if self.pid == 0:
            os.execvp(command[0], command)
        self.fresh = b""
        self.size(24, 80)

    def size(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, patience):
        ready, _, _ = select.select([self.fd], [], [], patience)
        if not ready:
            return True
        try:
            part = os.read(self.fd, 65536)
        except OSError:
            return False
        self.fresh += part
        sys.stdout.buffer.write(part)
        return bool(part)

    def await_match(self, pattern):
        end = time.monotonic() + PATIENCE
        while not re.search(pattern.encode(), self.fresh, re.S):
            if not self.read(0.1) or time.monotonic() > end:
                sys.exit(f"does not come: {pattern}")
        self.fresh = b""

    def end(self, status):
        end = time.monotonic() + PATIENCE
        while True:
            alive = self.read(0.1)
            pid, code = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > end:
                sys.exit("does not end")
            if not alive:
                time.sleep(0.05)
        if os.waitstatus_to_exitcode(code) != status:
            sys.exit(f"ends with {os.waitstatus_to_exitcode(code)}, not {status}")


def main():
    at = sys.argv.index("--")
    terminal = Terminal(sys.argv[at + 1:])
    for step in sys.argv[1:at]:
        name, _, value = step.partition("=")
        if name == "await":
            terminal.await_match(value)
        elif name == "send":
            os.write(terminal.fd, value.replace("\\e", "\033").encode())
        elif name == "signal":
            os.kill(terminal.pid, getattr(signal, "SIG" + value))
        elif name == "run":
            subprocess.run(value, shell=True, check=True)
        elif name == "end":
            terminal.end(int(value))
        else:
            terminal.size(*map(int, name.split("x")))
    sys.stdout.flush()


main()
