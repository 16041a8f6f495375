/*
 * What must hold of the tiny study after a fault, whatever it was.  `n` is the
 * number of the fault, for the message.
 */
#ifndef TRI_TESTS_STORE_EXPECT_H
#define TRI_TESTS_STORE_EXPECT_H

#include <stdint.h>

/* `least` events or more are there and replay; nothing at all will do where
 * `least` is 0. */
void expect_history(const char *path, int64_t least, int64_t n);
/* It ended: whole tables, and nothing in `dir` but the file and .exit. */
void expect_end(const char *dir, const char *path, int64_t n);
/* There is a .exit that says how it ended. */
void expect_exit(const char *path, int64_t n);

#endif
