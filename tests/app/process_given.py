"""What trireme gives a user's processes: hosts, devices, a setup's environment
and a scratch folder, on two hosts that are made up; ranks that can run nothing;
and an MPI program with a launcher of its own, from within an MPI job.

    process_given.py TRIREME MPIEXEC RING
"""
import os
import sys

import tuned

STUDY = """
study: given
seed: 3
model:
  kind: process
  command: [/bin/sh, -c, 'env -0 > "$OUT/$TRIREME_RUN.$RANK"; ls -d "$TRIREME_SCRATCH" > "$OUT/$TRIREME_RUN.$RANK.scratch"; touch "$TRIREME_SCRATCH/x"; for i in $(seq 12); do echo "{{\\"step\\": $i, \\"loss\\": 1}}"; done']
  setup: "%s"
  scratch: "scratch/{run}/x"
  %s
space: {n: {choice: [%s]}}
ranks: n
objective: {minimize: loss}
resource: {unit: steps, min: 4, max: 4}
search: random
budget: {trials: %d}
finals: none
checkpoints: {policy: never}
timeouts: {startup: 20 s, grace: 1 s}
"""
LEADER = """
study: leader
seed: 3
model:
  kind: process
  launch: leader
  command: [%s, --oversubscribe, --hostfile, "{host_file}", -n, "{world_size}",
            %s, "{n}"]
space: {n: {int: [1, 3]}}
ranks: n
objective: {minimize: loss}
resource: {unit: steps, min: 4, max: 8, eta: 2}
search: random
budget: {trials: 3}
finals: none
"""


def write(name, text):
    with open(name, "w", encoding="utf-8") as f:
        f.write(text)


def on_hosts(study, *hosts, status=0, **more):
    """Tune, ranks in the order of `hosts`, each a name and what else it has in
    its environment; what it printed."""
    apps = []
    for host in hosts:
        apps += [":"] if apps else []
        apps += ["-n", "1", "env", *f"TRIREME_HOST_NAME={host}".split(),
                 tuned.trireme, "tune", study, "-o", study + ".h5"]
    out = os.path.abspath("out")
    os.makedirs(out, exist_ok=True)
    return tuned.run(tuned.mpiexec, *apps, status=status, OUT=out,
                     TRIREME_LOG="info", **more)


def given(run, rank):
    with open(f"out/{run}.{rank}", encoding="utf-8") as f:
        return dict(v.split("=", 1) for v in f.read().split("\0") if "=" in v)


def scratch_of(run, rank):
    with open(f"out/{run}.{rank}.scratch", encoding="utf-8") as f:
        return f.read().strip()


def expect(what, got, wanted):
    if got != wanted:
        raise SystemExit(f"{what}: {got!r}, not {wanted!r}")


def expect_words(words, text):
    if words not in text:
        print(text)
        raise SystemExit(f"nowhere '{words}'")


def a_group_over_two_hosts():
    """Four workers dealt out to the hosts in turn, one device each: a group has
    its ranks host by host."""
    write("two.yaml", STUDY % ("export FROM_SETUP=yes", "", "4", 1))
    said = on_hosts("two.yaml", "a", "a", "b", "a", "b",
                    CUDA_VISIBLE_DEVICES="4,7")
    ranks = [given(0, r) for r in range(4)]
    for name, values in (("RANK", "0123"), ("WORLD_SIZE", "4444"),
                         ("LOCAL_RANK", "0101"), ("LOCAL_WORLD_SIZE", "2222"),
                         ("GROUP_RANK", "0011")):
        expect(name, "".join(v[name] for v in ranks), values)
    for v in ranks:
        expect("devices", v["CUDA_VISIBLE_DEVICES"], "4,7")
        expect("hosts", v["TRIREME_HOSTS"], "a,b")
        expect("slots", v["TRIREME_HOST_SLOTS"], "a:2,b:2")
        expect("setup", v["FROM_SETUP"], "yes")
        expect("loopback", v["MASTER_ADDR"].startswith("127."), False)
        expect("port", v["MASTER_PORT"], ranks[0]["MASTER_PORT"])
        expect("launcher", [n for n in v if n.startswith(("PMIX_", "OMPI_COMM_"))],
               [])
    places = {scratch_of(0, r) for r in range(4)}
    expect("scratch folders", len(places), 4)
    expect("scratch left", os.listdir("scratch"), [])
    expect("warnings", ": warn: " in said, False)
    expect_words("devices by rank: a: 4; b: 4; a: 7; b: 7", said)
    rows = tuned.table("two.yaml.h5", "runs")
    expect("runs", [r["status"] for r in rows], ["finished"])


def groups_share_a_host():
    """A run of one of two workers does not show the other's device."""
    write("each.yaml", STUDY % ("true", "", "1", 1))
    on_hosts("each.yaml", "a", "a", "a", CUDA_VISIBLE_DEVICES="4,7")
    got = given(0, 0)
    expect("own device", got["CUDA_VISIBLE_DEVICES"] in ("4", "7"), True)
    expect("address", got["MASTER_ADDR"], "127.0.0.1")


def devices_of_tasks():
    """As --gpus-per-task gives them: rank 0 has one that it does not need, and
    one rank has none."""
    write("tasks.yaml", STUDY % ("true", "", "3", 1))
    said = on_hosts("tasks.yaml", *(f"a CUDA_VISIBLE_DEVICES={list}" for list in
                                    ("0", "3,1", "2", "")))
    expect_words("rank 0 (a) was given a device that no other rank shows (0)",
                 said)
    expect_words("1 rank sees no device, as rank 3 (a), while others do, as "
                 "rank 1 (a: 3,1)", said)
    for rank in range(3):
        expect("union", given(0, rank)["CUDA_VISIBLE_DEVICES"], "3,2,1")


def ranks_that_can_run_nothing():
    bad = "if [ $TRIREME_HOST_NAME = b ]; then echo no such module >&2; exit 3; fi"
    write("some.yaml", STUDY % (bad, "", "1", 1))
    said = on_hosts("some.yaml", "a", "a", "b")
    expect_words("1 rank is left out; rank 2 (b): model.setup ended with "
                 "status 3: no such module", said)
    write("none.yaml", STUDY % ("exit 3", "", "1", 1))
    said = on_hosts("none.yaml", "a", "a", "a", status=1)
    expect_words("no rank can run a trial; rank 1 (a): model.setup ended with "
                 "status 3", said)
    write("map.yaml", STUDY % ("true", "devices: ['6']", "1", 1))
    said = on_hosts("map.yaml", "a", "a", "a")
    expect_words("model.devices has 1 entry", said)
    expect("map", given(0, 0)["CUDA_VISIBLE_DEVICES"], "6")


def a_launcher_of_its_own(ring):
    write("leader.yaml", LEADER % (tuned.mpiexec, ring))
    tuned.tune("leader.yaml", "leader.h5", 4, TMPDIR=os.getcwd())
    rows = tuned.table("leader.h5", "runs")
    expect("status", {r["status"] for r in rows}, {"finished"})
    expect("best", tuned.best("leader.h5")["winner"]["configuration"], {"n": 3})
    left = [n for n in os.listdir(".") if n.startswith("trireme-hosts")]
    expect("host files", left, [])


def main():
    ring = sys.argv[3]
    tuned.workplace()
    os.mkdir("scratch")
    a_group_over_two_hosts()
    groups_share_a_host()
    devices_of_tasks()
    ranks_that_can_run_nothing()
    a_launcher_of_its_own(ring)
    tuned.check_no_survivors()


main()
