/*
 * Reads a study out of an open event.
 */
#include "mpi_workers/announced.h"

#include <stdlib.h>
#include <string.h>

static tri_status read_attachment(void *ctx, const char *path, char **data,
                                  size_t *bytes)
{
    const tri_ev_open *open = ctx;

    for (int i = 0; i < open->n_attachments; i++) {
        const tri_attachment *a = &open->attachments[i];

        if (strcmp(a->path, path) == 0) {
            *data = malloc(a->text.bytes + 1);
            if (!*data) {
                return TRI_FAIL(TRI_ENOMEM, "no memory for %s", path);
            }
            memcpy(*data, a->text.data, a->text.bytes);
            (*data)[a->text.bytes] = 0;
            *bytes = a->text.bytes;
            return TRI_OK;
        }
    }
    return TRI_FAIL(TRI_EIO, "%s was not sent along with the study", path);
}

tri_status tri_announced_study(const tri_ev_open *open, tri_study **out)
{
    tri_study *study;
    tri_ev_open copy = *open;

    TRI_TRY(tri_study_parse(open->study_text.data, open->study_text.bytes,
                            open->study_path, read_attachment, &copy, &study));
    study->seed = open->seed;
    *out = study;
    return TRI_OK;
}
