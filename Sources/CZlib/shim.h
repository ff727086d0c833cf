#pragma once
#include <zlib.h>

// Swift does not see macros that call functions. 16 added to the window bits asks for the gzip wrapper.
static inline int dictum_deflate_init_gzip(z_streamp stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
}
static inline int dictum_inflate_init_gzip(z_streamp stream) { return inflateInit2(stream, MAX_WBITS + 16); }
