/*
 * A list in a message, where the room is limited: the items that fit, and
 * then how many more there are.  Nobody may take a part for the whole.
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
	uint64_t more;		/* things left out, since room ran out */
	const char *separator;
};

/* The least room of a list. */
#define TEXT_LIST_ROOM 64

/*
 * An empty list in text[size], size >= TEXT_LIST_ROOM.  The text is complete
 * after text_list_end() and an empty text where nothing was added.
 */
void text_list_begin(struct text_list *list, char *text, size_t size,
		     const char *separator);

/*
 * Add an item that stands for `count` things.  From the first item on that
 * does not fit, things are counted only.
 */
void text_list_add(struct text_list *list, uint64_t count, const char *format,
		   ...) KVP_PRINTF(3, 4);

/* Where things were left out, end in " and N more". */
void text_list_end(struct text_list *list);

#endif
