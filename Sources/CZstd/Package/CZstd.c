// A target of SwiftPM has a source; the calls themselves are in the package of libzstd.
#include "CZstd.h"
