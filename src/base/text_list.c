/*
 * A list in a message.  See text_list.h.
 */
#include "base/text_list.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

/* Kept free for what text_list_end() writes. */
#define END_ROOM sizeof(" and 18446744073709551615 more")

_Static_assert(END_ROOM < TEXT_LIST_ROOM, "the end fits the least room");

void text_list_begin(struct text_list *list, char *text, size_t size,
		     const char *separator)
{
	assert(size >= TEXT_LIST_ROOM);
	*list = (struct text_list){
		.text = text, .size = size, .separator = separator,
	};
	*text = '\0';
}

/* Write separator and item; returns whether there was room for both. */
static bool append_item(struct text_list *list, const char *format,
			va_list args)
{
	size_t end = list->size - END_ROOM, used = list->used;

	assert(used < end && !list->more);
	if (used)
		used += (size_t)snprintf(list->text + used, end - used, "%s",
					 list->separator);
	if (used < end)
		used += (size_t)vsnprintf(list->text + used, end - used,
					  format, args);
	if (used >= end)
		return false;
	list->used = used;
	return true;
}

void text_list_add(struct text_list *list, uint64_t count, const char *format,
		   ...)
{
	va_list args;

	assert(count);
	va_start(args, format);
	if (list->more || !append_item(list, format, args)) {
		list->text[list->used] = '\0';
		list->more += count;
	}
	va_end(args);
}

void text_list_end(struct text_list *list)
{
	assert(list->used + END_ROOM <= list->size);
	if (list->more)
		snprintf(list->text + list->used, list->size - list->used,
			 "%s%llu more", list->used ? " and " : "",
			 (ull)list->more);
}
