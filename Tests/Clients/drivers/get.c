/* get STORE [FIELD: VALUE]... URL...: writes the bodies to standard output. */
#include "dictionaries.c"
#include <sys/stat.h>

/* What an app may have done with its handle before, and does afterwards with libcurl's own function for bodies. */
static void post(CURL *curl) {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, "a=b");
}

static int read_file(CURL *curl) {
    FILE *nowhere = fopen("/dev/null", "w");
    curl_easy_setopt(curl, CURLOPT_URL, "file:///etc/passwd");
    curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L);
    if (nowhere) curl_easy_setopt(curl, CURLOPT_WRITEDATA, nowhere);
    int is_read = curl_easy_perform(curl) == CURLE_OK;
    if (nowhere) fclose(nowhere);
    return is_read;
}

int main(int count, char **words) {
    CURL *curl = curl_easy_init();
    struct curl_slist *fields = NULL;
    int has_failed = 0;
    mkdir(words[1], 0700);
    for (int index = 2; index < count && !has_failed; index++) {
        if (strncmp(words[index], "http", 4) != 0) {
            fields = curl_slist_append(fields, words[index]);
            continue;
        }
        struct bytes body = {0};
        char *url = strdup(words[index]); /* with an end that the sanitizer sees */
        post(curl);
        has_failed = get_with_dictionaries(curl, words[1], url, fields, &body) == 0 || !read_file(curl);
        if (!has_failed && body.size > 0) fwrite(body.data, 1, body.size, stdout);
        free(body.data);
        free(url);
    }
    curl_slist_free_all(fields);
    curl_easy_cleanup(curl);
    return fflush(stdout) || has_failed ? 1 : 0;
}
