/* Bytes that grow: what both processes write and read. */
#include "functions.h"

#include <stdlib.h>
#include <string.h>

int need(Bytes *bytes, size_t more) {
    if (more > SIZE_MAX / 4 || bytes->size > SIZE_MAX / 4) return 0;
    size_t wanted = bytes->size + more;
    if (wanted <= bytes->room) return 1;
    size_t room = wanted < 4096 ? 4096 : 2 * wanted;
    unsigned char *data = realloc(bytes->data, room);
    if (data == NULL) return 0;
    bytes->data = data;
    bytes->room = room;
    return 1;
}

int put(Bytes *bytes, const void *data, size_t size) {
    if (!need(bytes, size)) return 0;
    if (size) memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
    return 1;
}

int take(Bytes *bytes, void *data, size_t size) {
    if (size > bytes->size - bytes->place) return 0;
    if (size) memcpy(data, bytes->data + bytes->place, size);
    bytes->place += size;
    return 1;
}
