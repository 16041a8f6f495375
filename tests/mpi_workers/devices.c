/*
 * Sharing devices out, on pools that are made up: what each worker of a host
 * shows its process, and what is said where it cannot be right.
 */
#include "mpi_workers/devices.h"
#include "mpi_workers/rendezvous.h"

#include "tests/tri_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 16

static const char *const abc[] = {"2", "0", "4,5"};

static const tri_process_spec automatic = {
        .devices = {.how = TRI_DEVICES_AUTO}};
static const tri_process_spec by_map = {
        .devices = {.how = TRI_DEVICES_MAP, .map = abc, .n_map = 3}};
static const tri_process_spec none = {.devices = {.how = TRI_DEVICES_NONE}};

/* The workers of a host that were given the lists in `given` (NULL-terminated)
 * show `expected`, "-" for what is inherited; a remark holds `word`. */
static void check(const tri_process_spec *spec, int n_node,
                  const char *const *given, const char *const *expected,
                  const char *word)
{
    tri_devices_given all[MOST] = {0};
    char remark[300];
    int n = 0;

    for (; given[n]; n++) {
        snprintf(all[n].variable, sizeof all[n].variable,
                 "CUDA_VISIBLE_DEVICES");
        snprintf(all[n].list, sizeof all[n].list, "%s", given[n]);
    }
    for (int i = 0; i < n; i++) {
        tri_devices d;

        assert_int_equal(tri_devices_assign(spec, all, n, n_node, i, &d, remark,
                                            sizeof remark),
                         TRI_OK);
        assert_string_equal(d.is_set ? d.own : "-", expected[i]);
        assert_string_equal(d.variable, "CUDA_VISIBLE_DEVICES");
        if (word) {
            assert_non_null(strstr(remark, word));
        } else {
            assert_string_equal(remark, "");
        }
    }
}

#define LISTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void one_list_is_shared_out(void **state)
{
    (void)state;
    check(&automatic, 4, LISTS("0,1,2,3", "0,1,2,3", "0,1,2,3", "0,1,2,3"),
          LISTS("0", "1", "2", "3"), NULL);
    check(&automatic, 0, LISTS("4,5,6,7", " 4, 5,6,7"), LISTS("4,5", "6,7"),
          NULL);
    check(&automatic, 2, LISTS("GPU-8932,GPU-17ab", "GPU-8932,GPU-17ab"),
          LISTS("GPU-8932", "GPU-17ab"), NULL);
    check(&automatic, 8, LISTS("0,1"), LISTS("0,1"), NULL);
    check(&automatic, 1, LISTS("0"), LISTS("0"), NULL);
}

static void what_cannot_be_shared_evenly_is_said(void **state)
{
    (void)state;
    check(&automatic, 4, LISTS("0,1,2,3", "0,1,2,3", "0,1,2,3"),
          LISTS("0", "1", "2"), "1 is unused");
    check(&automatic, 5, LISTS("0,1,2,3,4", "0,1,2,3,4"), LISTS("0,1", "2,3"),
          "1 is unused");
    check(&automatic, 2, LISTS("0,1", "0,1", "0,1"), LISTS("-", "-", "-"),
          "not shared out among 3 ranks");
}

static void lists_apart_are_kept(void **state)
{
    (void)state;
    check(&automatic, 4, LISTS("2", "0", "1,3"), LISTS("2", "0", "1,3"), NULL);
    /* a rank that was given none shows none; that is rank 0's to say */
    check(&automatic, 2, LISTS("0", "", "1"), LISTS("0", "", "1"), NULL);
}

static void lists_that_tell_nothing_are_left(void **state)
{
    (void)state;
    check(&automatic, 4, LISTS("", "", ""), LISTS("-", "-", "-"), NULL);
    check(&automatic, 4, LISTS("0,1", "1,2"), LISTS("-", "-"), "overlap");
    /* bound for each task: all count from 0 */
    check(&automatic, 4, LISTS("0", "0", "0"), LISTS("-", "-", "-"),
          "--gpus-per-task");
    check(&none, 4, LISTS("0,1", "0,1"), LISTS("-", "-"), NULL);
}

static void a_map_counts_workers_of_a_host(void **state)
{
    tri_devices_given two[4] = {0};
    tri_devices d = {.own = "untouched"};
    char remark[300];

    (void)state;
    check(&by_map, 0, LISTS("", "0,1,2,3"), LISTS("2", "0"), NULL);
    check(&by_map, 0, LISTS("", "", ""), LISTS("2", "0", "4,5"), NULL);
    assert_int_equal(tri_devices_assign(&by_map, two, 4, 0, 3, &d, remark,
                                        sizeof remark),
                     TRI_EINVAL);
    assert_string_equal(d.own, "untouched");
    assert_non_null(strstr(tri_error_last()->sentence, "3 entries"));
    assert_non_null(strstr(remark, "left out"));
    assert_int_equal(tri_devices_assign(&by_map, two, 4, 0, 0, &d, remark,
                                        sizeof remark),
                     TRI_OK);
    assert_string_equal(d.variable, "CUDA_VISIBLE_DEVICES");
}

static void what_is_inherited(void **state)
{
    static const char *const names[] = {
            "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
            "HIP_VISIBLE_DEVICES", "ZE_AFFINITY_MASK", "GPU_DEVICE_ORDINAL"};
    tri_process_spec own = automatic;
    tri_devices_given given;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        unsetenv(names[i]);
    }
    tri_devices_inherit(&automatic, &given);
    assert_string_equal(given.variable, "");
    for (size_t i = 5; i-- > 0;) { /* an earlier one decides */
        setenv(names[i], names[i] + i, 1);
        tri_devices_inherit(&automatic, &given);
        assert_string_equal(given.variable, names[i]);
        assert_string_equal(given.list, names[i] + i);
    }
    setenv("CUDA_VISIBLE_DEVICES", "NoDevFiles", 1);
    tri_devices_inherit(&automatic, &given);
    assert_string_equal(given.list, "");
    setenv("ASCEND_RT_VISIBLE_DEVICES", "3", 1);
    own.devices.variable = "ASCEND_RT_VISIBLE_DEVICES";
    tri_devices_inherit(&own, &given);
    assert_string_equal(given.list, "3");
}

/* A list that may hold a device twice or be longer than there is room for. */
static void unions(void **state)
{
    char buf[64];
    char small[6];

    (void)state;
    tri_devices_join(LISTS("0", "1"), 2, buf, sizeof buf);
    assert_string_equal(buf, "0,1");
    tri_devices_join(LISTS("0,1", "2,3"), 2, buf, sizeof buf);
    assert_string_equal(buf, "0,2,1,3"); /* LOCAL_RANK 1 finds a 2 */
    tri_devices_join(LISTS("0,1", "1,0"), 2, buf, sizeof buf);
    assert_string_equal(buf, "0,1");
    tri_devices_join(LISTS("10", "1", "", "11"), 4, buf, sizeof buf);
    assert_string_equal(buf, "10,1,11");
    tri_devices_join(LISTS("10", "11", "12"), 3, small, sizeof small);
    assert_string_equal(small, "10,11");
    tri_devices_join(NULL, 0, buf, sizeof buf);
    assert_string_equal(buf, "");
    tri_devices_alone("0,1,2", LISTS("1", "2,3"), 2, buf, sizeof buf);
    assert_string_equal(buf, "0");
    tri_devices_alone("0", LISTS("0"), 1, buf, sizeof buf);
    assert_string_equal(buf, "");
}

/* ---- groups over hosts -------------------------------------------------- */

#define CARD(host, address, port, list)                                        \
    {                                                                          \
        host, address, port, "CUDA_VISIBLE_DEVICES", list                      \
    }

/* Five ranks on three hosts, as a cyclic distribution puts them. */
static const tri_card cyclic[] = {
        CARD("n2", "10.0.0.2", 21000, "1"), CARD("n1", "", 0, "0"),
        CARD("n7", "", 0, "3"), CARD("n2", "", 0, "0"), CARD("n1", "", 0, "1")};

static void a_group_over_hosts(void **state)
{
    static const struct {
        int local, n_local, group;
        const char *devices;
    } expected[] = {{0, 2, 0, "1,0"},
                    {0, 2, 1, "0,1"},
                    {0, 1, 2, "3"},
                    {1, 2, 0, "1,0"},
                    {1, 2, 1, "0,1"}};

    (void)state;
    for (int i = 0; i < 5; i++) {
        tri_rendezvous r;

        assert_int_equal(tri_rendezvous_settle(cyclic, 5, i, &r), TRI_OK);
        assert_int_equal(r.rank, i);
        assert_int_equal(r.size, 5);
        assert_int_equal(r.local_rank, expected[i].local);
        assert_int_equal(r.local_size, expected[i].n_local);
        assert_int_equal(r.group_rank, expected[i].group);
        assert_int_equal(r.n_hosts, 3);
        assert_string_equal(r.hosts, "n2,n1,n7");
        assert_string_equal(r.host_slots, "n2:2,n1:2,n7:1");
        assert_string_equal(r.rank_hosts, "n2\nn1\nn7\nn2\nn1\n");
        assert_string_equal(r.address, "10.0.0.2");
        assert_int_equal(r.port, 21000);
        assert_true(r.devices.is_set);
        assert_string_equal(r.devices.own, expected[i].devices);
        tri_rendezvous_fini(&r);
    }
}

static void a_group_on_one_host(void **state)
{
    static const tri_card cards[] = {{"n1", "10.0.0.1", 21001, "", ""},
                                     {"n1", "", 0, "", ""}};
    tri_rendezvous r;

    (void)state;
    assert_int_equal(tri_rendezvous_settle(cards, 2, 1, &r), TRI_OK);
    assert_string_equal(r.address, "127.0.0.1");
    assert_string_equal(r.hosts, "n1");
    assert_string_equal(r.host_slots, "n1:2");
    assert_int_equal(r.n_hosts, 1);
    assert_false(r.devices.is_set);
    tri_rendezvous_fini(&r);
}

static void ports_are_not_ephemeral(void **state)
{
    static const struct {
        int low, high, first, last;
    } cases[] = {{32768, 60999, 10000, 32767},
                 {1024, 50000, 50001, 65535},
                 {1024, 65535, 10000, 65534}, /* no others are left */
                 {49152, 65535, 10000, 49151}};
    int first;
    int n;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tri_rendezvous_ports(cases[i].low, cases[i].high, &first, &n);
        assert_int_equal(first, cases[i].first);
        assert_int_equal(first + n - 1, cases[i].last);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(one_list_is_shared_out),
            cmocka_unit_test(what_cannot_be_shared_evenly_is_said),
            cmocka_unit_test(lists_apart_are_kept),
            cmocka_unit_test(lists_that_tell_nothing_are_left),
            cmocka_unit_test(a_map_counts_workers_of_a_host),
            cmocka_unit_test(what_is_inherited),
            cmocka_unit_test(unions),
            cmocka_unit_test(a_group_over_hosts),
            cmocka_unit_test(a_group_on_one_host),
            cmocka_unit_test(ports_are_not_ephemeral),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
