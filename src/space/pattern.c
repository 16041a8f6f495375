/*
 * Regular expressions with bounds, by PCRE2.
 */
#include "trireme/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <stdlib.h>
#include <string.h>

/* Far beyond what a sensible pattern needs in a line; some milliseconds. */
#define MATCH_LIMIT 100000
#define DEPTH_LIMIT 10000
#define HEAP_KIB    1024
/* A compiled pattern may not be large: {1,9999} nests. */
#define MOST_BYTES 4096

struct tri_pattern {
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *limits;
    int64_t slow;
};

static tri_status compile(const char *regex, pcre2_code **out)
{
    PCRE2_UCHAR message[160];
    PCRE2_SIZE at = 0;
    uint32_t groups = 0;
    int error = 0;

    if (strlen(regex) > MOST_BYTES) {
        return TRI_FAIL(TRI_EPARSE, "a pattern has at most %d bytes",
                        MOST_BYTES);
    }
    *out = pcre2_compile((PCRE2_SPTR)regex, PCRE2_ZERO_TERMINATED,
                         PCRE2_NEVER_UTF | PCRE2_NEVER_UCP, &error, &at, NULL);
    if (!*out) {
        pcre2_get_error_message(error, message, sizeof message);
        return TRI_FAIL(TRI_EPARSE,
                        "\"%.80s\" is no regular expression: %s at character "
                        "%zu",
                        regex, (const char *)message, (size_t)at + 1);
    }
    pcre2_pattern_info(*out, PCRE2_INFO_CAPTURECOUNT, &groups);
    if (groups != 1) {
        pcre2_code_free(*out);
        return TRI_FAIL(TRI_EPARSE,
                        "\"%.80s\" has %u groups, expected one, which is the "
                        "value: loss: ([0-9.]+); write (?:...) for the others",
                        regex, (unsigned)groups);
    }
    return TRI_OK;
}

tri_status tri_pattern_create(const char *regex, tri_pattern **out)
{
    pcre2_code *code;
    tri_pattern *p;

    TRI_TRY(compile(regex, &code));
    p = calloc(1, sizeof *p);
    if (!p) {
        pcre2_code_free(code);
        return TRI_FAIL(TRI_ENOMEM, "no memory for a pattern");
    }
    p->code = code;
    p->data = pcre2_match_data_create(2, NULL);
    p->limits = pcre2_match_context_create(NULL);
    if (!p->data || !p->limits) {
        tri_pattern_destroy(p);
        return TRI_FAIL(TRI_ENOMEM, "no memory for a pattern");
    }
    pcre2_set_match_limit(p->limits, MATCH_LIMIT);
    pcre2_set_depth_limit(p->limits, DEPTH_LIMIT);
    pcre2_set_heap_limit(p->limits, HEAP_KIB);
    /* Where there is no compiler to machine code, or the system forbids it,
     * patterns are interpreted. */
    pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
    *out = p;
    return TRI_OK;
}

void tri_pattern_destroy(tri_pattern *p)
{
    if (p) {
        pcre2_match_context_free(p->limits);
        pcre2_match_data_free(p->data);
        pcre2_code_free(p->code);
        free(p);
    }
}

int tri_pattern_find(tri_pattern *p, const char *text, size_t n, size_t *from,
                     size_t *to)
{
    PCRE2_SIZE *place;
    int rc;

    if (n > TRI_PATTERN_BYTES) {
        n = TRI_PATTERN_BYTES;
    }
    rc = pcre2_match(p->code, (PCRE2_SPTR)text, n, 0, 0, p->data, p->limits);
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT) { /* the other engine uses the heap */
        rc = pcre2_match(p->code, (PCRE2_SPTR)text, n, 0, PCRE2_NO_JIT, p->data,
                         p->limits);
    }
    if (rc != 2) { /* no match, one without its group, or a limit */
        p->slow += rc < 0 && rc != PCRE2_ERROR_NOMATCH;
        return 0;
    }
    place = pcre2_get_ovector_pointer(p->data);
    if (place[2] > place[3] || place[3] > n) { /* \K can */
        return 0;
    }
    *from = place[2];
    *to = place[3];
    return 1;
}

int64_t tri_pattern_slow(const tri_pattern *p)
{
    return p->slow;
}
