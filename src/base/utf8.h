/*
 * Characters of UTF-8 in bytes that anybody may have written.
 */
#ifndef TRI_BASE_UTF8_H
#define TRI_BASE_UTF8_H

#include <stddef.h>

/* Whether a byte goes on with a character that began before. */
static inline int tri_utf8_is_inner(char c)
{
    return ((unsigned char)c & 0xc0u) == 0x80u;
}

/* Bytes of the character at `s`; 0 where there is none: a wrong or cut
 * sequence, an overlong one, half of a surrogate pair, or past U+10FFFF. */
static inline size_t tri_utf8_length(const char *s, size_t bytes)
{
    unsigned char c = (unsigned char)(bytes > 0 ? s[0] : 0x80);
    size_t n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    unsigned char next = (unsigned char)(n > 1 && bytes > 1 ? s[1] : 0);

    if (c > 0xf4 || n > bytes || (c == 0xe0 && next < 0xa0) ||
        (c == 0xed && next > 0x9f) || (c == 0xf0 && next < 0x90) ||
        (c == 0xf4 && next > 0x8f)) {
        return 0;
    }
    for (size_t i = 1; i < n; i++) {
        if (!tri_utf8_is_inner(s[i])) {
            return 0;
        }
    }
    return n;
}

#endif
