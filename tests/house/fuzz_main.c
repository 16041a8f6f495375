/*
 * Drives a fuzz target where libFuzzer is not at hand: every file of the
 * corpus, then a number of mutations of them.  Mutation number i depends on
 * the corpus and i alone, so that a failure comes again:
 *
 *   fuzz_x RUNS [FILE_OR_FOLDER...]         all of it
 *   FUZZ_ONLY=i fuzz_x RUNS [...]           mutation i only
 *
 * Knows nothing of the target.  A failing target crashes; the number of the
 * mutation is said as the program dies.
 */
#include "trireme/rng.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEED       1u
#define MOST_SEEDS 4096
#define MOST_BYTES ((size_t)1 << 16)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
/* There in sanitizer builds only. */
/* NOLINTNEXTLINE(readability-identifier-naming) */
void __sanitizer_set_death_callback(void (*callback)(void))
        __attribute__((weak));

typedef struct input {
    size_t bytes;
    uint8_t *data;
} input;

static input seeds[MOST_SEEDS];
static int n_seeds;
static uint8_t work[2 * MOST_BYTES];
static volatile long running = -1;

static void say_where(void)
{
    static const char intro[] = "\nfuzz: again with FUZZ_ONLY=";
    char digits[24];
    size_t at = sizeof digits - 1;
    long left = running < 0 ? -running : running;

    /* by hand: this runs in a signal handler; in the corpus it says -1 */
    digits[at] = '\n';
    do {
        digits[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left);
    if (running < 0) {
        digits[--at] = '-';
    }
    if (write(STDERR_FILENO, intro, sizeof intro - 1) < 0 ||
        write(STDERR_FILENO, digits + at, sizeof digits - at) < 0) {
        return; /* nowhere to say it */
    }
}

static void on_signal(int signal_number)
{
    say_where();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void watch_for_death(void)
{
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

    if (__sanitizer_set_death_callback) {
        __sanitizer_set_death_callback(say_where);
        signal(SIGABRT, on_signal); /* the one that sanitizers leave alone */
        return;
    }
    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++) {
        signal(fatal[i], on_signal);
    }
}

static void add_seed(const uint8_t *data, size_t bytes)
{
    input *seed = &seeds[n_seeds];

    if (n_seeds == MOST_SEEDS) {
        return;
    }
    seed->data = malloc(bytes + 1);
    if (seed->data) {
        memcpy(seed->data, data, bytes);
        seed->bytes = bytes;
        n_seeds++;
    }
}

static int add_file(const char *path)
{
    FILE *file = fopen(path, "rb");

    if (!file) {
        return -1;
    }
    add_seed(work, fread(work, 1, MOST_BYTES, file));
    return fclose(file);
}

static int is_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* A file, or a folder's files by name. */
static int add_path(const char *path)
{
    struct dirent **entries = NULL;
    int n = scandir(path, &entries, is_file, alphasort);
    int status = 0;

    if (n < 0) {
        return add_file(path);
    }
    for (int i = 0; i < n; i++) {
        char name[4096];

        snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        status |= add_file(name);
        free(entries[i]);
    }
    free(entries);
    return status;
}

static size_t pick(tri_rng *rng, size_t n)
{
    return n ? (size_t)tri_rng_below(rng, n) : 0;
}

/* Move the bytes from `at` on by `gap` places, either way. */
static size_t shift(size_t bytes, size_t at, long gap)
{
    if (gap < 0) {
        memmove(work + at, work + at - gap, bytes - at - (size_t)-gap);
    } else {
        memmove(work + at + gap, work + at, bytes - at);
    }
    return (size_t)((long)bytes + gap);
}

static size_t splice(tri_rng *rng, size_t bytes)
{
    const input *other = &seeds[pick(rng, (size_t)n_seeds)];
    size_t from = pick(rng, other->bytes + 1);
    size_t length = pick(rng, other->bytes - from + 1) % 256;
    size_t at = pick(rng, bytes + 1);

    bytes = shift(bytes, at, (long)length);
    memcpy(work + at, other->data + from, length);
    return bytes;
}

static size_t insert(tri_rng *rng, size_t bytes)
{
    static const char *const words[] = {"-1",   "0",     "9223372036854775807",
                                        "1e99", "[",     "]",
                                        "{",    "}",     ":",
                                        "\"",   "\n",    "**",
                                        "//",   "nan",   "- ",
                                        "\xff", "\t",    " and ",
                                        "(",    "&a *a", "\\"};
    const char *word = words[pick(rng, sizeof words / sizeof words[0])];
    size_t at = pick(rng, bytes + 1);

    bytes = shift(bytes, at, (long)strlen(word));
    for (size_t i = 0; word[i]; i++) {
        work[at + i] = (uint8_t)word[i];
    }
    return bytes;
}

static size_t overwrite(tri_rng *rng, size_t bytes)
{
    static const uint64_t values[] = {
            0,          1,          0x7f,
            0xff,       0x7fffffff, 0x80000000,
            0xffffffff, UINT64_MAX, (uint64_t)1 << 63};
    uint64_t value = values[pick(rng, sizeof values / sizeof values[0])];
    size_t width = (size_t)1 << pick(rng, 4);

    if (bytes >= width) {
        memcpy(work + pick(rng, bytes - width + 1), &value, width);
    }
    return bytes;
}

static size_t mutate(tri_rng *rng, size_t bytes)
{
    size_t at = pick(rng, bytes);
    size_t length = bytes ? 1 + pick(rng, bytes - at) % 64 : 0;

    switch (pick(rng, 7)) {
    case 0:
        return splice(rng, bytes);
    case 1:
        return insert(rng, bytes);
    case 2:
        return overwrite(rng, bytes);
    case 3: /* delete */
        return bytes ? shift(bytes, at, -(long)length) : 0;
    case 4: /* repeat */
        bytes = shift(bytes, at, (long)length);
        return bytes;
    case 5: /* flip a bit */
        if (bytes) {
            work[at] ^= (uint8_t)(1u << pick(rng, 8));
        }
        return bytes;
    default: /* cut short, now and then */
        return pick(rng, 8) ? bytes : at;
    }
}

static void run(const uint8_t *data, size_t bytes)
{
    /* of exactly this size, so that a sanitizer sees a read past the end */
    uint8_t *copy = malloc(bytes ? bytes : 1);

    if (!copy) {
        return;
    }
    memcpy(copy, data, bytes);
    (void)LLVMFuzzerTestOneInput(copy, bytes);
    free(copy);
}

static void run_mutation(long i)
{
    tri_rng rng = tri_rng_stream(SEED, (uint64_t)i, TRI_RNG_TEST);
    const input *seed = &seeds[pick(&rng, (size_t)n_seeds)];
    size_t n = 1 + pick(&rng, 6);
    size_t bytes = seed->bytes;

    memcpy(work, seed->data, bytes);
    for (size_t m = 0; m < n && bytes < MOST_BYTES; m++) {
        bytes = mutate(&rng, bytes);
    }
    running = i;
    run(work, bytes);
}

static void run_all(long n_runs, const char *only)
{
    if (only) {
        run_mutation(strtol(only, NULL, 10));
        return;
    }
    for (int i = 0; i < n_seeds; i++) {
        run(seeds[i].data, seeds[i].bytes);
    }
    for (long i = 0; i < n_runs; i++) {
        run_mutation(i);
    }
}

int main(int argc, char **argv)
{
    long n_runs = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
    int status = 0;

    watch_for_death();
    for (int i = 2; i < argc; i++) {
        status |= add_path(argv[i]);
    }
    if (status) {
        fprintf(stderr, "fuzz: cannot read the corpus\n");
        return 1;
    }
    add_seed((const uint8_t *)"", 0);
    run_all(n_runs, getenv("FUZZ_ONLY"));
    printf("fuzz: %d inputs, %ld mutations, seed %u\n", n_seeds, n_runs, SEED);
    for (int i = 0; i < n_seeds; i++) {
        free(seeds[i].data);
    }
    return 0;
}
