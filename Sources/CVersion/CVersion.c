#include "CVersion.h"

#ifndef DICTUM_VERSION
#define DICTUM_VERSION "development"
#endif

const char *CVersion_text(void) { return DICTUM_VERSION; }
