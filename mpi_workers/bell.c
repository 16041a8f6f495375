/*
 * A word a rank that counts rings, and a futex on it.
 */
#include "mpi_workers/bell.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    LINE = 64
};

/* After a ring that came ahead of its message, naps of up to so long. */
#define EXPECT_S 1e-3
#define FIRST_S  50e-6
#define LONG_S   5e-3

typedef struct line { /* of a rank */
    _Alignas(LINE) atomic_uint rings;
    atomic_uint sleeps;
    atomic_uint is_there;
} line;

typedef struct head {
    _Alignas(LINE) uint64_t nonce; /* that it is this one */
    line lines[];
} head;

struct tri_bell {
    head *head;
    size_t bytes;
    int size, rank;
    int fd;        /* of the one who made it, else -1 */
    unsigned seen; /* rings that the last wait knew of */
};

static size_t bytes_of(int size)
{
    return sizeof(head) + (size_t)size * sizeof(line);
}

static tri_bell *attach(int size, int rank, int fd)
{
    tri_bell *b = malloc(sizeof *b);
    void *at;

    if (!b) {
        return NULL;
    }
    *b = (tri_bell){
            .bytes = bytes_of(size), .size = size, .rank = rank, .fd = -1};
    at = mmap(NULL, b->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) {
        free(b);
        return NULL;
    }
    b->head = at;
    return b;
}

static void come(tri_bell *b)
{
    line *mine = &b->head->lines[b->rank];

    b->seen = atomic_load(&mine->rings);
    atomic_store(&mine->is_there, 1);
}

tri_bell *tri_bell_make(int size, tri_bell_offer *offer)
{
    tri_bell *b = NULL;

    *offer = (tri_bell_offer){.fd = memfd_create("trireme", MFD_CLOEXEC)};
    if (offer->fd < 0) {
        return NULL;
    }
    if (ftruncate(offer->fd, (off_t)bytes_of(size)) == 0 &&
        getrandom(&offer->nonce, sizeof offer->nonce, 0) ==
                (ssize_t)sizeof offer->nonce) {
        b = attach(size, 0, offer->fd);
    }
    if (!b) {
        close(offer->fd);
        offer->fd = -1;
        return NULL;
    }
    b->fd = offer->fd;
    b->head->nonce = offer->nonce;
    come(b);
    return b;
}

tri_bell *tri_bell_join(int size, int rank, pid_t leader,
                        const tri_bell_offer *offer)
{
    tri_bell *b = NULL;
    char path[64];
    int fd;

    if (offer->fd < 0 || leader <= 0) {
        return NULL;
    }
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)leader, (int)offer->fd);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return NULL;
    }
    /* what is at that place may be another's */
    if (lseek(fd, 0, SEEK_END) == (off_t)bytes_of(size)) {
        b = attach(size, rank, fd);
    }
    close(fd);
    if (b && b->head->nonce != offer->nonce) {
        tri_bell_close(b);
        return NULL;
    }
    if (b) {
        come(b);
    }
    return b;
}

void tri_bell_close(tri_bell *b)
{
    if (!b) {
        return;
    }
    munmap(b->head, b->bytes);
    if (b->fd >= 0) {
        close(b->fd);
    }
    free(b);
}

static long futex(atomic_uint *word, int op, unsigned value,
                  const struct timespec *limit)
{
    return syscall(SYS_futex, word, op, value, limit, NULL, 0);
}

/* The count first, then whether the other sleeps; the other says first that
 * it sleeps and then looks at the count: one of them sees the other. */
void tri_bell_ring(tri_bell *b, int rank)
{
    line *of;

    if (!tri_bell_reaches(b, rank)) {
        return;
    }
    of = &b->head->lines[rank];
    atomic_fetch_add(&of->rings, 1);
    if (atomic_load(&of->sleeps)) {
        futex(&of->rings, FUTEX_WAKE, 1, NULL);
    }
}

int tri_bell_reaches(const tri_bell *b, int rank)
{
    return b && rank >= 0 && rank < b->size &&
           atomic_load(&b->head->lines[rank].is_there);
}

int tri_bell_wait(tri_bell *b, double s)
{
    struct timespec limit;
    line *mine;
    unsigned now;
    int rung;

    if (!b) {
        tri_sleep(s);
        return 0;
    }
    if (s < 0) {
        s = 0;
    }
    mine = &b->head->lines[b->rank];
    limit.tv_sec = (time_t)s;
    limit.tv_nsec = (long)((s - (double)limit.tv_sec) * 1e9);
    atomic_store(&mine->sleeps, 1);
    if (atomic_load(&mine->rings) == b->seen) {
        futex(&mine->rings, FUTEX_WAIT, b->seen, &limit);
    }
    atomic_store(&mine->sleeps, 0);
    now = atomic_load(&mine->rings);
    rung = now != b->seen;
    b->seen = now;
    return rung;
}

void tri_bell_pause(tri_bell *b, tri_pause *p)
{
    int expects = p->next_s > 0;

    if (!tri_bell_reaches(b, 0)) {
        tri_pause_sleep(p);
        return;
    }
    if (tri_bell_wait(b, expects ? p->next_s : LONG_S)) {
        p->next_s = FIRST_S;
    } else if (expects) {
        p->next_s *= 2;
        if (p->next_s > EXPECT_S) {
            tri_pause_reset(p);
        }
    }
}
