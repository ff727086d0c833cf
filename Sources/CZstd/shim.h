#pragma once
// Experimental calls and parameters of libzstd: exported by the shared library, declared only on request.
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
