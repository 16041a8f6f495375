/*
 * What an error is to the shell: the exit status, and the one place that
 * prints it.
 */
#include "src/app/app.h"

#include <string.h>

static struct {
    int json, silent;
} style;

void tri_app_errors(int json, int silent)
{
    style.json = json;
    style.silent = silent;
}

json_t *tri_app_error_json(void)
{
    const tri_error *e = tri_error_last();
    json_t *o = json_object();

    json_object_set_new(o, "error", tri_app_json_text(e->sentence));
    json_object_set_new(o, "file",
                        e->file[0] ? tri_app_json_text(e->file) : json_null());
    json_object_set_new(o, "line",
                        e->line > 0 ? json_integer(e->line) : json_null());
    json_object_set_new(o, "column",
                        e->column > 0 ? json_integer(e->column) : json_null());
    json_object_set_new(o, "code", json_string(tri_status_name(e->code)));
    return o;
}

static void print_sentence(const tri_error *e)
{
    const char *sentence =
            e->sentence[0] ? e->sentence : tri_status_sentence(e->code);

    if (e->file[0] && e->line > 0 && e->column <= 0) { /* a line as a whole */
        fprintf(stderr, "%s:%d: %s\n", e->file, e->line, sentence);
    } else if (e->file[0] && e->line > 0) {
        fprintf(stderr, "%s:%d:%d: %s\n", e->file, e->line, e->column,
                sentence);
    } else if (e->file[0] && !strstr(sentence, e->file)) {
        fprintf(stderr, "%s: %s\n", e->file, sentence);
    } else {
        fprintf(stderr, "trireme: %s\n", sentence);
    }
}

int tri_app_fail(void)
{
    const tri_error *e = tri_error_last();

    if (!style.silent) {
        if (style.json) {
            tri_app_json_print(tri_app_error_json());
        } else {
            print_sentence(e);
        }
    }
    return tri_status_exit(e->code);
}
