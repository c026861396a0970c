/*
 * A list of items in a message of limited length: the items that fit, then
 * the number of those left out.
 */
#ifndef KVPLAN_BASE_TEXT_LIST_H
#define KVPLAN_BASE_TEXT_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct text_list {
	char *text;
	size_t size;
	size_t used;
	uint64_t more;		/* things left out */
	const char *separator;
};

/* The least bytes that a list needs. */
#define TEXT_LIST_ROOM 64

/*
 * Begin a list in text[size], size >= TEXT_LIST_ROOM.  The text is complete
 * after text_list_end(); without items it is "".
 */
void text_list_begin(struct text_list *list, char *text, size_t size,
		     const char *separator);

/*
 * Add an item that stands for `count` things.  After the first item that
 * does not fit, all items are left out and their things are counted.
 */
void text_list_add(struct text_list *list, uint64_t count, const char *format,
		   ...) KVP_PRINTF(3, 4);

/* End the list; if things were left out, with " and N more". */
void text_list_end(struct text_list *list);

#endif
