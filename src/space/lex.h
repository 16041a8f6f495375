/*
 * Tokens of the expression language.
 */
#ifndef TRI_SPACE_LEX_H
#define TRI_SPACE_LEX_H

#include "trireme/value.h"

typedef enum tri_token_kind {
    TRI_TOK_END,
    TRI_TOK_NUMBER, /* value */
    TRI_TOK_NAME,   /* bare: a variable, word, function or keyword */
    TRI_TOK_STRING, /* quoted */
    TRI_TOK_PUNCT   /* an operator, a parenthesis, a comma */
} tri_token_kind;

typedef struct tri_token {
    tri_token_kind kind;
    const char *at; /* into the text */
    size_t n;       /* bytes; of a quoted one: without the quotes */
    int column;     /* from 1 */
    tri_value value;
} tri_token;

typedef struct tri_lexer {
    const char *text, *at;
    const char *const *words; /* those that may start with a digit */
    int n_words;
} tri_lexer;

/* The next token.  TRI_EPARSE, TRI_EOVERFLOW with the column. */
tri_status tri_lex(tri_lexer *lx, tri_token *out);

#endif
