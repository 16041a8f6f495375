/*
 * Makes and prints summaries; see the header.
 */
#include "src/app/summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* ---- making ---------------------------------------------------------- */

/* Of a tri_record_summary. */
static tri_status note(void *ctx, const tri_event *event, const tri_ctl *ctl)
{
    tri_app_summary *s = ctx;

    if (event->kind == TRI_EV_PROPOSALS) {
        tri_app_searched_note(&s->searched, &event->u.proposals);
    }
    return tri_tally_note(&s->tally, ctl);
}

/* What is printed behind the head, and the classes of failures. */
static char *rest_of(const tri_app_standing *s)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    int any = 0;

    if (!out) {
        return NULL;
    }
    tri_app_standing_rest(s, out);
    for (int r = 1; r < TRI_REASON_COUNT; r++) {
        if (s->progress.failures[r] > 0) {
            fprintf(out, "%s  %s %" PRId64 "\n", any++ ? "" : "\nfailures\n",
                    tri_reason_name((tri_reason)r), s->progress.failures[r]);
        }
    }
    fclose(out);
    return text;
}

static tri_status write_text(void *ctx, const tri_ctl *ctl, char **text)
{
    tri_app_summary *s = ctx;
    tri_app_standing now = {.ctl = ctl,
                            .tally = &s->tally,
                            .searched = &s->searched,
                            .is_live = 1};
    json_t *o = json_object();
    char *rest;

    tri_ctl_progress(ctl, &now.progress);
    now.epoch = now.progress.epoch;
    rest = rest_of(&now);
    json_object_set_new(o, "status", tri_app_standing_json(&now));
    json_object_set_new(o, "rest", tri_app_json_text(rest));
    free(rest);
    *text = json_dumps(o, JSON_COMPACT);
    json_decref(o);
    return *text ? TRI_OK : TRI_FAIL(TRI_ENOMEM, "no memory for a summary");
}

void tri_app_summary_init(tri_app_summary *s)
{
    *s = (tri_app_summary){.maker = {s, 0, note, write_text}};
    tri_tally_init(&s->tally);
}

void tri_app_summary_fini(tri_app_summary *s)
{
    tri_tally_fini(&s->tally);
}

/* ---- printing -------------------------------------------------------- */

static void print_text(const tri_summary *summary, json_t *status,
                       const char *rest, FILE *out)
{
    tri_app_head head = {
            .study = json_string_value(json_object_get(status, "study")),
            .state = json_string_value(json_object_get(status, "state")),
            .epoch = (int)json_integer_value(json_object_get(status, "epoch")),
            .why = json_string_value(json_object_get(status, "why")),
            .time_s = json_number_value(json_object_get(status, "time_s")),
            .age_s = summary->age_s,
    };
    char bytes[32];

    tri_app_standing_head(&head, out);
    fprintf(out,
            "as of     event %" PRId64 "; %s of the journal came after it\n",
            summary->events,
            tri_app_bytes((double)summary->behind_bytes, bytes, sizeof bytes));
    fputs(rest, out);
}

static void print_json(const tri_summary *summary, json_t *status)
{
    json_t *as_of = json_object();

    json_object_set_new(as_of, "events", json_integer(summary->events));
    json_object_set_new(as_of, "behind_bytes",
                        json_integer((json_int_t)summary->behind_bytes));
    json_object_set_new(status, "as_of", as_of);
    json_object_set_new(status, "age_s", tri_app_json_real(summary->age_s));
    json_incref(status);
    tri_app_json_print(status);
}

tri_status tri_app_summary_print(const tri_summary *summary, const char *file,
                                 int json, FILE *out)
{
    json_t *o = json_loads(summary->text, 0, NULL);
    json_t *status = json_object_get(o, "status");
    const char *rest = json_string_value(json_object_get(o, "rest"));

    if (!json_string_value(json_object_get(status, "study")) ||
        !json_string_value(json_object_get(status, "state")) || !rest) {
        json_decref(o);
        return TRI_FAIL(TRI_EMALFORMED, "the summary of %s cannot be read",
                        file);
    }
    if (json) {
        print_json(summary, status);
    } else {
        print_text(summary, status, rest, out);
    }
    json_decref(o);
    return TRI_OK;
}
