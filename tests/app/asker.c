/*
 * A trainer in C that asks trireme/report.h alone for what to do, with defaults
 * that no study has, and at last prints what it was told.
 */
#include <trireme/report.h>

#include <stdio.h>

int main(void)
{
    double lr = trireme_real("lr", -1.0);
    long width = trireme_int("width", -1);
    long last = trireme_last_step(-1);
    long steps = 0;

    for (long step = trireme_first_step(); step <= last; step++) {
        trireme_report(step, "loss", lr + (double)width, NULL);
        steps++;
    }
    printf("TOLD {\"lr\": %.17g, \"width\": %ld, \"Mode\": \"%s\", \"fast\": "
           "%s, \"steps\": %ld}\n",
           lr, width, trireme_text("Mode", "none"),
           trireme_int("fast", -1) == 1 ? "true" : "false", steps);
    return 0;
}
