"""Prints what well-known trainers print, a line a step, among noise.

    imitations.py KIND RATE

The real thing is not at hand; the lines have its form.  RATE goes into what is
said, so that the answer is known.
"""
import os
import sys
import time

KIND, RATE = sys.argv[1], int(sys.argv[2])
LAST = int(os.environ["TRIREME_RESOURCE"])


def megatron(step):
    # Its own time is said: 1000 samples at RATE a second.
    return 1, (f" [2025-04-13 23:41:12] iteration {step:8d}/{LAST:8d} | consumed "
               f"samples: {1000 * step:12d} | elapsed time per iteration (ms): "
               f"{1e6 / RATE:.1f} | learning rate: 1.0E-05 | global batch size: "
               f" 1000 | lm loss: {1 / step:.6E} | loss scale: 1.0 |\n")


def deepspeed(step):
    line = f"[Rank 0] step={step}, skipped=0, lr=[0.1], mom=[(0.9, 0.999)]\n"
    if step > 2:
        line += (f"[timer.py:260:stop] epoch=0/micro_step={step}/global_step="
                 f"{step}, RunningAvgSamplesPerSec=7.5, CurrSamplesPerSec={RATE}"
                 ", MemAllocated=0.07GB, MaxMemAllocated=1.5GB\n")
    return 2, line


def nanotron(step):
    return 2, (f"07/02/2024 [INFO|DP=0]: iteration: {step} / {LAST} | consumed_"
               f"tokens: 82K | elapsed_time_per_iteration_ms: 1.23K | tokens_per"
               f"_sec: {RATE / 1000:g}K | tokens_per_sec_per_gpu: 3K | global_"
               f"batch_size: 16 | lm_loss: {1 / step:.3g} | cuda_max_memory_"
               "reserved: 1.5G\n")


def torchtitan(step):
    return 2, (f"[titan] \x1b[31mstep: {step:2}  \x1b[32mloss: {1 / step:7.4f}  "
               f"\x1b[36mmemory:  1.50GiB(51.14%)  \x1b[34mtps: {RATE:,}  "
               "mfu: 9.00%\x1b[39m\n")


def huggingface(step):
    return 1, (f"{{'loss': {1 / step:.4f}, 'grad_norm': 1.0, 'num_input_tokens_"
               f"seen': {1000 * step}, 'epoch': 0.02}}\n")


def own(step):
    # Two steps a line, and two lines for them.
    return 1, f"it {2 * step}:\ntook {1e6 / RATE} ms of {1000:,} images\r\n"


def main():
    line_of = globals()[KIND]
    for step in range(1, LAST + 1):
        time.sleep(0.01)
        os.write(1, os.urandom(100000) + b"\n")
        os.write(2, b"a line without anything\n" * 4000)
        where, line = line_of(step)
        data = line.encode()
        os.write(where, data[:len(data) // 2])
        time.sleep(0.002)
        os.write(where, data[len(data) // 2:])


main()
