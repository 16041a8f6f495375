"""A trainer with a trouble: troubled.py WHAT.  Good ones print a line a step up
to TRIREME_RESOURCE; the loss of `good` is the least.  See process_ends.py."""
import json
import os
import resource
import signal
import sys
import time


def say(step, loss):
    print(json.dumps({"step": step, "samples": 8, "loss": loss}), flush=True)


def train(loss, between=lambda step: None):
    for step in range(1, int(os.environ["TRIREME_RESOURCE"]) + 1):
        between(step)
        say(step, loss + 1 / step)
        time.sleep(0.01)


def good():
    train(1)


def fair():
    train(2)


def memory():
    """Goes on allocating until the limit on its address space says no."""
    say(1, 0.1)
    resource.setrlimit(resource.RLIMIT_AS, (512 << 20, 512 << 20))
    pieces = []
    while True:
        pieces.append(bytearray(64 << 20))


def hang():
    say(1, 0.1)
    time.sleep(1000)


def deaf():
    """Hangs, and does not heed TERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    hang()


def epochs():
    """Counts the steps of each epoch anew."""
    while True:
        for step in range(1, 4):
            say(step, 0.1)
            time.sleep(0.02)


def write(text):
    sys.stdout.flush()
    while text:
        text = text[os.write(1, text):]


def noise(step):
    """A line of everything that is no report."""
    write(b"\x00\xff\xfe" * 1000 + b"\n" + b"\x1b[31m\r" * 50 + b"\n"
          b'{"step": \n{"loss": }\n[1, 2]\n"step"\n{}\nnull\n'
          b'{"step": "seven", "loss": "low"}\n{"step": -3, "loss": 0.0}\n'
          b'{"step": 1e300, "loss": 0.0}\n'
          + b"{" * 5000 + b"\n" + b"x" * (3 << 20 if step == 2 else 10)
          + b"\n")


def noisy():
    """Noise between lines does them no harm."""
    train(3, noise)


def garbage():
    """Noise alone is no result."""
    for step in range(5):
        noise(step)
    write(b'{"step": 1, "loss": 0.')


def killed():
    say(1, 0.1)
    os.kill(os.getpid(), signal.SIGKILL)


def daemonise(n):
    """A daemon as the book has it, twice forked, in a session of its own; every
    other one holds on to its parent's output.  It does not heed TERM or HUP."""
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    os.chdir("/")
    for s in signal.SIGTERM, signal.SIGHUP, signal.SIGINT:
        signal.signal(s, signal.SIG_IGN)
    if n % 2:
        for fd in range(3):
            os.close(fd)
    time.sleep(1000)
    os._exit(0)


def daemons():
    """Leaves daemons, and is a result all the same."""
    for n in range(4):
        daemonise(n)
    train(4)


def orphans():
    """Leaves daemons, and fails."""
    daemonise(0)
    daemonise(1)
    time.sleep(0.1)
    raise SystemExit("what now, with the children gone their way")


def half():
    """One of two ranks ends; the other would wait for it for ever."""
    if os.environ["RANK"] == "1":
        raise SystemExit("rank 1 had enough")
    say(1, 0.1)
    time.sleep(1000)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
