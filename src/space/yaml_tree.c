/*
 * libyaml's events to a tree, by recursion of bounded depth.
 */
#include "src/space/yaml_tree.h"

#include <yaml.h>

#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 24
#define MAX_NODES 200000
#define MAX_BYTES (16u << 20)

typedef struct loader {
    yaml_parser_t parser;
    tri_pile *pile;
    int n_nodes;
} loader;

static tri_status place(tri_status st, const yaml_mark_t *mark)
{
    tri_error_place(NULL, (int)mark->line + 1, (int)mark->column + 1);
    return st;
}

static tri_status no_memory(void)
{
    return TRI_FAIL(TRI_ENOMEM, "no memory for the study");
}

static tri_status next_event(loader *l, yaml_event_t *event)
{
    const yaml_parser_t *p = &l->parser;

    if (yaml_parser_parse(&l->parser, event)) {
        return TRI_OK;
    }
    if (p->error == YAML_MEMORY_ERROR) {
        return no_memory();
    }
    if (p->error == YAML_READER_ERROR) {
        return TRI_FAIL(TRI_EPARSE, "the text is not UTF-8: %s at byte %zu",
                        p->problem, p->problem_offset);
    }
    if (p->context) {
        return place(TRI_FAIL(TRI_EPARSE, "malformed YAML: %s, %s", p->context,
                              p->problem),
                     &p->problem_mark);
    }
    return place(TRI_FAIL(TRI_EPARSE, "malformed YAML: %s",
                          p->problem ? p->problem : "unknown"),
                 &p->problem_mark);
}

static tri_status refuse_extras(const yaml_event_t *e,
                                const yaml_char_t *anchor,
                                const yaml_char_t *tag)
{
    if (anchor) {
        return place(TRI_FAIL(TRI_EPARSE,
                              "anchors are not read (\"&%.40s\"): "
                              "write the value out where it is used",
                              (const char *)anchor),
                     &e->start_mark);
    }
    if (tag && strcmp((const char *)tag, "!") != 0) {
        return place(TRI_FAIL(TRI_EPARSE, "tags are not read (\"%.60s\")",
                              (const char *)tag),
                     &e->start_mark);
    }
    return TRI_OK;
}

static tri_status check_extras(const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_ALIAS_EVENT:
        return place(TRI_FAIL(TRI_EPARSE,
                              "aliases are not read (\"*%.40s\"): "
                              "write the value out",
                              (const char *)e->data.alias.anchor),
                     &e->start_mark);
    case YAML_SCALAR_EVENT:
        return refuse_extras(e, e->data.scalar.anchor, e->data.scalar.tag);
    case YAML_SEQUENCE_START_EVENT:
        return refuse_extras(e, e->data.sequence_start.anchor,
                             e->data.sequence_start.tag);
    case YAML_MAPPING_START_EVENT:
        return refuse_extras(e, e->data.mapping_start.anchor,
                             e->data.mapping_start.tag);
    default:
        return TRI_OK;
    }
}

static tri_status new_node(loader *l, const yaml_event_t *e, tri_yaml **out)
{
    tri_yaml *n;

    TRI_TRY(check_extras(e));
    if (++l->n_nodes > MAX_NODES) {
        return place(TRI_FAIL(TRI_ERANGE, "more than %d values in one file",
                              MAX_NODES),
                     &e->start_mark);
    }
    n = tri_pile_alloc(l->pile, sizeof *n);
    if (!n) {
        return no_memory();
    }
    n->line = (int)e->start_mark.line + 1;
    n->column = (int)e->start_mark.column + 1;
    *out = n;
    return TRI_OK;
}

static tri_status load_scalar(loader *l, const yaml_event_t *e, tri_yaml *n)
{
    size_t bytes = e->data.scalar.length;

    n->kind = TRI_YAML_SCALAR;
    n->plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    n->text = tri_pile_text(l->pile, (const char *)e->data.scalar.value, bytes);
    if (!n->text) {
        return no_memory();
    }
    if (strlen(n->text) != bytes) {
        return place(TRI_FAIL(TRI_EPARSE, "a text with a zero byte"),
                     &e->start_mark);
    }
    return TRI_OK;
}

static tri_status load(loader *l, const yaml_event_t *e, int depth,
                       tri_yaml **out);

static void append(tri_yaml *parent, tri_yaml **last, tri_yaml *child)
{
    if (*last) {
        (*last)->next = child;
    } else {
        parent->first = child;
    }
    *last = child;
    parent->n++;
}

static tri_status load_list(loader *l, tri_yaml *list, int depth)
{
    tri_yaml *last = NULL, *item;
    yaml_event_t e;
    tri_status st;
    int end;

    list->kind = TRI_YAML_LIST;
    for (;;) {
        TRI_TRY(next_event(l, &e));
        end = e.type == YAML_SEQUENCE_END_EVENT;
        st = end ? TRI_OK : load(l, &e, depth, &item);
        yaml_event_delete(&e);
        if (end || st != TRI_OK) {
            return st;
        }
        append(list, &last, item);
    }
}

static tri_status check_key(const tri_yaml *map, const yaml_event_t *e,
                            const tri_yaml *key)
{
    const tri_yaml *old;

    if (e->type != YAML_SCALAR_EVENT) {
        return place(TRI_FAIL(TRI_EPARSE, "expected a name as key, found a "
                                          "list or map"),
                     &e->start_mark);
    }
    old = tri_yaml_get(map, key->text);
    if (old) {
        return place(TRI_FAIL(TRI_EEXIST,
                              "the key \"%.60s\" stands twice (first on line "
                              "%d)",
                              key->text, old->key_line),
                     &e->start_mark);
    }
    return TRI_OK;
}

static tri_status load_map(loader *l, tri_yaml *map, int depth)
{
    tri_yaml *last = NULL, *key = NULL, *value = NULL;
    yaml_event_t e;
    tri_status st;
    int end;

    map->kind = TRI_YAML_MAP;
    for (;;) {
        TRI_TRY(next_event(l, &e));
        end = e.type == YAML_MAPPING_END_EVENT;
        st = end ? TRI_OK : load(l, &e, depth, &key);
        if (st == TRI_OK && !end) {
            st = check_key(map, &e, key);
        }
        yaml_event_delete(&e);
        if (end || st != TRI_OK) {
            return st;
        }
        TRI_TRY(next_event(l, &e));
        st = load(l, &e, depth, &value);
        yaml_event_delete(&e);
        TRI_TRY(st);
        value->key = key->text;
        value->key_line = key->line;
        value->key_column = key->column;
        append(map, &last, value);
    }
}

static tri_status load(loader *l, const yaml_event_t *e, int depth,
                       tri_yaml **out)
{
    tri_yaml *n;

    TRI_TRY(new_node(l, e, &n));
    if (depth > MAX_DEPTH) {
        return place(
                TRI_FAIL(TRI_ERANGE, "nested more than %d deep", MAX_DEPTH),
                &e->start_mark);
    }
    switch (e->type) {
    case YAML_SCALAR_EVENT:
        TRI_TRY(load_scalar(l, e, n));
        break;
    case YAML_SEQUENCE_START_EVENT:
        TRI_TRY(load_list(l, n, depth + 1));
        break;
    case YAML_MAPPING_START_EVENT:
        TRI_TRY(load_map(l, n, depth + 1));
        break;
    default:
        return place(TRI_FAIL(TRI_EPARSE, "malformed YAML"), &e->start_mark);
    }
    *out = n;
    return TRI_OK;
}

/* The one document of the stream. */
static tri_status load_stream(loader *l, tri_yaml **out)
{
    yaml_event_t e;
    tri_yaml *root = NULL;
    tri_status st;
    int done = 0;

    while (!done) {
        TRI_TRY(next_event(l, &e));
        st = TRI_OK;
        if (e.type == YAML_STREAM_END_EVENT) {
            done = 1;
        } else if (e.type == YAML_DOCUMENT_START_EVENT && root) {
            st = place(TRI_FAIL(TRI_EPARSE, "a second document in one file"),
                       &e.start_mark);
        } else if (e.type != YAML_STREAM_START_EVENT &&
                   e.type != YAML_DOCUMENT_START_EVENT &&
                   e.type != YAML_DOCUMENT_END_EVENT) {
            st = load(l, &e, 0, &root);
        }
        yaml_event_delete(&e);
        TRI_TRY(st);
    }
    if (!root) {
        return TRI_FAIL(TRI_EPARSE, "the file is empty");
    }
    *out = root;
    return TRI_OK;
}

/* Place the thread's error at a byte of the text. */
static void place_byte(const char *text, size_t at)
{
    int line = 1, column = 1;
    size_t i;

    for (i = 0; i < at; i++) {
        column = text[i] == '\n' ? 1 : column + 1;
        line += text[i] == '\n';
    }
    tri_error_place(NULL, line, column);
}

tri_status tri_yaml_read(const char *text, size_t bytes, tri_pile *pile,
                         const tri_yaml **out)
{
    loader l = {.pile = pile, .n_nodes = 0};
    tri_yaml *root = NULL;
    tri_status st;

    if (bytes > MAX_BYTES) {
        return TRI_FAIL(TRI_ERANGE,
                        "the file has %zu bytes; at most %u are "
                        "read",
                        bytes, MAX_BYTES);
    }
    if (!yaml_parser_initialize(&l.parser)) {
        return no_memory();
    }
    yaml_parser_set_input_string(&l.parser, (const unsigned char *)text, bytes);
    st = load_stream(&l, &root);
    if (l.parser.error == YAML_READER_ERROR) {
        place_byte(text, l.parser.problem_offset);
    }
    yaml_parser_delete(&l.parser);
    if (st == TRI_OK) {
        *out = root;
    }
    return st;
}

const tri_yaml *tri_yaml_get(const tri_yaml *map, const char *key)
{
    const tri_yaml *n;

    if (!map || map->kind != TRI_YAML_MAP) {
        return NULL;
    }
    for (n = map->first; n; n = n->next) {
        if (strcmp(n->key, key) == 0) {
            return n;
        }
    }
    return NULL;
}

int tri_yaml_equal(const tri_yaml *a, const tri_yaml *b)
{
    const tri_yaml *x, *y;

    if (!a || !b) {
        return a == b;
    }
    if (a->kind != b->kind || a->n != b->n) {
        return 0;
    }
    if (a->kind == TRI_YAML_SCALAR) {
        return strcmp(a->text, b->text) == 0;
    }
    for (x = a->first, y = b->first; x; x = x->next, y = y->next) {
        const tri_yaml *other = x->key ? tri_yaml_get(b, x->key) : y;
        if (!tri_yaml_equal(x, other)) {
            return 0;
        }
    }
    return 1;
}
