"""A terminal of its own for a program: what it shows, as text.

Run(argv, rows, columns, env) starts it; wait_for(text, s) reads until the
screen contains it; press(keys); resize(rows, columns); end(s) waits for its
end and returns its status, negative for a signal.  Every wait has a bound.
"""
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

import pyte


class Run:
    def __init__(self, argv, rows=24, columns=80, env=None):
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.status = None
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update({"TERM": "linux", "LC_ALL": "C.UTF-8"})
            os.environ.update(env or {})
            # the size is there before the program asks
            fcntl.ioctl(1, termios.TIOCSWINSZ,
                        struct.pack("HHHH", rows, columns, 0, 0))
            try:
                os.execv(argv[0], argv)
            finally:
                os._exit(127)

    def resize(self, rows, columns):
        self.screen.resize(rows, columns)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))
        os.kill(self.pid, signal.SIGWINCH)

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def read(self, s):
        """Take what it writes for up to s seconds; False: it is closed."""
        if not select.select([self.fd], [], [], s)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.raw += data
        self.stream.feed(data)
        return bool(data)

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def wait_for(self, text, s=20):
        until = time.monotonic() + s
        while text not in self.text():
            left = until - time.monotonic()
            if left <= 0 or not self.read(min(left, 0.2)):
                raise AssertionError(
                    f"no {text!r} within {s} s:\n{self.text()}")
        self.settle()
        return self.text()

    def settle(self, s=0.15):
        """Until nothing is written for s seconds, within two."""
        until = time.monotonic() + 2
        while time.monotonic() < until:
            if not select.select([self.fd], [], [], s)[0]:
                return
            if not self.read(0):
                return

    def end(self, s=10):
        until = time.monotonic() + s
        while time.monotonic() < until:
            self.read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                while self.read(0):
                    if not select.select([self.fd], [], [], 0.05)[0]:
                        break
                self.status = os.waitstatus_to_exitcode(status)
                os.close(self.fd)
                return self.status
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        raise AssertionError(f"it does not end within {s} s:\n{self.text()}")
