#pragma once
#include <brotli/decode.h>
#include <brotli/encode.h>
#include <brotli/shared_dictionary.h>
#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>

// An allocator for brotli that counts what is live; `opaque` points to the count.
// Brotli calls it on the thread that uses the object, so the count needs no lock.
static inline void *dictum_brotli_allocate(void *opaque, size_t size) {
    void *block = malloc(size);
    if (block != NULL) *(size_t *)opaque += malloc_usable_size(block);
    return block;
}
static inline void dictum_brotli_free(void *opaque, void *block) {
    if (block == NULL) return;
    *(size_t *)opaque -= malloc_usable_size(block);
    free(block);
}
static inline brotli_alloc_func dictum_brotli_allocator(void) { return dictum_brotli_allocate; }
static inline brotli_free_func dictum_brotli_deallocator(void) { return dictum_brotli_free; }
