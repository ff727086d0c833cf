#pragma once
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ocsp.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// Swift does not see macros with arguments, nor those with a cast in them.
static inline uint64_t dictum_ssl_options(void) {
    return SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_SINGLE_ECDH_USE;
}
static inline uint64_t dictum_ssl_server_options(void) {
    return SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA;
}
static inline int dictum_ssl_set_min_version(SSL_CTX *context, int version) {
    return (int)SSL_CTX_set_min_proto_version(context, version);
}
static inline int dictum_ssl_set_groups(SSL_CTX *context, const char *groups) {
    return (int)SSL_CTX_set1_groups_list(context, groups);
}
static inline int dictum_ssl_set_signatures(SSL_CTX *context, const char *names) {
    return (int)SSL_CTX_set1_sigalgs_list(context, names);
}
static inline void dictum_ssl_set_mode(SSL_CTX *context, long mode) { SSL_CTX_set_mode(context, mode); }
static inline void dictum_ssl_set_read_ahead(SSL_CTX *context) { SSL_CTX_set_read_ahead(context, 1); }
static inline void dictum_ssl_set_cache_mode(SSL_CTX *context, long mode) {
    SSL_CTX_set_session_cache_mode(context, mode);
}
static inline int dictum_ssl_add_chain(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add1_chain_cert(context, certificate);
}
static inline void dictum_ssl_set_app_data(SSL_CTX *context, void *data) { SSL_CTX_set_app_data(context, data); }
static inline void *dictum_ssl_app_data(const SSL_CTX *context) { return SSL_CTX_get_app_data(context); }
static inline void dictum_ssl_on_server_name(SSL_CTX *context, int (*callback)(SSL *, int *, void *), void *data) {
    SSL_CTX_set_tlsext_servername_callback(context, callback);
    SSL_CTX_set_tlsext_servername_arg(context, data);
}
static inline void dictum_ssl_on_status(SSL_CTX *context, int (*callback)(SSL *, void *), void *data) {
    SSL_CTX_set_tlsext_status_cb(context, callback);
    SSL_CTX_set_tlsext_status_arg(context, data);
}
static inline void dictum_ssl_set_ocsp_response(SSL *connection, void *owned, long count) {
    SSL_set_tlsext_status_ocsp_resp(connection, owned, count);
}
static inline int dictum_ssl_set_host_name(SSL *connection, const char *name) {
    return (int)SSL_set_tlsext_host_name(connection, name);
}
static inline void dictum_ssl_set_data(SSL *connection, void *data) { SSL_set_app_data(connection, data); }
static inline void *dictum_ssl_data(const SSL *connection) { return SSL_get_app_data(connection); }
static inline unsigned long dictum_x509_name_form(void) { return XN_FLAG_RFC2253; }
static inline void *dictum_openssl_malloc(size_t count) { return OPENSSL_malloc(count); }
static inline void dictum_bio_clear_retry(BIO *bio) { BIO_clear_retry_flags(bio); }
static inline void dictum_bio_set_retry_read(BIO *bio) { BIO_set_retry_read(bio); }
static inline void dictum_bio_set_retry_write(BIO *bio) { BIO_set_retry_write(bio); }
static inline long dictum_bio_memory(BIO *bio, char **data) { return BIO_get_mem_data(bio, data); }
// A parameter keeps a pointer to its name: Swift's copy of a string constant would be gone before it is read.
static inline OSSL_PARAM dictum_param_mac_key(void *key, size_t count) {
    return OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key, count);
}
static inline OSSL_PARAM dictum_param_mac_sha256(void) {
    return OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0);
}
