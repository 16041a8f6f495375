/*
 * Importance in a program that was built without BLAS: there is no model.
 */
#include "src/report/part.h"

json_t *tri_report_importance(const tri_report_part *p)
{
    return tri_report_because(p, "importance",
                              "This trireme was built without BLAS, so it has "
                              "no model to learn effects with.");
}
