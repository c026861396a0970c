/*
 * UTF-8 (RFC 3629), as far as texts have to be kept valid and printable.
 */
#ifndef KVPLAN_BASE_UTF8_H
#define KVPLAN_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Length of the well-formed sequence at p, of which `left` bytes are there;
   0 where there is none. */
size_t utf8_length(const char *p, size_t left);

/* Is the well-formed sequence at p a control character (C0, DEL, C1), or one
   that turns or hides text? */
bool utf8_is_control(const char *p);

/* Is all of a text well-formed and printable?  *count is the number of
   characters before what is not. */
bool utf8_is_printable(const char *text, size_t *count);

/* Replace every control character and every broken byte by '?'. */
void utf8_clean(char *text);

#endif
