/*
 * The smallest user of the installed library.
 */
#include <trireme/num.h>
#include <trireme/sched.h>

int main(void)
{
    tri_sched_settings settings = {.kind = TRI_SCHED_ASHA,
                                   .min = 1,
                                   .max = 9,
                                   .eta = 3,
                                   .bracket = 0,
                                   .brackets = 1};
    tri_sched *sched;
    int rungs;

    if (tri_sched_create(&settings, &sched) != TRI_OK) {
        return 1;
    }
    rungs = tri_sched_n_rungs(sched);
    tri_sched_destroy(sched);
    return rungs == 3 && tri_log2(8) == 3 ? 0 : 1;
}
