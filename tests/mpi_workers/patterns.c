/*
 * Metrics found by patterns: values as people print them, lines of well-known
 * trainers in the shapes of several versions (made for the purpose), the
 * user's own patterns, and lines that are none.
 */
#include "mpi_workers/patterns.h"

#include "mpi_workers/news.h"
#include "tests/tri_cmocka.h"
#include "trireme/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED  37u
#define RANKS 4

static tri_metric_line last;
static int n_lines;

static void on_line(void *ctx, const tri_metric_line *line)
{
    (void)ctx;
    last = *line;
    n_lines++;
}

static tri_metrics *fresh(const char *trainer, const char *own,
                          const tri_pair *patterns, int n)
{
    tri_process_spec spec = {.metrics = {trainer, patterns, n}};
    tri_metrics *m;

    assert_int_equal(tri_metrics_create(own, &m), TRI_OK);
    assert_int_equal(tri_metrics_use(m, &spec, RANKS), TRI_OK);
    n_lines = 0;
    tri_metric_line_clear(&last);
    return m;
}

static void feed(tri_metrics *m, tri_stream stream, const char *text)
{
    tri_metrics_hear(m, stream, text, strlen(text), on_line, NULL);
}

static int is_near(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * fabs(b);
}

static void values(void **state)
{
    static const struct {
        const char *text;
        int is_bytes;
        double value;
    } rows[] = {
            {"12", 0, 12},
            {"1,234", 0, 1234},
            {"1,234,567.5", 0, 1234567.5},
            {"1_000", 0, 1000},
            {" -3.5e-2 ", 0, -0.035},
            {"7.399415E+00", 0, 7.399415},
            {"+.5", 0, 0.5},
            {"45.6K", 0, 45600},
            {"45.6k", 0, 45600},
            {"1.2M", 0, 1.2e6},
            {"3B", 0, 3e9},
            {"3B", 1, 3},
            {"3G", 1, 3e9},
            {"1 T", 0, 1e12},
            {"2.49GiB", 1, 2.49 * 1073741824},
            {"2 KiB", 1, 2048},
            {"38.5GB", 1, 38.5e9},
            {"3.1%", 0, 0.031},
            {"12 ms", 0, 0.012},
            {"12us", 0, 12e-6},
            {"2s", 0, 2},
            {"nan", 0, NAN},
            {"NaN", 0, NAN},
            {"-Inf", 0, -INFINITY},
            {"infinity", 0, INFINITY},
    };
    static const char *const none[] = {
            "",      " ",   "-",     "abc",  "1.2.3", "12 apples", "1e",
            "e5",    "BiB", "BB",    "1 x",  "0x10",  "1,",        ",1",
            "nanny", "in",  "1 KKB", "1KiX", "--1",   "1+1"};
    double value;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        value = -77;
        if (!tri_value_read(rows[i].text, strlen(rows[i].text),
                            rows[i].is_bytes, &value) ||
            !is_near(value, rows[i].value)) {
            if (value != rows[i].value) { /* infinities */
                fail_msg("\"%s\" is %g", rows[i].text, value);
            }
        }
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        if (tri_value_read(none[i], strlen(none[i]), 0, &value)) {
            fail_msg("\"%s\" is a value: %g", none[i], value);
        }
    }
}

/* ---- trainers ----------------------------------------------------------- */

typedef struct expected { /* 0: not said */
    const char *trainer;
    tri_stream stream;
    const char *line;
    double step, tokens_per_s, samples, samples_per_s, consumed_tokens, loss,
            step_s, bytes;
} expected;

static void check(const char *line, const char *what, double found,
                  double wanted)
{
    if (!(wanted == 0 ? isnan(found) : is_near(found, wanted))) {
        fail_msg("%s\n%s is %.10g, expected %.10g", line, what, found, wanted);
    }
}

static void expect(const expected *e)
{
    tri_metrics *m = fresh(e->trainer, NULL, NULL, 0);
    char text[2048];

    snprintf(text, sizeof text, "%s\n", e->line);
    feed(m, e->stream, text);
    check(e->line, "step", last.step < 0 ? NAN : (double)last.step, e->step);
    check(e->line, "tokens_per_s", last.tokens_per_s, e->tokens_per_s);
    check(e->line, "samples", last.samples, e->samples);
    check(e->line, "samples_per_s", last.samples_per_s, e->samples_per_s);
    check(e->line, "consumed_tokens", last.consumed_tokens, e->consumed_tokens);
    check(e->line, "loss", last.loss, e->loss);
    check(e->line, "step_s", last.step_s, e->step_s);
    check(e->line, "bytes", last.bytes, e->bytes);
    tri_metrics_destroy(m);
}

#define OUT TRI_STREAM_OUT
#define ERR TRI_STREAM_ERR
#define GIB 1073741824.0

static void megatron(void **state)
{
    static const expected rows[] = {
            /* 2021 */
            {"megatron-lm", OUT,
             " iteration      200/    1000 | consumed samples:          800 | "
             "elapsed time per iteration (ms): 430.0 | learning rate: 1.3E-04 "
             "| global batch size:     4 | lm loss: 7.399415E+00 | loss scale: "
             "16384.0 | grad norm: 2.918 | number of skipped iterations:   0 | "
             "number of nan iterations:   0 |",
             .step = 200, .samples = 4, .loss = 7.399415, .step_s = 0.43},
            /* 2025: a time, TFLOP/s, an overflow at the start without a loss */
            {"megatron-lm", OUT,
             " [2025-04-13 23:41:12] iteration       10/     500 | consumed "
             "samples:         1280 | elapsed time per iteration (ms): 1147.6 "
             "| throughput per GPU (TFLOP/s/GPU): 98.1 | learning rate: "
             "0.0E+00 | global batch size:   128 | loss scale: 8388608.0 | "
             "number of skipped iterations:  10 | number of nan iterations: 0 "
             "|",
             .step = 10, .samples = 128, .step_s = 1.1476},
            /* a loss that is none */
            {"megatron-lm", OUT,
             " iteration       11/     500 | elapsed time per iteration (ms): "
             "1,147.6 | global batch size:   128 | lm loss: NAN | loss scale: "
             "1.0 |",
             .step = 11, .samples = 128, .step_s = 1.1476},
            /* before consumed samples; no colon behind the loss */
            {"megatron-lm", OUT,
             " iteration        7/     100 | elapsed time per iteration (ms): "
             "12.5 | learning rate 1.5E-04 | lm loss 9.5E+00 | loss scale "
             "65536.0 |",
             .step = 7, .loss = 9.5, .step_s = 0.0125},
            /* of DeepSpeed's fork */
            {"megatron-lm", OUT,
             " iteration      199/  317892 | consumed samples:       152832 | "
             "consumed tokens:    625999872 | elapsed time per iteration (ms): "
             "14287.5 | learning rate: 2.407E-04 | global batch size:   768 | "
             "lm loss: 5.905366E+00 | actual seqlen:  4096 | samples per "
             "second: 53.754 | tokens per gpu per second (tgs): 2,293.5 | "
             "TFLOPs: 12.3 |",
             .step = 199, .tokens_per_s = RANKS * 2293.5, .samples = 768,
             .consumed_tokens = 625999872, .loss = 5.905366, .step_s = 14.2875},
            {"megatron-lm", OUT,
             " iteration 3/infinity | elapsed time per iteration (ms): 2.0 | "
             "tokens per GPU (tokens/s/GPU): 1234.5 / 1200.0 |",
             .step = 3, .tokens_per_s = RANKS * 1234.5, .step_s = 0.002},
            {"megatron-lm", OUT,
             "[Rank 0] (after 2 iterations) memory (MB) | allocated: 1000.5 | "
             "max allocated: 2000.25 | reserved: 2048.0 | max reserved: 4096.0",
             .bytes = 4096 * 1048576.0},
            {"megatron-lm", OUT,
             " validation loss at iteration 100 on validation set | lm loss "
             "value: 7.1E+00 | lm loss PPL: 1.2E+03 |",
             .step = 0},
            {"megatron-lm", OUT,
             "    forward-backward ......................: (123.15, 123.15)",
             .step = 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        expect(&rows[i]);
    }
}

static void deepspeed(void **state)
{
    static const expected rows[] = {
            {"deepspeed", ERR,
             "[2023-11-07 01:55:23,711] [INFO] [logging.py:96:log_dist] [Rank "
             "0] step=10, skipped=4, lr=[4.9e-05, 4.9e-05], mom=[(0.9, 0.95), "
             "(0.9, 0.95)]",
             .step = 10},
            {"deepspeed", ERR,
             "[2023-11-07 01:55:23,714] [INFO] [timer.py:260:stop] "
             "epoch=0/micro_step=40/global_step=10, "
             "RunningAvgSamplesPerSec=25.025, CurrSamplesPerSec=25.75, "
             "MemAllocated=4.32GB, MaxMemAllocated=38.5GB",
             .step = 10, .samples_per_s = 25.75, .bytes = 38.5 * GIB},
            {"deepspeed", OUT,
             "[2022-08-29 06:58:56,176] [INFO] [timer.py:198:stop] 0/20, "
             "RunningAvgSamplesPerSec=232.5, CurrSamplesPerSec=227, "
             "MemAllocated=0.36GB, MaxMemAllocated=15.06GB",
             .step = 20, .samples_per_s = 227, .bytes = 15.06 * GIB},
            {"deepspeed", OUT,
             "[2021-04-01 10:00:00,000] [INFO] [timer.py:154:stop] 0/30, "
             "SamplesPerSec=23.5",
             .step = 30, .samples_per_s = 23.5},
            {"deepspeed", OUT,
             "worker-0: [INFO 2020-02-06 19:53:56] rank:0 step=5, skipped=0, "
             "lr=[0.001], mom=[[0.8, 0.999]]",
             .step = 5},
            {"deepspeed", OUT,
             "[INFO] [config.py:960:print]   steps_per_print .............. 1",
             .step = 0},
            {"deepspeed", OUT,
             "[Rank 0] time (ms) | optimizer_allgather: 884.11 | "
             "optimizer_gradients: 6.43 | optimizer_step: 23.44",
             .step = 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        expect(&rows[i]);
    }
}

static void nanotron(void **state)
{
    static const expected rows[] = {
            {"nanotron", ERR,
             "[default0]:07/02/2024 10:11:12 [INFO|DP=0|PP=1|TP=0|host-1]: "
             "iteration: 10 / 100 | consumed_tokens: 82K | "
             "elapsed_time_per_iteration_ms: 1.23K | tokens_per_sec: 66.6K | "
             "tokens_per_sec_per_gpu: 33.3K | global_batch_size: 16 | "
             "lm_loss: 10.4 | lr: 0.0003 | model_tflops_per_gpu: 1.2 | "
             "hardware_tflops_per_gpu: 1.5 | grad_norm: 0.5 | "
             "cuda_memory_allocated: 1.2G | cuda_max_memory_reserved: 3.4G | "
             "hd_total_memory_tb: 1.2T",
             .step = 10, .tokens_per_s = 66600, .loss = 10.4, .bytes = 3.4e9},
            {"nanotron", ERR,
             "12/01/2024 10:11:12 [INFO|DP=0|PP=0|TP=0]: iteration: 2 / 15000 "
             "| time_per_iteration_ms: 1.23K | tokens_per_sec: 1.66M | "
             "tokens_per_sec_per_gpu: 52K | global_batch_size: 1.05M | "
             "lm_loss: 11 | lr: 3e-05",
             .step = 2, .tokens_per_s = 1.66e6, .loss = 11},
            {"nanotron", OUT,
             "iteration: 3 / 9 | consumed_samples:      24 | "
             "elapsed_time_per_iteration_ms: 123.4 | tokens_per_sec: "
             "1.330000E+05 | tokens_per_sec_per_gpu: 6.65E+04 | "
             "global_batch_size:     8 | lm_loss: 1.0E+01",
             .step = 3, .tokens_per_s = 133000, .loss = 10},
            {"nanotron", OUT, "[INFO]: Start training datasets: iteration 1",
             .step = 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        expect(&rows[i]);
    }
}

static void torchtitan(void **state)
{
    static const expected rows[] = {
            {"torchtitan", ERR,
             "[rank0]:[titan] 2025-10-30 14:32:58,990 - root - INFO - step:  2 "
             " loss:  6.1098  grad_norm:  4.6416  memory:  2.50GiB(3.14%)  "
             "tps: 177,138  tflops: 96.17  mfu: 9.72%",
             .step = 2, .tokens_per_s = RANKS * 177138., .loss = 6.1098,
             .bytes = 2.5 * GIB},
            {"torchtitan", ERR,
             "[titan] 2025-10-30 14:32:58,990 - root - INFO - \x1b[31mstep: 10 "
             " \x1b[32mloss:  5.2500  \x1b[38;5;208mgrad_norm:  1.6416  "
             "\x1b[36mmemory: 40.25GiB(51.14%)  \x1b[34mtps: 7,138  "
             "\x1b[36mtflops: 1,396.17  \x1b[35mmfu: 39.72%\x1b[39m",
             .step = 10, .tokens_per_s = RANKS * 7138., .loss = 5.25,
             .bytes = 40.25 * GIB},
            {"torchtitan", ERR,
             "2024-06-10 10:11:12,123 - root - INFO - step: 20  loss:  nan  "
             "memory: 10.50GiB(11.05%)  wps: 2,345  mfu: 21.00%",
             .step = 20, .tokens_per_s = RANKS * 2345., .bytes = 10.5 * GIB},
            {"torchtitan", ERR,
             "[titan] - root - INFO - step:  1  loss: -1.0000  grad_norm:  0.5 "
             " "
             "memory:  2.50GiB(3.14%)  tps: 100  tflops: 0.17  mfu: N/A",
             .step = 1, .tokens_per_s = RANKS * 100., .bytes = 2.5 * GIB},
            {"torchtitan", ERR,
             "[titan] - root - INFO - validate step: 10  loss:  4.4321  "
             "memory: 40.25GiB(51.14%)  tps: 9,999",
             .step = 0},
            {"torchtitan", ERR,
             "[titan] - root - INFO - Training starts at step 1.", .step = 0},
    };
    tri_metrics *m = fresh("torchtitan", "mfu", NULL, 0);
    char line[600];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        expect(&rows[i]);
    }
    snprintf(line, sizeof line, "%s\n", rows[0].line);
    feed(m, ERR, line);
    assert_true(is_near(last.own, 0.0972));
    tri_metrics_destroy(m);
}

static void huggingface(void **state)
{
    static const expected rows[] = {
            {"huggingface", OUT,
             "{'loss': 2.3456, 'grad_norm': 1.25, 'learning_rate': 4.9e-05, "
             "'num_input_tokens_seen': 4096, 'epoch': 0.02}",
             .loss = 2.3456, .consumed_tokens = 4096},
            {"huggingface", OUT,
             "{'loss': '2.5', 'grad_norm': '1.25', 'epoch': '0.02'}",
             .loss = 2.5},
            {"huggingface", OUT,
             "[default0]:{'loss': 2, 'learning_rate': 4.9e-05, 'epoch': 0.02, "
             "'num_input_tokens_seen': 19660800, 'train_runtime': 252.007}",
             .loss = 2, .consumed_tokens = 19660800},
            {"huggingface", OUT,
             "[INFO|2025-10-17 11:15:23] train.callbacks:143 >> {'loss': "
             "3.2374, 'epoch': 0.37, 'throughput': 82.25}",
             .step = 0},
            {"huggingface", OUT,
             "{'eval_loss': 0.25, 'eval_runtime': 155.4, 'epoch': 0.1, "
             "'num_input_tokens_seen': 62432}",
             .step = 0},
            {"huggingface", ERR,
             "  1%|\xe2\x96\x88         | 10/1000 [00:05<08:15,  2.00it/s]",
             .step = 10},
            {"huggingface", ERR,
             "100%|\xe2\x96\x88\xe2\x96\x88| 50/50 [00:25<00:00,  2.00s/it]",
             .step = 50},
            {"huggingface", ERR,
             "Map: 100%|\xe2\x96\x88\xe2\x96\x88| 1000/1000 [00:00<00:00, "
             "9999.00 examples/s]",
             .step = 0},
            {"huggingface", ERR,
             "Loading checkpoint shards:  50%|##   | 1/2 [00:01<00:01]",
             .step = 0},
            {"huggingface", OUT,
             "{'eval_loss': 2.25, 'eval_runtime': 1.2, 'epoch': 1.0}",
             .step = 0},
            {"huggingface", OUT,
             "{'train_runtime': 12.3, 'train_samples_per_second': 81.2, "
             "'train_loss': 2.0, 'epoch': 1.0}",
             .step = 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        expect(&rows[i]);
    }
}

/* ---- the user's own, and streams ----------------------------------------- */

static void own_patterns_go_before(void **state)
{
    static const tri_pair patterns[] = {
            {"step", "^it (\\d+):"},
            {"latency_ms", "latency (\\S+) ms"},
            {"gib", "mem (\\S+)G"},
            {"loss", "objective=(\\S+)"},
    };
    tri_metrics *m = fresh("megatron-lm", "latency_s", patterns, 4);
    char names[200];

    (void)state;
    feed(m, OUT,
         "it 7: latency 12.5 ms, mem 2G objective=1.5 | lm loss: 9.0 |\n");
    assert_int_equal(n_lines, 1);
    assert_int_equal(last.step, 7);
    assert_true(is_near(last.own, 0.0125) && last.loss == 1.5);
    assert_true(last.bytes == 2 * GIB);
    tri_metrics_names(m, names, sizeof names);
    assert_string_equal(names, "step, latency_ms, gib, loss");
    feed(m, OUT, "it 1.5e99: x\nit nan:\nmem xG\n");
    assert_int_equal(n_lines, 1);
    tri_metrics_destroy(m);
}

/* Lines without a step are steps until one has a step. */
static void lines_belong_to_steps(void **state)
{
    tri_metrics *m = fresh("huggingface", NULL, NULL, 0);

    (void)state;
    feed(m, OUT, "{'loss': 2.5}\n");
    assert_true(last.step == -1 && !last.belongs);
    feed(m, ERR, "  0%|   | 0/9 [00:00<?, ?it/s]\r 11%|#  | 1/9 [00:00<?]\r");
    assert_int_equal(n_lines, 3);
    assert_int_equal(last.step, 1);
    feed(m, OUT, "{'loss': 2.25}\r\n");
    assert_int_equal(n_lines, 4);
    assert_true(last.step == -1 && last.belongs && last.loss == 2.25);
    assert_int_equal(tri_metrics_garbled(m), 0);
    tri_metrics_destroy(m);
}

/* A bar ends when the next one is drawn: it is read before. */
static void bars_are_read_as_they_stand(void **state)
{
    tri_metrics *m = fresh("huggingface", NULL, NULL, 0);

    (void)state;
    feed(m, ERR, " 11%|#  | 1/9 [00:0");
    assert_int_equal(n_lines, 0); /* it may be any line */
    feed(m, ERR, "0<?]\r 22%|#");
    assert_true(n_lines == 1 && last.step == 1);
    feed(m, ERR, "  | 2/9 [00:00<?]");
    assert_true(n_lines == 2 && last.step == 2);
    feed(m, OUT, "{'loss': 2.25}\n");
    assert_true(n_lines == 3 && last.belongs);
    tri_metrics_end(m, on_line, NULL);
    assert_true(n_lines == 4 && last.step == 2);
    tri_metrics_destroy(m);
}

static void streams_do_not_mix(void **state)
{
    tri_metrics *m = fresh("torchtitan", NULL, NULL, 0);

    (void)state;
    feed(m, OUT, "{\"step\": 3, ");
    feed(m, ERR, "step: 4  loss:  1.5  ");
    feed(m, TRI_STREAM_FD, "{\"checkpoint\": 2");
    assert_int_equal(n_lines, 0);
    feed(m, OUT, "\"loss\": 2.5}\n");
    assert_true(n_lines == 1 && last.step == 3 && last.loss == 2.5);
    feed(m, ERR, "tps: 10\n");
    assert_true(n_lines == 2 && last.step == 4 && last.loss == 1.5);
    feed(m, TRI_STREAM_FD, "}\n{\"step\": 5}");
    assert_true(n_lines == 3 && last.checkpoint == 2);
    feed(m, ERR, "{\"step\": 9}\n"); /* JSON is not read from there */
    assert_int_equal(n_lines, 3);
    tri_metrics_end(m, on_line, NULL);
    assert_true(n_lines == 4 && last.step == 5);
    /* now that the descriptor is in use, nothing else is */
    feed(m, ERR, "step: 6  loss:  1.5  tps: 10\n");
    feed(m, OUT, "{\"step\": 6}\n");
    assert_int_equal(n_lines, 4);
    feed(m, OUT, "{\"checkpoint\": 6}\n");
    assert_true(n_lines == 5 && last.checkpoint == 6);
    tri_metrics_destroy(m);
}

static void what_is_said_of_lines(void **state)
{
    tri_metrics *m = fresh("nanotron", NULL, NULL, 0);
    char say[300];

    (void)state;
    tri_metrics_say(m, say, sizeof say);
    assert_string_equal(say, "it printed nothing");
    feed(m, OUT, "hello\nworld\n");
    tri_metrics_say(m, say, sizeof say);
    assert_string_equal(
            say, "in none of its 2 lines was a pattern of nanotron found");
    assert_true(tri_metrics_is_spread(m));
    tri_metrics_destroy(m);
    m = fresh(NULL, NULL, NULL, 0);
    tri_metrics_say(m, say, sizeof say);
    assert_string_equal(say, "it should print JSON lines such as {\"step\": 1, "
                             "\"loss\": 2.5}");
    assert_false(tri_metrics_is_spread(m));
    tri_metrics_destroy(m);
}

/* ---- what could take long ------------------------------------------------ */

static void evil_patterns_end(void **state)
{
    static const tri_pair patterns[] = {
            {"loss", "^(a+)+$"},
            {"tokens", "(x+x+)+y"},
            {"samples", "(?:\\d+,?)+(z)"},
            {"step", "^((?:a|b|ab)*)c"},
    };
    tri_metrics *m;
    char *text = malloc(2 * TRI_METRICS_LINE_BYTES);

    (void)state;
    m = fresh(NULL, NULL, patterns, 2);
    tri_metrics_destroy(m);
    for (int i = 0; i < 4; i++) {
        tri_process_spec spec = {.metrics = {NULL, &patterns[i], 1}};
        static const char fill[] = {'a', 'x', '1', 'a'};

        if (i == 1) { /* two groups would be refused; one is enough */
            continue;
        }
        assert_int_equal(tri_metrics_create(NULL, &m), TRI_OK);
        assert_int_equal(tri_metrics_use(m, &spec, 1), TRI_OK);
        memset(text, fill[i], TRI_METRICS_LINE_BYTES);
        text[TRI_METRICS_LINE_BYTES - 2] = '!';
        for (int k = 0; k < 20; k++) {
            text[TRI_METRICS_LINE_BYTES - 1] = '\n';
            tri_metrics_hear(m, OUT, text, TRI_METRICS_LINE_BYTES, on_line,
                             NULL);
        }
        tri_metrics_destroy(m);
    }
    free(text);
}

static void noise_does_no_harm(void **state)
{
    static const char *const pieces[] = {
            "iteration 5/ 10 |",
            "step: 3  loss: ",
            "\x1b[31m",
            "\x1b",
            "\x1b[",
            "tps: 1,2,3",
            "lm loss: -",
            "\r",
            "\n",
            "{'loss': ",
            "consumed tokens: 99999999999999999999999999 |",
            "\0x",
            "nan",
            "global_step=1, SamplesPerSec=1e999",
            "10%|#| 3/9 [",
            "GiB(",
            "memory (MB) | max reserved: 1e308",
            "step=1, skipped=0"};
    tri_rng rng = tri_rng_stream(SEED, 2, TRI_RNG_TEST);

    (void)state;
    for (int t = 0; t < tri_n_trainers(); t++) {
        tri_metrics *m = fresh(tri_trainer_at(t)->name, "mfu", NULL, 0);
        static tri_news news;

        tri_news_init(&news, 0);
        for (int round = 0; round < 3000; round++) {
            const char *piece =
                    pieces[tri_rng_below(&rng, sizeof pieces / sizeof *pieces)];
            char noise = (char)tri_rng_u64(&rng);

            tri_metrics_hear(m, (tri_stream)(round % 3), piece, strlen(piece),
                             on_line, NULL);
            tri_metrics_hear(m, (tri_stream)(round % 3), &noise, 1, on_line,
                             NULL);
            tri_news_hear(&news, &last);
        }
        tri_metrics_end(m, on_line, NULL);
        tri_metrics_destroy(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(values),
            cmocka_unit_test(megatron),
            cmocka_unit_test(deepspeed),
            cmocka_unit_test(nanotron),
            cmocka_unit_test(torchtitan),
            cmocka_unit_test(huggingface),
            cmocka_unit_test(own_patterns_go_before),
            cmocka_unit_test(lines_belong_to_steps),
            cmocka_unit_test(bars_are_read_as_they_stand),
            cmocka_unit_test(streams_do_not_mix),
            cmocka_unit_test(what_is_said_of_lines),
            cmocka_unit_test(evil_patterns_end),
            cmocka_unit_test(noise_does_no_harm),
    };

    print_message("seed %u\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
