#!/usr/bin/python3
"""status of a journal that is longer than what is folded while somebody waits:
what its writer said while it is fresh, all of it once nobody runs it.

long.py TRIREME BENCH_STORE_JOURNAL
"""
import json
import os
import subprocess
import sys
import tempfile
import time

TRIREME, JOURNAL = (os.path.abspath(p) for p in sys.argv[1:3])


def status(*more):
    ran = subprocess.run([TRIREME, "status", "l.h5", *more], check=True,
                         capture_output=True, text=True, timeout=120)
    return ran.stdout


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        made = json.loads(subprocess.run(
            [JOURNAL, "l.h5", "24"], check=True, capture_output=True,
            timeout=300).stdout)
        assert os.path.exists("l.h5.status.1"), os.listdir(".")
        said = json.loads(status("--json"))
        assert said["state"] == "search" and said["as_of"], said
        assert 0 < said["as_of"]["events"] <= made["events"], said
        text = status()
        assert f"as of     event {said['as_of']['events']};" in text, text
        assert "best      trial" in text and "bracket" in text, text

        long_ago = time.time() - 3000
        os.utime("l.h5.journal.1", (long_ago, long_ago))
        folded = json.loads(status("--json"))
        assert folded["state"] == "broken" and not folded["as_of"], folded
        assert folded["runs"] == made["runs"], (folded, made)
        assert said["runs"] <= folded["runs"], (said, folded)
        assert sorted(said) == sorted(folded), (said, folded)
        assert said["search"]["proposer"] == folded["search"]["proposer"]

        # what is no summary is passed over
        os.utime("l.h5.journal.1")
        with open("l.h5.status.1", "r+b") as f:
            f.seek(100)
            f.write(b"\0")
        again = json.loads(status("--json"))
        assert not again["as_of"] and again["runs"] == made["runs"], again
        os.chdir("/")
    print(f"{said['as_of']['events']} of {made['events']} events said")


main()
