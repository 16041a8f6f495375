/*
 * cmocka with the headers that it needs, in the order that it needs.
 */
#ifndef TRI_TESTS_TRI_CMOCKA_H
#define TRI_TESTS_TRI_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
