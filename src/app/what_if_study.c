/*
 * The study that a what-if simulates.
 *
 * Of a real training the record holds results of some configurations and of no
 * other: they become a table study, whose space they are, with the features and
 * ranks of each as columns, so that the thinker sees what it saw.  Words are
 * renamed, since a table's cells are read like YAML.  A table or synthetic
 * curves answer for any configuration: the recorded text stays as it is but for
 * the settings.
 */
#include "src/app/what_if.h"

#include "src/space/yaml_tree.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELL_BYTES 96
#define RANKS      "recorded_ranks"
#define OBJECTIVE  "recorded_objective"
#define FAILED     "recorded_failed"

static void write_settings(FILE *f, const tri_study *study,
                           const tri_what_if_settings *s, int64_t trials)
{
    fprintf(f, "resource: {unit: %s, min: %" PRId64 ", eta: %" PRId64,
            tri_unit_name(study->resource.unit), s->min, s->eta);
    if (s->max) {
        fprintf(f, ", max: %" PRId64, s->max);
    }
    fprintf(f, "}\nscheduler: {kind: %s", s->scheduler);
    if (s->bracket) {
        fprintf(f, ", bracket: %" PRId64, s->bracket);
    }
    if (s->brackets) {
        fprintf(f, ", brackets: %" PRId64, s->brackets);
    }
    if (s->n) {
        fprintf(f, ", n: %" PRId64, s->n);
    }
    fprintf(f,
            "}\nsearch: {proposer: %s, predictor: %s, acquisition: %s, "
            "random_share: %.17g}\n",
            s->proposer, s->predictor, s->acquisition, s->random_share);
    fprintf(f, "budget: {trials: %" PRId64 "}\nfinals: none\n", trials);
}

/* ---- a table of what was measured ------------------------------------ */

/* A value as a cell, and in assignments to the table's space. */
static void cell(const tri_param *p, tri_value v, char *buf)
{
    size_t n;

    if (v.type == TRI_INACTIVE) {
        snprintf(buf, CELL_BYTES, "inactive_");
        return;
    }
    if (v.type != TRI_WORD) {
        tri_value_print(v, buf, CELL_BYTES);
        return;
    }
    for (int i = 0; i < p->domain.n_values; i++) {
        if (tri_value_equal(p->domain.values[i], v)) {
            n = (size_t)snprintf(buf, CELL_BYTES, "w%d_", i);
            for (const char *c = v.u.word; *c && n + 1 < CELL_BYTES; c++) {
                int plain = (*c >= 'a' && *c <= 'z') ||
                            (*c >= 'A' && *c <= 'Z') ||
                            (*c >= '0' && *c <= '9');

                buf[n++] = plain ? *c : '_';
            }
            buf[n] = '\0';
            return;
        }
    }
    snprintf(buf, CELL_BYTES, "w_");
}

static int ranks_vary(const tri_what_if_source *s)
{
    int lo, hi;

    tri_space_rank_range(s->study->space, &lo, &hi);
    return lo != hi;
}

/* The columns of a configuration in order; `each` is called with name and
 * text. */
static tri_status each_cell(const tri_what_if_source *s, int64_t trial,
                            void (*each)(FILE *f, int i, const char *name,
                                         const char *text),
                            FILE *f)
{
    const tri_space *space = s->study->space;
    const tri_config *c = tri_ctl_config(s->ctl, trial);
    char text[CELL_BYTES];
    int n = 0;
    int ranks;

    for (int i = 0; i < tri_space_n_params(space); i++) {
        const tri_param *p = tri_space_param(space, i);

        cell(p, c[p->column], text);
        each(f, n++, p->name, text);
    }
    for (int i = 0; i < tri_space_n_features(space); i++) {
        tri_value v = {.type = TRI_REAL};

        TRI_TRY(tri_space_feature(space, c, i, &v.u.d));
        tri_value_print(v, text, sizeof text);
        each(f, n++, tri_space_feature_name(space, i), text);
    }
    if (ranks_vary(s)) {
        TRI_TRY(tri_space_ranks(space, c, &ranks));
        snprintf(text, sizeof text, "%d", ranks);
        each(f, n, RANKS, text);
    }
    return TRI_OK;
}

static void as_name(FILE *f, int i, const char *name, const char *text)
{
    (void)text;
    fprintf(f, "%s%s", i > 0 ? ", " : "", name);
}

static void as_heading(FILE *f, int i, const char *name, const char *text)
{
    (void)i;
    (void)text;
    fprintf(f, "%s,", name);
}

static void as_cell(FILE *f, int i, const char *name, const char *text)
{
    (void)i;
    (void)name;
    fprintf(f, "%s,", text);
}

static void as_entry(FILE *f, int i, const char *name, const char *text)
{
    fprintf(f, "%s%s: %s", i > 0 ? ", " : "", name, text);
}

static void as_assignment(FILE *f, int i, const char *name, const char *text)
{
    fprintf(f, "%s%s=%s", i > 0 ? " " : "", name, text);
}

tri_status tri_what_if_assignments(const tri_what_if_source *s, int64_t trial,
                                   char **out)
{
    size_t bytes;
    FILE *f = open_memstream(out, &bytes);
    tri_status st;

    if (!f) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the record's results");
    }
    st = each_cell(s, trial, as_assignment, f);
    fclose(f);
    return st;
}

int tri_what_if_point(const tri_what_if_source *s, int64_t i,
                      tri_recorded_point *out)
{
    tri_run_view run;

    tri_ctl_run(s->ctl, i, &run);
    return run.phase == TRI_PHASE_SEARCH &&
           tri_app_recorded_point(s->ctl, s->study, i, out);
}

/* What is known of each trial. */
typedef struct known {
    int measured; /* it has a point */
    int ran;      /* one that is no failure */
    int64_t top;
} known;

static known *look(const tri_what_if_source *s)
{
    known *k = calloc((size_t)s->n_trials + 1, sizeof *k);

    for (int64_t i = 0; k && i < tri_ctl_n_runs(s->ctl); i++) {
        tri_recorded_point p;

        if (tri_what_if_point(s, i, &p)) {
            k[p.row].measured = 1;
            k[p.row].ran |= !p.failed;
            k[p.row].top =
                    p.resource > k[p.row].top ? p.resource : k[p.row].top;
        }
    }
    return k;
}

static tri_status write_csv(tri_what_if_source *s, const known *k, FILE *f)
{
    TRI_TRY(each_cell(s, 0, as_heading, f));
    fputs(OBJECTIVE "," FAILED "\n", f);
    for (int64_t i = 0; i < s->n_trials; i++) {
        if (k[i].measured) {
            TRI_TRY(each_cell(s, i, as_cell, f));
            fputs(k[i].ran ? "0,0\n" : "nan,1\n", f);
            s->n++;
            s->to_top += k[i].ran && s->study->resource.max &&
                         k[i].top >= s->study->resource.max;
        }
    }
    return TRI_OK;
}

tri_status tri_what_if_table(tri_what_if_source *s)
{
    known *k = look(s);
    size_t bytes;
    FILE *f = k ? open_memstream(&s->csv, &bytes) : NULL;
    tri_status st = TRI_OK;

    if (!f) {
        free(k);
        return TRI_FAIL(TRI_ENOMEM, "no memory for the record's results");
    }
    if (s->n_trials > 0) {
        st = write_csv(s, k, f);
    }
    fclose(f);
    free(k);
    return st == TRI_OK && s->n == 0
                   ? TRI_FAIL(TRI_EEMPTY, "nothing was measured yet that a "
                                          "simulation could answer with")
                   : st;
}

static void write_origins(const tri_what_if_source *s, const known *k, FILE *f)
{
    int n = 0;

    for (int64_t i = 0; i < s->n_trials; i++) {
        tri_trial_view v;

        tri_ctl_trial(s->ctl, i, &v);
        if (k[i].measured && strcmp(v.origin, "baseline") == 0) {
            fputs("baseline: {", f);
            each_cell(s, i, as_entry, f);
            fputs("}\n", f);
        } else if (k[i].measured && strcmp(v.origin, "start") == 0) {
            fputs(n++ ? ", {" : "start: [{", f);
            each_cell(s, i, as_entry, f);
            fputs("}", f);
        }
    }
    fputs(n ? "]\n" : "", f);
}

static tri_status write_table_study(const tri_what_if_source *s,
                                    const tri_what_if_settings *set, FILE *f)
{
    const tri_study *study = s->study;
    known *k = look(s);
    int lo, hi;

    if (!k) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the record's results");
    }
    tri_space_rank_range(study->space, &lo, &hi);
    fputs("study: what-if\nmodel: {kind: table, file: recorded.csv, "
          "parameters: [",
          f);
    each_cell(s, 0, as_name, f);
    fputs("], objective: " OBJECTIVE ", failed: " FAILED "}\nspace: table\n",
          f);
    if (ranks_vary(s)) {
        fputs("ranks: " RANKS "\n", f);
    } else {
        fprintf(f, "ranks: %d\n", lo);
    }
    fprintf(f, "objective: {%s: %s, compare: %s}\n",
            study->objective.maximize ? "maximize" : "minimize",
            study->objective.name,
            study->objective.per_rank ? "per_rank" : "total");
    write_origins(s, k, f);
    free(k);
    write_settings(f, study, set, s->n);
    return TRI_OK;
}

/* ---- the recorded text ----------------------------------------------- */

static int is_plain(const char *text)
{
    return *text && !strpbrk(text, ",[]{}#&*!|>'\"%@`:?") && *text != '-' &&
           *text != ' ';
}

/* A number keeps its sign and its type without quotes. */
static int is_number(const char *text)
{
    char *end;

    strtod(text, &end);
    return end != text && *end == '\0';
}

static void write_scalar(FILE *f, const tri_yaml *e)
{
    if (e->plain && (is_plain(e->text) || is_number(e->text))) {
        fputs(e->text, f);
        return;
    }
    if (e->plain && *e->text == '\0') {
        return; /* null */
    }
    fputc('"', f);
    for (const char *c = e->text; *c; c++) {
        if (*c == '"' || *c == '\\') {
            fputc('\\', f);
        }
        if (*c == '\n') {
            fputs("\\n", f);
        } else {
            fputc(*c, f);
        }
    }
    fputc('"', f);
}

static void write_tree(FILE *f, const tri_yaml *e) /* NOLINT(misc-no-recursion):
                                                      as deep as YAML may be */
{
    int map = e->kind == TRI_YAML_MAP;

    if (e->kind == TRI_YAML_SCALAR) {
        write_scalar(f, e);
        return;
    }
    fputc(map ? '{' : '[', f);
    for (const tri_yaml *i = e->first; i; i = i->next) {
        if (map) {
            tri_yaml key = {.text = i->key, .plain = 1};

            write_scalar(f, &key);
            fputs(": ", f);
        }
        write_tree(f, i);
        fputs(i->next ? ", " : "", f);
    }
    fputc(map ? '}' : ']', f);
}

static tri_status write_recorded_study(const tri_what_if_source *s,
                                       const tri_what_if_settings *set, FILE *f)
{
    static const char *const keep[] = {"study",    "model",     "space",
                                       "features", "ranks",     "constraints",
                                       "baseline", "objective", "start"};
    tri_pile pile = {NULL, 0};
    const tri_yaml *root;
    tri_status st =
            tri_yaml_read(s->study->text, strlen(s->study->text), &pile, &root);

    for (size_t i = 0; st == TRI_OK && i < sizeof keep / sizeof *keep; i++) {
        const tri_yaml *e = tri_yaml_get(root, keep[i]);

        if (e) {
            fprintf(f, "%s: ", keep[i]);
            write_tree(f, e);
            fputc('\n', f);
        }
    }
    tri_pile_fini(&pile);
    write_settings(f, s->study, set, s->n_trials > 0 ? s->n_trials : 1);
    return st;
}

/* ---- the study ------------------------------------------------------- */

static tri_status copy_file(const char *text, size_t n, char **data,
                            size_t *bytes)
{
    *data = malloc(n + 1);
    if (!*data) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a table");
    }
    memcpy(*data, text, n);
    (*data)[n] = '\0';
    *bytes = n;
    return TRI_OK;
}

/* As tri_read_fn: files are the record's own. */
static tri_status read_recorded(void *ctx, const char *path, char **data,
                                size_t *bytes)
{
    const tri_what_if_source *s = ctx;

    if (!s->whole) {
        return copy_file(s->csv, strlen(s->csv), data, bytes);
    }
    for (int i = 0; i < tri_study_n_files(s->study); i++) {
        const char *name;
        size_t n;
        const char *text = tri_study_file(s->study, i, &name, &n);

        if (strcmp(name, path) == 0) {
            return copy_file(text, n, data, bytes);
        }
    }
    return TRI_FAIL(TRI_ENOTFOUND, "the record has no table %s", path);
}

/* A sentence of the reader is about a text that nobody wrote. */
static tri_status blame_with(void)
{
    tri_error e = *tri_error_last();

    return tri_error_set(e.code, e.src_file, e.src_line, "--with: %s",
                         e.sentence);
}

tri_status tri_what_if_study(tri_what_if_source *s,
                             const tri_what_if_settings *set, tri_study **out)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    tri_status st;

    if (!f) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a study");
    }
    st = s->whole ? write_recorded_study(s, set, f)
                  : write_table_study(s, set, f);
    fclose(f);
    if (st == TRI_OK) {
        st = tri_study_parse(text, bytes, s->study->path, read_recorded, s,
                             out);
        if (st == TRI_OK) {
            st = tri_app_study_built(*out);
            if (st != TRI_OK) {
                tri_study_destroy(*out);
            }
        }
        st = st == TRI_OK ? st : blame_with();
    }
    free(text);
    return st;
}
