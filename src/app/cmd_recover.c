/*
 * trireme recover: rebuild the tables of a broken study from its journal.
 */
#include "src/app/app.h"

static error_t parse(int key, char *arg, struct argp_state *state)
{
    return tri_app_parse_other(key, arg, state);
}

static const struct argp argp = {
        NULL,
        parse,
        "FILE.h5",
        "Rebuild the tables of a study that broke off from its journal "
        "segments, which stay; tune --resume does the same by itself. Where a "
        "segment is damaged, from what is whole: then the segments are kept "
        "aside as FILE.h5.damaged.N.",
        tri_app_common_child,
        NULL,
        NULL};

int tri_app_recover(int argc, char **argv)
{
    tri_app_common o = {0};
    int status = tri_app_parse(&argp, argc, argv, &o, "FILE.h5");

    if (status >= 0) {
        return status;
    }
    if (tri_record_recover(o.file) != TRI_OK) {
        tri_error_place(o.file, 0, 0);
        return tri_app_fail();
    }
    if (o.json) {
        json_t *j = json_object();

        json_object_set_new(j, "file", tri_app_json_text(o.file));
        json_object_set_new(j, "recovered", json_true());
        tri_app_json_print(j);
    } else {
        printf("the tables of %s are rebuilt\n", o.file);
    }
    return TRI_EXIT_DONE;
}
