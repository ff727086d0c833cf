#pragma once
// The calls of libzstd 1.5 that Dictum uses, for the library of the Swift package: the module there has the stable ones alone,
// and importing it warns of each macro of its headers, which our rules make an error.
#include <stddef.h>

#define ZSTD_FRAMEHEADERSIZE_MAX 18

typedef struct ZSTD_CCtx_s ZSTD_CCtx;
typedef struct ZSTD_DCtx_s ZSTD_DCtx;
typedef struct ZSTD_CDict_s ZSTD_CDict;
typedef struct ZSTD_CCtx_params_s ZSTD_CCtx_params;

typedef struct {
    const void *src;
    size_t size;
    size_t pos;
} ZSTD_inBuffer;
typedef struct {
    void *dst;
    size_t size;
    size_t pos;
} ZSTD_outBuffer;

typedef enum { ZSTD_e_continue = 0, ZSTD_e_flush = 1, ZSTD_e_end = 2 } ZSTD_EndDirective;
typedef enum { ZSTD_reset_session_and_parameters = 3 } ZSTD_ResetDirective;
typedef enum { ZSTD_dct_rawContent = 1 } ZSTD_dictContentType_e;
typedef enum { ZSTD_dlm_byRef = 1 } ZSTD_dictLoadMethod_e;
typedef enum {
    ZSTD_c_compressionLevel = 100,
    ZSTD_c_windowLog = 101,
    ZSTD_c_hashLog = 102,
    ZSTD_c_chainLog = 103,
    ZSTD_c_enableLongDistanceMatching = 160,
    ZSTD_c_ldmHashLog = 161,
    ZSTD_c_ldmMinMatch = 162,
    ZSTD_c_ldmBucketSizeLog = 163,
    ZSTD_c_ldmHashRateLog = 164,
    ZSTD_c_contentSizeFlag = 200,
    ZSTD_c_checksumFlag = 201,
    ZSTD_c_dictIDFlag = 202,
    ZSTD_c_experimentalParam4 = 1001,
    ZSTD_c_experimentalParam7 = 1004,
} ZSTD_cParameter;

typedef struct {
    void *(*customAlloc)(void *opaque, size_t bytes);
    void (*customFree)(void *opaque, void *address);
    void *opaque;
} ZSTD_customMem;
static const ZSTD_customMem ZSTD_defaultCMem = {NULL, NULL, NULL};

unsigned ZSTD_isError(size_t code);
const char *ZSTD_getErrorName(size_t code);

ZSTD_CCtx *ZSTD_createCCtx(void);
size_t ZSTD_freeCCtx(ZSTD_CCtx *);
size_t ZSTD_sizeof_CCtx(const ZSTD_CCtx *);
size_t ZSTD_CCtx_reset(ZSTD_CCtx *, ZSTD_ResetDirective);
size_t ZSTD_CCtx_setParameter(ZSTD_CCtx *, ZSTD_cParameter, int value);
size_t ZSTD_CCtx_setPledgedSrcSize(ZSTD_CCtx *, unsigned long long bytes);
size_t ZSTD_CCtx_refCDict(ZSTD_CCtx *, const ZSTD_CDict *);
size_t ZSTD_CCtx_refPrefix_advanced(ZSTD_CCtx *, const void *prefix, size_t bytes, ZSTD_dictContentType_e);
size_t ZSTD_CStreamOutSize(void);
size_t ZSTD_compressStream2(ZSTD_CCtx *, ZSTD_outBuffer *, ZSTD_inBuffer *, ZSTD_EndDirective);
size_t ZSTD_estimateCStreamSize_usingCCtxParams(const ZSTD_CCtx_params *);

ZSTD_CCtx_params *ZSTD_createCCtxParams(void);
size_t ZSTD_freeCCtxParams(ZSTD_CCtx_params *);
size_t ZSTD_CCtxParams_setParameter(ZSTD_CCtx_params *, ZSTD_cParameter, int value);

ZSTD_CDict *ZSTD_createCDict_advanced2(
    const void *dictionary, size_t bytes, ZSTD_dictLoadMethod_e, ZSTD_dictContentType_e, const ZSTD_CCtx_params *,
    ZSTD_customMem);
size_t ZSTD_freeCDict(ZSTD_CDict *);
size_t ZSTD_sizeof_CDict(const ZSTD_CDict *);

ZSTD_DCtx *ZSTD_createDCtx(void);
size_t ZSTD_freeDCtx(ZSTD_DCtx *);
size_t ZSTD_sizeof_DCtx(const ZSTD_DCtx *);
size_t ZSTD_DCtx_reset(ZSTD_DCtx *, ZSTD_ResetDirective);
size_t ZSTD_DCtx_setMaxWindowSize(ZSTD_DCtx *, size_t bytes);
size_t ZSTD_DCtx_refPrefix(ZSTD_DCtx *, const void *prefix, size_t bytes);
size_t ZSTD_DCtx_loadDictionary_advanced(
    ZSTD_DCtx *, const void *dictionary, size_t bytes, ZSTD_dictLoadMethod_e, ZSTD_dictContentType_e);
size_t ZSTD_decompressStream(ZSTD_DCtx *, ZSTD_outBuffer *, ZSTD_inBuffer *);
size_t ZSTD_decompressDCtx(ZSTD_DCtx *, void *output, size_t capacity, const void *input, size_t bytes);
size_t ZSTD_estimateDStreamSize(size_t window);

unsigned ZDICT_isError(size_t code);
size_t ZDICT_trainFromBuffer(
    void *dictionary, size_t capacity, const void *samples, const size_t *sampleBytes, unsigned sampleCount);
size_t ZDICT_getDictHeaderSize(const void *dictionary, size_t bytes);

// Their names are macros of zstd.h.
static inline ZSTD_cParameter dictum_zstd_c_force_attach_dict(void) { return ZSTD_c_experimentalParam4; }
static inline ZSTD_cParameter dictum_zstd_c_src_size_hint(void) { return ZSTD_c_experimentalParam7; }
