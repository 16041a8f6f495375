/*
 * The training text: what is taken, what is refused, and that a run keeps its
 * text whatever happens to the file.
 */
#include "mpi_workers/corpus.h"

#include "tests/tri_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[64];
static int fd;

static int create_file(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/trireme-corpus-XXXXXX");
    fd = mkstemp(path);
    return fd < 0;
}

static int remove_file(void **state)
{
    (void)state;
    close(fd);
    return unlink(path);
}

/* 300000 bytes that tell where they are. */
static void fill_file(void)
{
    for (int i = 0; i < 30000; i++) {
        assert_int_equal(dprintf(fd, "%09d\n", i), 10);
    }
}

static void the_text_outlives_its_file(void **state)
{
    tri_corpus c;
    char number[16];

    (void)state;
    fill_file();
    assert_int_equal(tri_corpus_open(path, 64, &c), TRI_OK);
    assert_int_equal(c.n, 300000);
    assert_int_equal(ftruncate(fd, 0), 0);
    for (int i = 0; i < 30000; i++) {
        snprintf(number, sizeof number, "%09d\n", i);
        assert_memory_equal(c.bytes + (size_t)i * 10, number, 10);
    }
    tri_corpus_close(&c);
    assert_null(c.bytes);
    tri_corpus_close(&c);
}

static void refused(const char *name, int64_t least, const char *said)
{
    tri_corpus c;

    assert_int_equal(tri_corpus_open(name, least, &c), TRI_EDATA);
    assert_non_null(strstr(tri_error_last()->sentence, said));
    assert_non_null(strstr(tri_error_last()->sentence, name));
}

static void what_is_refused(void **state)
{
    (void)state;
    refused("/no/such/text", 4, "No such file");
    refused("/tmp", 4, "not a regular file");
    refused(path, 0, "0 bytes");
    assert_int_equal(dprintf(fd, "four"), 4);
    refused(path, 4, "4 bytes, fewer than");
    assert_int_equal(ftruncate(fd, TRI_CORPUS_MOST_BYTES + 1), 0); /* a hole */
    refused(path, 4, "not taken");
}

static void one_byte_more_than_least(void **state)
{
    tri_corpus c;

    (void)state;
    assert_int_equal(dprintf(fd, "four"), 4);
    assert_int_equal(tri_corpus_open(path, 3, &c), TRI_OK);
    assert_memory_equal(c.bytes, "four", 4);
    tri_corpus_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test_setup_teardown(the_text_outlives_its_file,
                                            create_file, remove_file),
            cmocka_unit_test_setup_teardown(what_is_refused, create_file,
                                            remove_file),
            cmocka_unit_test_setup_teardown(one_byte_more_than_least,
                                            create_file, remove_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
