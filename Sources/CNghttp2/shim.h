#pragma once
// Debian 12 has nghttp2 1.52, before the functions whose names end in 2 (1.60). Debian 13 has both, so the older
// names are used.
#include <nghttp2/nghttp2.h>
