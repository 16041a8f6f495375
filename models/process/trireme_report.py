"""Tell trireme how a training goes, and ask it what to do.

One file, standard library only, Python 3.6 or later; copy it beside your
trainer or put its folder on PYTHONPATH.  Outside trireme everything works and
does nothing: report() writes nothing, params() is empty, step limits are the
defaults you give.  What is asked is answered from the environment wherever it
stands there, as it does in the lines that `trireme best --emit` writes.

    import trireme_report as trireme

    lr = trireme.param("lr", 0.1)
    if trireme.resume_dir():
        load(trireme.resume_dir())
    for step in trireme.steps(100):
        loss = train_one_step(lr)
        trireme.report(step=step, loss=loss, tokens=batch * length)
    if trireme.checkpoint_dir():
        save(trireme.checkpoint_dir())

The study file says `model: {kind: process, ...}`; trireme-study(5), THE
TRAINER, says what each value means.
"""

import json
import math
import os
import signal
import stat
import sys
import threading

__all__ = [
    "active", "report", "failure", "params", "param", "resource", "steps",
    "stopping", "checkpoint_dir", "resume_dir", "resume_step", "saved", "rank",
    "world_size",
]


def active():
    """Whether trireme runs this process."""
    return "TRIREME_RUN" in os.environ


# ---- what to do ------------------------------------------------------------

def params():
    """The configuration of this trial: {name: value}, inactive ones left out.

    Values are int, float, bool or str, as the study file has them.
    """
    try:
        config = json.loads(os.environ.get("TRIREME_CONFIG", "{}"))
    except ValueError:
        return {}
    if not isinstance(config, dict):
        return {}
    return {name: value for name, value in config.items() if value is not None}


def _typed(text):
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def param(name, default=None):
    """One parameter; `default` where it is inactive, or outside trireme."""
    if "TRIREME_CONFIG" in os.environ:
        return params().get(name, default)
    text = os.environ.get("TRIREME_" + name.upper(), "")
    return _typed(text) if text else default


def _number(name, default):
    try:
        return int(os.environ.get(name, ""))
    except ValueError:
        return default


def resource(default=None):
    """The last step to do, warm-up included; `default` outside trireme.

    None where the study counts samples, tokens or seconds: train on until
    trireme ends the process.
    """
    if os.environ.get("TRIREME_RESOURCE_UNIT", "steps") != "steps":
        return None if active() else default
    return _number("TRIREME_RESOURCE", default)


def steps(default):
    """The steps to do, from 1, or behind the checkpoint to go on from.

    `default` is the last one outside trireme; None is no end.  Where the run is
    to be saved, the steps end early when trireme asks the process to stop.
    """
    last = resource(default)
    step = resume_step()
    while (last is None or step < last) and not stopping():
        step += 1
        yield step


_asked = []  # what SIGTERM leaves here


def stopping():
    """Whether trireme has asked for the end (SIGTERM): save, and leave.

    Only where there is a checkpoint_dir(); elsewhere SIGTERM ends the process
    as ever.  The first call, from the main thread, begins to watch for it.
    """
    if checkpoint_dir() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL \
            and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda *_: _asked.append(True))
    return bool(_asked)


def rank():
    """Rank of this process in its trial; 0 outside."""
    return _number("RANK", 0)


def world_size():
    """Processes of the trial; 1 outside."""
    return _number("WORLD_SIZE", 1)


# ---- checkpoints -----------------------------------------------------------

def checkpoint_dir():
    """The folder to save this run in, or None: nothing is to be saved.

    It is there already, and this run's own.
    """
    return os.environ.get("TRIREME_CHECKPOINT_DIR") or None


def resume_dir():
    """The folder to go on from, as an earlier run left it; None: afresh."""
    return os.environ.get("TRIREME_RESUME_DIR") or None


def resume_step():
    """The step that the checkpoint in resume_dir() has behind it; 0: none."""
    return _number("TRIREME_RESUME_STEP", 0) if resume_dir() else 0


def saved(step):
    """A checkpoint of `step` is complete in checkpoint_dir()."""
    return _write({"checkpoint": int(step)})


# ---- reports ---------------------------------------------------------------

def _plain(value):
    """A number of any library (tensors and arrays of one element, too)."""
    if isinstance(value, (bool, int, str)) or value is None:
        return value
    if not isinstance(value, float):
        if hasattr(value, "item"):
            value = value.item()
        if not isinstance(value, (bool, int)):
            value = float(value)
    return value


def report(step=None, loss=None, tokens=None, samples=None, **more):
    """Say how a step went; returns whether anyone was told.

    step     the step's number, from 1; without it each report is a step
    loss     its loss; one that is no number ends the trial as nan
    tokens, samples   what all ranks together did in this step
    more     tokens_per_s, samples_per_s (over all ranks, where counts are not
             known), step_s (the step's time, instead of the time since the
             report before), bytes (memory in use), and metrics of your own

    Every rank may call it; the lowest rank that does is the one measured.
    """
    line = {"step": step, "loss": loss, "tokens": tokens, "samples": samples}
    line.update(more)
    line = {name: _plain(v) for name, v in line.items() if v is not None}
    return _write(line) if line else False


def failure(kind, sentence=""):
    """Say why this process is about to fail.

    kind is a class of failure: oom-device, oom-host, nan, diverged, hung,
    rendezvous, import-error, infeasible, bad-exit.  Another is read over, and
    the class is found out from how the process ends.
    """
    return _write({"failure": str(kind), "sentence": str(sentence)[:190]})


def _descriptor():
    """Where trireme listens, if that descriptor is still what it was.

    Launchers close what they do not know, and the number is then anybody's.
    """
    number = _number("TRIREME_FD", -1)
    if number < 3:
        return None
    try:
        found = os.fstat(number)
    except OSError:
        return None
    inode = _number("TRIREME_FD_INODE", found.st_ino)
    if not stat.S_ISFIFO(found.st_mode) or found.st_ino != inode:
        return None
    return number


def _finite(value):
    # Trireme reads Python's NaN, but other readers of the log do not.
    return None if isinstance(value, float) and not math.isfinite(value) \
        else value


def _write(line):
    if not active():
        return False
    text = json.dumps({name: _finite(v) for name, v in line.items()}) + "\n"
    number = _descriptor()
    try:
        if number is None:
            # A line of its own, whatever was printed before it.
            sys.stdout.write("\n" + text)
            sys.stdout.flush()
            return True
        data = text.encode("utf-8")
        while data:
            data = data[os.write(number, data):]
    except (OSError, ValueError):  # nobody listens any more
        return False
    return True
