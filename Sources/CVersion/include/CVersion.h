#pragma once

/// The version of this build; see Package.swift.
const char *CVersion_text(void);
