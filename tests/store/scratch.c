/*
 * Folders for tests; see the header.
 */
#include "tests/store/scratch.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check(int holds, const char *what)
{
    if (!holds) {
        perror(what);
        abort();
    }
}

void scratch_make(char dir[256])
{
    const char *base = getenv("TMPDIR");

    if (!base || !*base) {
        base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    }
    snprintf(dir, 256, "%s/tri-store-XXXXXX", base);
    check(mkdtemp(dir) != NULL, "mkdtemp");
}

void scratch_empty(const char *dir)
{
    char path[TRI_PATH_BYTES];
    struct dirent *entry;
    DIR *d = opendir(dir);

    check(d != NULL, "opendir");
    while ((entry = readdir(d))) {
        if (entry->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
            check(unlink(path) == 0, "unlink");
        }
    }
    closedir(d);
}

void scratch_remove(const char *dir)
{
    scratch_empty(dir);
    check(rmdir(dir) == 0, "rmdir");
}

static void copy_file(const char *from, const char *to)
{
    FILE *in = fopen(from, "rb");
    FILE *out = fopen(to, "wb");
    char buf[65536];
    size_t n;

    check(in && out, "fopen");
    while ((n = fread(buf, 1, sizeof buf, in)) > 0) {
        check(fwrite(buf, 1, n, out) == n, "fwrite");
    }
    fclose(in);
    fclose(out);
}

void scratch_copy(const char *from, const char *to)
{
    char a[TRI_PATH_BYTES], b[TRI_PATH_BYTES];
    struct dirent *entry;
    DIR *d = opendir(from);

    check(d != NULL, "opendir");
    scratch_empty(to);
    while ((entry = readdir(d))) {
        if (entry->d_name[0] != '.') {
            snprintf(a, sizeof a, "%s/%s", from, entry->d_name);
            snprintf(b, sizeof b, "%s/%s", to, entry->d_name);
            copy_file(a, b);
        }
    }
    closedir(d);
}

void scratch_list(const char *dir)
{
    struct dirent *entry;
    DIR *d = opendir(dir);

    check(d != NULL, "opendir");
    while ((entry = readdir(d))) {
        if (entry->d_name[0] != '.') {
            printf("  %s\n", entry->d_name);
        }
    }
    closedir(d);
}

int scratch_count(const char *dir, const char *part)
{
    struct dirent *entry;
    DIR *d = opendir(dir);
    int n = 0;

    check(d != NULL, "opendir");
    while ((entry = readdir(d))) {
        n += entry->d_name[0] != '.' && strstr(entry->d_name, part) != NULL;
    }
    closedir(d);
    return n;
}

void packed_open(tri_buffer *out, int epoch, double time_s)
{
    tri_event event;

    memset(&event, 0, sizeof event);
    event.kind = TRI_EV_OPEN;
    event.time_s = time_s;
    event.u.open.epoch = epoch;
    tri_buffer_clear(out);
    check(tri_event_pack(&event, out) == TRI_OK, "tri_event_pack");
}

void packed_report(tri_buffer *out, int i)
{
    tri_event event;

    memset(&event, 0, sizeof event);
    event.kind = TRI_EV_REPORT;
    event.time_s = i;
    event.u.report.run = i;
    event.u.report.seq = i % 7;
    tri_buffer_clear(out);
    check(tri_event_pack(&event, out) == TRI_OK, "tri_event_pack");
}
