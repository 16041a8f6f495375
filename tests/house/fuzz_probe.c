/*
 * A fuzz target with a planted fault, which the driver must reach: it dies on
 * any input with a "{" right before a "}" (words that mutations insert).
 */
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    for (size_t i = 1; i < bytes; i++) {
        if (data[i - 1] == '{' && data[i] == '}') {
            raise(SIGABRT);
        }
    }
    return 0;
}
