/*
 * A tiny driver for the tests of the store: one synthetic study, a controller,
 * a record, and a world in which every run does what its trial's number says.
 */
#ifndef TRI_TESTS_STORE_TINY_H
#define TRI_TESTS_STORE_TINY_H

#include "trireme/store.h"

#define TINY_RANKS 4

typedef struct tiny_settings {
    const char *path;
    int resume;
    const char *study;     /* its text; NULL: tiny_study */
    int64_t drain_after;   /* events of this opening, then drain; -1: never */
    int64_t crash_after;   /* events of this opening, then return; -1: never */
    int64_t stop_after;    /* events, then SIGSTOP to itself; -1: never */
    int64_t *returned;     /* counts events whose recording returned; or NULL */
    int sync_every;        /* events between syncs */
    int pause_ms;          /* between events */
    int hurry;             /* at the end */
    int64_t abandon_after; /* events of this opening, at least; -1: never */
    const tri_record_summary *summary; /* NULL: none */
} tiny_settings;

typedef struct tiny_result {
    tri_status status; /* of the first call of the record that failed */
    int end_status;    /* of the study; -1: broken off */
    int epoch;
    int64_t events; /* of this opening */
} tiny_result;

extern const char tiny_study[];
/* The same with more in its ranges. */
extern const char tiny_study_edited[];

void tiny_defaults(tiny_settings *settings, const char *path);
/* Open, drive to the end (or as the settings say), close. */
tiny_result tiny_drive(const tiny_settings *settings);

#endif
