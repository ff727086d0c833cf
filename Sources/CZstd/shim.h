#pragma once
// Experimental calls and parameters of libzstd: exported by the shared library, declared only on request.
#define ZSTD_STATIC_LINKING_ONLY
#include <zdict.h>
#include <zstd.h>

// Swift does not see macros that stand for enum constants.
static inline ZSTD_cParameter dictum_zstd_c_force_attach_dict(void) { return ZSTD_c_forceAttachDict; }
static inline ZSTD_cParameter dictum_zstd_c_src_size_hint(void) { return ZSTD_c_srcSizeHint; }
