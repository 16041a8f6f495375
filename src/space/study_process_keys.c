/*
 * Keys of a process that have a form of their own: setup, environment,
 * devices and logs.
 */
#include "src/space/study_priv.h"

#include <string.h>

/* A study of many runs must not fill a disk, nor its inodes, by default. */
#define KEEP_LOGS 20
#define LOG_BYTES ((uint64_t)1 << 20)

/* ---- setup --------------------------------------------------------------- */

static const char *const default_shell[] = {"bash"};

static tri_status read_shell(tri_reader *r, const tri_yaml *at,
                             tri_process_spec *p)
{
    static const char form[] = "a shell, or a list of it and its arguments "
                               "([bash, -l])";

    if (!at) {
        return TRI_OK;
    }
    TRI_TRY(tri_reader_texts(r, at, "model.setup.shell", &p->setup.shell,
                             &p->setup.n_shell));
    if (p->setup.n_shell == 0 || p->setup.shell[0][0] == '\0' ||
        (at->kind == TRI_YAML_SCALAR && strpbrk(at->text, " \t"))) {
        return tri_reader_wrong(at, "model.setup.shell", form);
    }
    return TRI_OK;
}

static tri_status read_setup(tri_reader *r, const tri_yaml *m,
                             tri_process_spec *p)
{
    static const char *const keys[] = {"shell", "run"};
    const tri_yaml *at = tri_yaml_get(m, "setup");

    p->setup.shell = default_shell;
    p->setup.n_shell = 1;
    if (!at || at->kind == TRI_YAML_SCALAR) {
        return tri_reader_text(at, "model.setup", &p->setup.text);
    }
    TRI_TRY(tri_reader_keys(at, "model.setup", keys, 2));
    if (!tri_yaml_get(at, "run")) {
        return tri_reader_wrong(at, "model.setup",
                                "a text to run, or a map with the key run");
    }
    TRI_TRY(tri_reader_text(tri_yaml_get(at, "run"), "model.setup.run",
                            &p->setup.text));
    return read_shell(r, tri_yaml_get(at, "shell"), p);
}

/* ---- environment --------------------------------------------------------- */

static int is_name_byte(char c, int first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (!first && c >= '0' && c <= '9');
}

/* Bytes of the name that `text` starts with. */
static size_t name_length(const char *text)
{
    size_t n = 0;

    while (is_name_byte(text[n], n == 0)) {
        n++;
    }
    return n;
}

static tri_status read_env(tri_reader *r, const tri_yaml *m,
                           tri_process_spec *p)
{
    const tri_yaml *env = tri_yaml_get(m, "env");
    const tri_yaml *keep = tri_yaml_get(m, "keep_env"), *e;
    const char *end;

    TRI_TRY(tri_reader_pairs(r, env, "model.env", &p->env, &p->n_env));
    for (e = env ? env->first : NULL; e; e = e->next) {
        if (e->key[0] == '\0' || e->key[name_length(e->key)] != '\0') {
            tri_error_set(TRI_EINVAL, __FILE__, __LINE__,
                          "model.env: \"%.60s\" is no name of a variable: "
                          "letters, digits and _, no digit first",
                          e->key);
            tri_error_place(NULL, e->key_line, e->key_column);
            return TRI_EINVAL;
        }
    }
    TRI_TRY(tri_reader_texts(r, keep, "model.keep_env", &p->keep_env,
                             &p->n_keep_env));
    for (e = keep && keep->kind == TRI_YAML_LIST ? keep->first : keep; e;
         e = keep->kind == TRI_YAML_LIST ? e->next : NULL) {
        end = e->text + name_length(e->text);
        end += *end == '*';
        if (e->text[0] == '\0' || *end != '\0') {
            return tri_reader_wrong(e, "model.keep_env",
                                    "a name of a variable, or the beginning "
                                    "of names and a * (SLURM_STEP*)");
        }
    }
    return TRI_OK;
}

/* ---- devices ------------------------------------------------------------- */

/* "2", "0,1", or names: "GPU-5c1f", "MIG-GPU-5c1f/1/0". */
static int is_devices(const char *text)
{
    size_t n = strcspn(text, " \t\n=");

    return n > 0 && text[n] == '\0' && text[0] != ',' && text[n - 1] != ',' &&
           !strstr(text, ",,");
}

static tri_status read_map(tri_reader *r, const tri_yaml *at, const char *key,
                           tri_process_spec *p)
{
    const tri_yaml *e;

    if (!at || tri_reader_is(at, "auto")) {
        return TRI_OK;
    }
    if (tri_reader_is(at, "none")) {
        p->devices.how = TRI_DEVICES_NONE;
        return TRI_OK;
    }
    if (at->kind != TRI_YAML_LIST || at->n == 0) {
        return tri_reader_wrong(at, key,
                                "auto, none or a list of the devices of each "
                                "worker of a host ([0, 1, \"2,3\"])");
    }
    TRI_TRY(tri_reader_texts(r, at, key, &p->devices.map, &p->devices.n_map));
    for (e = at->first; e; e = e->next) {
        if (!is_devices(e->text)) {
            return tri_reader_wrong(e, key,
                                    "a device, or several with commas "
                                    "between them (\"2,3\")");
        }
    }
    p->devices.how = TRI_DEVICES_MAP;
    return TRI_OK;
}

static tri_status read_devices(tri_reader *r, const tri_yaml *m,
                               tri_process_spec *p)
{
    static const char *const keys[] = {"map", "variable"};
    const tri_yaml *at = tri_yaml_get(m, "devices");
    const tri_yaml *variable = tri_yaml_get(at, "variable");

    if (!at || at->kind != TRI_YAML_MAP) {
        return read_map(r, at, "model.devices", p);
    }
    TRI_TRY(tri_reader_keys(at, "model.devices", keys, 2));
    TRI_TRY(read_map(r, tri_yaml_get(at, "map"), "model.devices.map", p));
    TRI_TRY(tri_reader_text(variable, "model.devices.variable",
                            &p->devices.variable));
    if (variable && variable->text[name_length(variable->text)] != '\0') {
        return tri_reader_wrong(variable, "model.devices.variable",
                                "a name of a variable, such as "
                                "HIP_VISIBLE_DEVICES");
    }
    return TRI_OK;
}

/* ---- logs ---------------------------------------------------------------- */

static tri_status read_log(const tri_yaml *m, tri_process_spec *p)
{
    static const char *const keys[] = {"dir", "keep", "max_bytes"};
    const tri_yaml *at = tri_yaml_get(m, "log_dir");
    const tri_yaml *keep = tri_yaml_get(at, "keep");
    const tri_yaml *bytes = tri_yaml_get(at, "max_bytes");

    p->log.keep = KEEP_LOGS;
    p->log.max_bytes = LOG_BYTES;
    if (!at || at->kind == TRI_YAML_SCALAR) {
        return tri_reader_text(at, "model.log_dir", &p->log.dir);
    }
    TRI_TRY(tri_reader_keys(at, "model.log_dir", keys, 3));
    if (!tri_yaml_get(at, "dir")) {
        return tri_reader_wrong(at, "model.log_dir",
                                "a folder, or a map with the key dir");
    }
    TRI_TRY(tri_reader_text(tri_yaml_get(at, "dir"), "model.log_dir.dir",
                            &p->log.dir));
    if (tri_reader_is(keep, "all")) {
        p->log.keep = 0;
    } else if (keep && keep->kind != TRI_YAML_SCALAR) {
        return tri_reader_wrong(keep, "model.log_dir.keep",
                                "a number of runs, or all");
    } else {
        TRI_TRY(tri_reader_small(keep, "model.log_dir.keep", 1, 1000000,
                                 &p->log.keep));
    }
    if (tri_reader_is(bytes, "unlimited")) {
        p->log.max_bytes = 0;
        return TRI_OK;
    }
    TRI_TRY(tri_reader_bytes(bytes, "model.log_dir.max_bytes",
                             &p->log.max_bytes));
    if (p->log.max_bytes < 4096) {
        return tri_reader_wrong(bytes, "model.log_dir.max_bytes",
                                "at least 4 KiB, or unlimited");
    }
    return TRI_OK;
}

/* ---- the whole ---------------------------------------------------------- */

tri_status tri_study_read_process_keys(tri_reader *r, const tri_yaml *m,
                                       tri_process_spec *p)
{
    TRI_TRY(read_setup(r, m, p));
    TRI_TRY(read_env(r, m, p));
    TRI_TRY(read_devices(r, m, p));
    TRI_TRY(read_log(m, p));
    return tri_study_read_metrics(r, m, p);
}
