/*
 * Runs the program as a user does, in a folder of its own, and keeps what it
 * printed.  Shared by the tests of the command line.
 */
#ifndef TRI_TESTS_APP_CLI_H
#define TRI_TESTS_APP_CLI_H

#include "tests/tri_cmocka.h"

#include <jansson.h>

typedef struct cli_ran {
    int status; /* exit status; 256 + signal if it was killed */
    char *out, *err;
} cli_ran;

/* A fresh folder, which becomes the current one; argv[1] is the program and
 * argv[2] mpirun.  Returns 0, or -1 with a sentence printed. */
int cli_init(int argc, char **argv);
/* Remove the folder. */
void cli_fini(void);

/* Write a file into the folder. */
void cli_write(const char *name, const char *text);

/* Run "trireme ARGS" in a shell; the result stands until the next run. */
const cli_ran *cli_run(const char *fmt, ...)
        __attribute__((format(printf, 1, 2)));
/* The same under mpirun with `n` ranks. */
const cli_ran *cli_mpirun(int n, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));

/* The same, sending mpirun `signal` ("USR1") after `after_s` seconds. */
const cli_ran *cli_signalled(int n, const char *signal, double after_s,
                             const char *args);

/* Start the same under mpirun in the background, standard output into
 * first.out, standard error into first.err. */
void cli_start(int n, const char *args);
/* Wait for it; its exit status. */
int cli_await(void);
/* Whether a file's text contains `needle`. */
int cli_says(const char *name, const char *needle);

/* The one JSON document on standard output.  Owned by the caller. */
json_t *cli_json(const cli_ran *ran);
/* Assert the exit status, and that standard error is exactly one line that
 * contains `needle`. */
void cli_expect_sentence(const cli_ran *ran, int status, const char *needle);
/* Assert the exit status and an error object with this code and a sentence
 * that contains `needle`. */
void cli_expect_json_error(const cli_ran *ran, int status, const char *code,
                           const char *needle);
/* Lines of `text`. */
int cli_lines(const char *text);

/* A small study of kind synthetic. */
extern const char *const cli_synthetic;
/* A small study of kind gpt. */
extern const char *const cli_gpt;

#endif
