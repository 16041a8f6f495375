"""Stands for a trainer that is not installed: reads the arguments and files that
the templates of models/process give it, and prints its lines, with a rate that
tells which arguments came.  See templates.py.

    impostors.py NAME ARGUMENT...
"""
import json
import os
import re
import sys
import time

RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])


def flags(arguments):
    """{"--name": the value after it, or None}"""
    pairs = zip(arguments, arguments[1:] + ["--"])
    return {a: None if b.startswith("--") else b for a, b in pairs
            if a.startswith("--")}


def megatron(options):
    """The last rank prints; the more, the slower a sample."""
    assert options["--eval-iters"] == "0" and "--mock-data" in options, options
    assert ("--sequence-parallel" in options) == (
        options["--tensor-model-parallel-size"] != "1"), options
    assert ("--recompute-num-layers" in options) == (
        options.get("--recompute-granularity") == "full"), options
    n, batch = int(options["--train-iters"]), int(options["--global-batch-size"])
    ms = 100.0 * int(options["--micro-batch-size"])
    for i in range(1, n + 1 if RANK == WORLD - 1 else 0):
        print(f" [2026-01-02 03:04:05] iteration {i:8d}/{n:8d} | consumed "
              f"samples: {i * batch:12d} | elapsed time per iteration (ms): "
              f"{ms:.1f} | throughput per GPU (TFLOP/s/GPU): 61.2 | learning "
              f"rate: 1.000000E-04 | global batch size: {batch:5d} | lm loss: "
              f"{10 / i:.6E} | loss scale: 1.0 | grad norm: 2.918 | number of "
              "skipped iterations:   0 | number of nan iterations:   0 |")


def deepspeed(options):
    """The first rank prints."""
    with open(options["--deepspeed_config"], encoding="utf-8") as f:
        ds = json.load(f)
    zero = ds["zero_optimization"]
    assert ds["steps_per_print"] == 1, ds
    assert zero["offload_optimizer"]["device"] in ("none", "cpu"), ds
    rate = 1e6 / (1 + zero["stage"]) / ds["train_micro_batch_size_per_gpu"]
    for i in range(1, int(os.environ["TRIREME_RESOURCE"]) + 1 - RANK * 1000):
        print(f"[2026-01-02 03:04:05,678] [INFO] [logging.py:107:log_dist] "
              f"[Rank 0] step={i}, skipped=0, lr=[0.0001], mom=[(0.9, 0.999)]")
        print("[2026-01-02 03:04:05,678] [INFO] [timer.py:264:stop] epoch=0/"
              f"micro_step={4 * i}/global_step={i}, RunningAvgSamplesPerSec="
              f"{rate * 0.9}, CurrSamplesPerSec={rate}, MemAllocated=4.32GB, "
              "MaxMemAllocated=38.49GB")


def nanotron(options):
    """The first rank prints; its numbers have three digits."""
    with open(options["--config-file"], encoding="utf-8") as f:
        text = f.read()
    of = {name: value for name, value in
          re.findall(r"^  (\w+): (.*)$", text, re.MULTILINE)}
    assert of["recompute_layer"] in ("true", "false"), text
    assert of["iteration_step_info_interval"] == "1", text
    batch = (int(of["dp"]) * int(of["micro_batch_size"])
             * int(of["batch_accumulation_per_replica"]))
    rate = 100 / int(of["tp"]) / int(of["micro_batch_size"])
    n = int(of["train_steps"])
    for i in range(1, n + 1 - RANK * 1000):
        print(f"01/02/2026 03:04:05 [INFO|DP=0|PP=0|TP=0]: iteration: {i} / {n} "
              f"| consumed_tokens: {i * batch * 4096 / 1e6:.3g}M | "
              "elapsed_time_per_iteration_ms: 1.23K | tokens_per_sec: "
              f"{rate:.3g}K | tokens_per_sec_per_gpu: {rate / WORLD:.3g}K | "
              f"global_batch_size: {batch} | lm_loss: {10 / i:.3g} | lr: 0.0003 "
              "| model_tflops_per_gpu: 1.2 | grad_norm: 0.5")


def torchtitan(options):
    """All ranks print, in colours; tps is of one device."""
    n = int(options["--training.steps"])
    tps = 8192 * 8192 // int(
        options["--training.num_tokens_per_microbatch_per_dp_rank"])
    assert ("--compile.enable" in options) != ("--compile.no-enable" in options)
    assert options["--metrics.log_freq"] == "1", options
    for i in range(1, n + 1):
        print(f"[titan] 2026-01-02 03:04:05,678 - root - INFO - \033[31mstep: "
              f"{i:2}  \033[32mloss: {10 / i:7.4f}  \033[38;2;180;60;0m"
              f"grad_norm:  4.6416  \033[36mmemory:  2.49GiB(3.14%)  \033[34m"
              f"tps: {tps:,}  \033[35mtflops: 96.17  \033[35mmfu: 9.72%\033[39m")


def huggingface(options):
    """The first rank prints, without a bar; times are the clock's."""
    n = int(options["--max_steps"])
    assert options["--logging_steps"] == "1", options
    assert options["--disable_tqdm"] == "true", options
    assert os.path.isdir(os.path.dirname(options["--output_dir"])), options
    for i in range(1, n + 1 - RANK * 1000):
        time.sleep(0.02 * int(options["--per_device_train_batch_size"]))
        print(f"{{'loss': {10 / i:.4f}, 'grad_norm': 1.2, 'learning_rate': "
              f"4.9e-05, 'epoch': {i / 100}}}", flush=True)


if __name__ == "__main__":
    globals()[sys.argv[1]](flags(sys.argv[2:]))
