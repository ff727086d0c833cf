#pragma once
#include <brotli/decode.h>
#include <brotli/encode.h>
#include <brotli/shared_dictionary.h>
