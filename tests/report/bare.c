/*
 * Writes the page of a study as a program does that was built without the
 * library of charts: page and assets are compiled so into this one.
 *
 *   report_bare NAME WORKERS REPORT.html
 */
#include "tests/report/world.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const char *text = argc == 4 ? world_text(argv[1]) : NULL;
    FILE *out = text ? fopen(argv[3], "wb") : NULL;
    tri_status st;
    json_t *data;
    world w;

    if (!out || tri_report_library()) {
        fprintf(stderr, "usage: report_bare NAME WORKERS REPORT.html\n");
        return 1;
    }
    world_live(&w, text, atoi(argv[2]), NULL);
    data = world_data(&w);
    st = tri_report_write(data, out);
    json_decref(data);
    world_fini(&w);
    return fclose(out) == 0 && st == TRI_OK ? 0 : 1;
}
