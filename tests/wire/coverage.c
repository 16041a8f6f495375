/*
 * protocol.def holds every field of every struct, in the order of the headers:
 * read from the text of the headers, so that a field added there and forgotten
 * in the list fails here, even where padding would hide it.
 */
#include "tests/tri_cmocka.h"

#include "src/wire/fields.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_header(const char *name)
{
    char path[1024];
    char *text = calloc(1, 1 << 20);
    FILE *f;

    assert_non_null(text);
    snprintf(path, sizeof path, "%s/include/trireme/%s", TRI_SOURCE_DIR, name);
    f = fopen(path, "r");
    assert_non_null(f);
    assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return text;
}

static void blank_comments(char *text)
{
    char *open, *close;

    while ((open = strstr(text, "/*")) && (close = strstr(open, "*/"))) {
        memset(open, ' ', (size_t)(close + 2 - open));
    }
}

/* The body of "typedef struct NAME { ... } NAME;", NULL if not in the text. */
static char *find_body(char *text, const char *name, char **end)
{
    char head[128];
    char *at;

    snprintf(head, sizeof head, "typedef struct %s {", name);
    at = strstr(text, head);
    if (at) {
        at += strlen(head);
        *end = strchr(at, '}');
    }
    return at;
}

/* The next declared name in [at, end): the last identifier before a ',' or
 * ';'.  NULL when there is none. */
static char *next_name(char *at, const char *end, char *name, size_t bytes)
{
    char *stop = at + strcspn(at, ",;");
    char *from = stop;

    if (stop >= end) {
        return NULL;
    }
    while (from > at && (isalnum((unsigned char)from[-1]) || from[-1] == '_')) {
        --from;
    }
    snprintf(name, bytes, "%.*s", (int)(stop - from), from);
    return stop + 1;
}

static int is_count_of(const tri_struct_desc *desc, const char *name)
{
    int i;

    for (i = 0; i < desc->n_fields; ++i) {
        const char *count = desc->fields[i].count_name;

        if (count && strcmp(count, name) == 0) {
            return 1;
        }
    }
    return 0;
}

static void check_struct(const tri_struct_desc *desc, char *at, const char *end)
{
    char name[128];
    int i = 0;

    while ((at = next_name(at, end, name, sizeof name))) {
        if (is_count_of(desc, name)) {
            continue;
        }
        if (i == desc->n_fields || strcmp(desc->fields[i].name, name) != 0) {
            fail_msg("%s.%s is not at its place in protocol.def", desc->name,
                     name);
        }
        ++i;
    }
    assert_int_equal(i, desc->n_fields);
}

static void every_field_is_listed(void **state)
{
    char *texts[2] = {read_header("event.h"), read_header("wire.h")};
    int i, k, found = 0;

    for (k = 0; k < 2; ++k) {
        blank_comments(texts[k]);
    }
    for (i = 0; i < tri_n_structs; ++i) {
        for (k = 0; k < 2; ++k) {
            char *end = NULL;
            char *body = find_body(texts[k], tri_all_structs[i]->name, &end);

            if (body) {
                check_struct(tri_all_structs[i], body, end);
                ++found;
            }
        }
    }
    assert_int_equal(found, tri_n_structs);
    free(texts[0]);
    free(texts[1]);
}

static void every_kind_has_a_body_and_a_name(void **state)
{
    static const int counts[] = {TRI_EV_COUNT, TRI_CMD_COUNT, TRI_MSG_COUNT};
    int set, kind;

    for (set = TRI_BODY_EVENT; set <= TRI_BODY_MESSAGE; ++set) {
        for (kind = 1; kind < counts[set]; ++kind) {
            assert_non_null(tri_body_desc((tri_body_set)set, kind));
            assert_non_null(tri_body_name((tri_body_set)set, kind));
        }
        assert_null(tri_body_desc((tri_body_set)set, 0));
        assert_null(tri_body_desc((tri_body_set)set, counts[set]));
        assert_null(tri_body_desc((tri_body_set)set, -1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(every_field_is_listed),
            cmocka_unit_test(every_kind_has_a_body_and_a_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
