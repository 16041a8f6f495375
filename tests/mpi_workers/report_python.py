"""What trireme_report.py says and answers, as a trial's process and outside.

Runs the module in processes of its own, with the descriptor that trireme gives
them, with one that became somebody else's, and with none.
"""

import json
import os
import subprocess
import sys
import unittest

FOLDER = sys.argv.pop(1)

SAY = r"""
import sys
sys.path.insert(0, sys.argv[1])
import trireme_report as trireme

class Tensor:
    def item(self):
        return 0.25

class Array:
    def __float__(self):
        return 1.5

sys.stdout.write("half a line")
done = [
    trireme.report(step=3, loss=Tensor(), tokens=4096, f1=Array(), n=None),
    trireme.report(loss=float("nan"), step_s=0.5),
    trireme.report(),
    trireme.saved(3),
    trireme.failure("oom-device", 'no "room"\n' + "x" * 500),
]
sys.stderr.write(repr(done))
"""

ASK = r"""
import json, sys
sys.path.insert(0, sys.argv[1])
import trireme_report as t

print(json.dumps({
    "active": t.active(), "params": t.params(), "lr": t.param("lr", 0.5),
    "bucket": t.param("bucket", 7), "resource": t.resource(10),
    "steps": [s for s, _ in zip(t.steps(4), range(6))], "rank": t.rank(),
    "world": t.world_size(), "to": t.checkpoint_dir(), "from": t.resume_dir(),
    "at": t.resume_step()}))
"""

CONFIG = '{"lr": 0.1, "dp": 2, "kind": "a b", "fast": true, "bucket": null}'


def run(text, more, pass_fds=()):
    env = {k: v for k, v in os.environ.items() if not k.startswith("TRIREME_")}
    env.pop("RANK", None)
    env.pop("WORLD_SIZE", None)
    env.update(more)
    return subprocess.run([sys.executable, "-c", text, FOLDER], env=env,
                          pass_fds=pass_fds, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=60,
                          universal_newlines=True)


def ask(more):
    done = run(ASK, more)
    return json.loads(done.stdout)


class Reports(unittest.TestCase):
    def check(self, text):
        lines = [json.loads(x) for x in text.splitlines() if x.startswith("{")]
        self.assertEqual(lines[:3], [
            {"step": 3, "loss": 0.25, "tokens": 4096, "f1": 1.5},
            {"loss": None, "step_s": 0.5},
            {"checkpoint": 3}])
        self.assertEqual(lines[3]["failure"], "oom-device")
        self.assertTrue(lines[3]["sentence"].startswith('no "room"\nxxx'))
        self.assertLess(len(lines[3]["sentence"]), 200)
        self.assertEqual(len(lines), 4)

    def say(self, inode):
        read, write = os.pipe()
        more = {"TRIREME_RUN": "1", "TRIREME_FD": str(write)}
        if inode is not None:
            more["TRIREME_FD_INODE"] = str(inode or os.fstat(write).st_ino)
        done = run(SAY, more, (write,))
        os.close(write)
        with os.fdopen(read) as pipe:
            return done, pipe.read()

    def test_descriptor(self):
        for inode in (0, None):
            done, text = self.say(inode)
            self.check(text)
            self.assertEqual(done.stdout, "half a line")
            self.assertEqual(done.stderr, "[True, True, False, True, True]")

    def test_descriptor_of_others(self):
        done, text = self.say(1)
        self.assertEqual(text, "")
        self.check(done.stdout)

    def test_closed_descriptor(self):
        done = run(SAY, {"TRIREME_RUN": "1", "TRIREME_FD": "77"})
        self.check(done.stdout)

    def test_standard_output(self):
        done = run(SAY, {"TRIREME_RUN": "1", "TRIREME_FD": "1"})
        self.check(done.stdout)

    def test_nobody_listens(self):
        read, write = os.pipe()
        os.close(read)
        done = run(SAY, {"TRIREME_RUN": "1", "TRIREME_FD": str(write)},
                   (write,))
        os.close(write)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr, "[False, False, False, False, False]")

    def test_outside(self):
        done = run(SAY, {"TRIREME_FD": "1"})
        self.assertEqual(done.stdout, "half a line")
        self.assertEqual(done.stderr, "[False, False, False, False, False]")


STOP = r"""
import os, signal, sys
sys.path.insert(0, sys.argv[1])
import trireme_report as t

for step in t.steps(1000000):
    if step == 5:
        os.kill(os.getpid(), signal.SIGTERM)
print(step, t.stopping())
"""


class Stops(unittest.TestCase):
    def test_steps_end(self):
        done = run(STOP, {"TRIREME_RUN": "1", "TRIREME_RESOURCE": "1000000",
                          "TRIREME_CHECKPOINT_DIR": "/c"})
        self.assertEqual(done.stdout, "5 True\n")

    def test_nothing_to_save(self):
        done = run(STOP, {"TRIREME_RUN": "1", "TRIREME_RESOURCE": "1000000"})
        self.assertEqual((done.returncode, done.stdout), (-15, ""))


class Questions(unittest.TestCase):
    def test_outside(self):
        self.assertEqual(ask({}), {
            "active": False, "params": {}, "lr": 0.5, "bucket": 7,
            "resource": 10, "steps": [1, 2, 3, 4], "rank": 0, "world": 1,
            "to": None, "from": None, "at": 0})

    def test_inside(self):
        self.assertEqual(ask({
            "TRIREME_RUN": "1", "TRIREME_CONFIG": CONFIG,
            "TRIREME_RESOURCE": "8", "TRIREME_RESOURCE_UNIT": "steps",
            "TRIREME_CHECKPOINT_DIR": "/c", "TRIREME_RESUME_DIR": "/r",
            "TRIREME_RESUME_STEP": "5", "RANK": "1", "WORLD_SIZE": "3"}), {
                "active": True,
                "params": {"lr": 0.1, "dp": 2, "kind": "a b", "fast": True},
                "lr": 0.1, "bucket": 7, "resource": 8, "steps": [6, 7, 8],
                "rank": 1, "world": 3, "to": "/c", "from": "/r", "at": 5})

    def test_no_last_step(self):
        said = ask({"TRIREME_RUN": "1", "TRIREME_RESOURCE": "2",
                    "TRIREME_RESOURCE_UNIT": "seconds",
                    "TRIREME_RESUME_DIR": ""})
        self.assertIsNone(said["resource"])
        self.assertEqual(said["steps"], [1, 2, 3, 4, 5, 6])

    def test_without_config(self):
        said = ask({"TRIREME_RUN": "1", "TRIREME_LR": "1e-05",
                    "TRIREME_BUCKET": ""})
        self.assertEqual((said["lr"], said["bucket"]), (1e-05, 7))
        self.assertEqual(ask({"TRIREME_RUN": "1",
                              "TRIREME_CONFIG": "{nonsense"})["params"], {})

    def test_emitted(self):
        """A line of `best --emit`: the values stand there, nobody listens."""
        said = ask({"TRIREME_LR": "0.02", "TRIREME_FAST": "true",
                    "TRIREME_RESOURCE": "3", "TRIREME_SEED": "1"})
        self.assertEqual((said["active"], said["lr"], said["resource"]),
                         (False, 0.02, 3))
        self.assertEqual(said["params"], {})
        self.assertEqual(said["steps"], [1, 2, 3])
        said = ask({"TRIREME_LR": "0.02", "TRIREME_RESOURCE": "3",
                    "TRIREME_CONFIG": '{"lr": 0.5, "Fast": true, "n": null}'})
        self.assertEqual((said["lr"], said["params"]),
                         (0.5, {"lr": 0.5, "Fast": True}))
        said = ask({"TRIREME_RESOURCE": "30000",
                    "TRIREME_RESOURCE_UNIT": "tokens"})
        self.assertEqual(said["resource"], 10)


if __name__ == "__main__":
    unittest.main()
