/*
 * trireme recover: rebuild the tables of a broken study from its journal, and
 * say what was done.
 */
#include "src/app/app.h"

#include <inttypes.h>

typedef struct recover_options {
    tri_app_common common;
    int dry;
} recover_options;

enum {
    KEY_DRY_RUN = 0x2001
};

static const struct argp_option options[] = {
        {"dry-run", KEY_DRY_RUN, NULL, 0,
         "Change nothing, say what would be done", 0},
        {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    recover_options *o = state->input;

    if (key == KEY_DRY_RUN) {
        o->dry = 1;
        return 0;
    }
    return tri_app_parse_other(key, arg, state);
}

static const struct argp argp = {
        options,
        parse,
        "FILE.h5",
        "Rebuild the tables of a study that broke off from its journal "
        "segments, which stay; tune --resume does the same by itself. Where a "
        "segment is damaged, from what is whole: then the segments are kept "
        "aside as FILE.h5.damaged.N.",
        tri_app_common_child,
        NULL,
        NULL};

static const char *const tables[] = {"trials", "runs", "reports", "events",
                                     "models", "pool", "epochs"};

#define N_TABLES ((int)(sizeof tables / sizeof *tables))

static void print_json(const recover_options *o, const tri_recovered *r)
{
    json_t *j = json_object();
    json_t *rows = json_object();

    for (int i = 0; i < N_TABLES; i++) {
        json_object_set_new(rows, tables[i], json_integer(r->rows[i]));
    }
    json_object_set_new(j, "file", tri_app_json_text(o->common.file));
    json_object_set_new(j, "recovered", json_boolean(r->is_needed && !o->dry));
    json_object_set_new(j, "needed", json_boolean(r->is_needed));
    json_object_set_new(j, "broke_off", json_boolean(r->broke_off));
    json_object_set_new(j, "has_journal", json_boolean(r->has_journal));
    json_object_set_new(j, "rows", rows);
    json_object_set_new(j, "had_tables", json_boolean(r->had_tables));
    json_object_set_new(j, "torn_bytes",
                        json_integer((json_int_t)r->torn_bytes));
    json_object_set_new(j, "lost_events", json_integer(r->lost));
    json_object_set_new(j, "kept_aside", json_integer(r->kept_aside));
    json_object_set_new(j, "damage",
                        r->damage[0] ? tri_app_json_text(r->damage)
                                     : json_null());
    tri_app_json_print(j);
}

static void print_losses(const recover_options *o, const tri_recovered *r)
{
    int many = r->kept_aside != 1;

    if (r->torn_bytes > 0 && !r->damage[0]) {
        printf("torn      the last %" PRIu64 " bytes of the journal are half "
               "a record: nothing was based on it\n",
               r->torn_bytes);
    }
    if (r->damage[0]) {
        printf("damaged   %s\n", r->damage);
        printf("aside     %d file%s of the journal %s kept as %s.damaged.N\n",
               r->kept_aside, many ? "s" : "",
               o->dry ? "would be"
               : many ? "are"
                      : "is",
               o->common.file);
    }
    if (r->lost > 0) {
        printf("lost      at least %" PRId64 " event%s; the runs that they "
               "tell of are run again\n",
               r->lost, r->lost == 1 ? "" : "s");
    } else {
        puts("lost      nothing");
    }
}

static void print_rows(const tri_recovered *r)
{
    printf("rows      ");
    for (int i = 0; i < N_TABLES; i++) {
        printf("%s%s %" PRId64, i > 0 ? ", " : "", tables[i], r->rows[i]);
    }
    printf("\n");
}

static void print_done(const recover_options *o, const tri_recovered *r)
{
    const char *be = o->dry ? "would be" : "are";

    if (r->has_journal) {
        printf("the tables of %s %s %s from its journal\n", o->common.file, be,
               r->had_tables ? "rebuilt" : "built");
    } else if (r->is_needed) {
        printf("%s broke off and its journal is gone: its tables %s rebuilt "
               "from what they hold\n",
               o->common.file, be);
    } else {
        printf("%s broke off; there is no journal, and nothing to recover "
               "beyond what the tables hold\n",
               o->common.file);
    }
}

static void print_text(const recover_options *o, const tri_recovered *r)
{
    if (!r->is_needed && !r->broke_off) {
        printf("%s ended in order: there is no journal, nothing to recover\n",
               o->common.file);
        return;
    }
    print_done(o, r);
    print_rows(r);
    if (r->has_journal) {
        print_losses(o, r);
    } else {
        puts("lost      what came after the last event of the tables, if "
             "anything did");
    }
    if (!o->dry && r->broke_off) {
        puts("next      tune --resume goes on with the study");
    }
}

int tri_app_recover(int argc, char **argv)
{
    recover_options o = {.dry = 0};
    tri_recovered recovered;
    int status = tri_app_parse(&argp, argc, argv, &o.common, "FILE.h5");

    if (status >= 0) {
        return status;
    }
    if (tri_record_recover(o.common.file, o.dry, &recovered) != TRI_OK) {
        tri_error_place(o.common.file, 0, 0);
        return tri_app_fail();
    }
    if (o.common.json) {
        print_json(&o, &recovered);
    } else {
        print_text(&o, &recovered);
    }
    return TRI_EXIT_DONE;
}
