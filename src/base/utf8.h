/*
 * UTF-8 (RFC 3629): checking texts, and making them safe to print.
 */
#ifndef KVPLAN_BASE_UTF8_H
#define KVPLAN_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* The length of the valid sequence at p, where `left` bytes are left; 0 if
   the sequence is not valid. */
size_t utf8_length(const char *p, size_t left);

/* Whether the valid sequence at p is a control character (C0, DEL, C1), or
   one that changes the direction of text or hides it. */
bool utf8_is_control(const char *p);

/* Whether a text is valid and has no control character.  *count becomes the
   number of characters up to the first that is not. */
bool utf8_is_printable(const char *text, size_t *count);

/* Replace every control character and every invalid byte by '?'. */
void utf8_clean(char *text);

#endif
