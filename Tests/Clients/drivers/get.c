/* get STORE [FIELD: VALUE]... URL...: writes the bodies to standard output. */
#include "dictionaries.c"
#include <sys/stat.h>

int main(int count, char **words) {
    CURL *curl = curl_easy_init();
    struct curl_slist *fields = NULL;
    mkdir(words[1], 0700);
    for (int index = 2; index < count; index++) {
        if (strncmp(words[index], "http", 4) != 0) {
            fields = curl_slist_append(fields, words[index]);
            continue;
        }
        struct bytes body = {0};
        if (get_with_dictionaries(curl, words[1], words[index], fields, &body) == 0) return 1;
        if (body.size > 0) fwrite(body.data, 1, body.size, stdout);
        free(body.data);
    }
    curl_slist_free_all(fields);
    curl_easy_cleanup(curl);
    return fflush(stdout) ? 1 : 0;
}
