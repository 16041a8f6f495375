/*
 * Classes of failure, from texts as programs of the field write them, and from
 * what is known of memory.
 */
#include "mpi_workers/ending.h"

#include "mpi_workers/memory_events.h"
#include "tests/tri_cmocka.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT(code) ((code) << 8)
#define GIB        (UINT64_C(1) << 30)
/* Of mpirun's. */
#define ROW                                                                    \
    "----------------------------------------------------------------------"   \
    "----\n"

typedef struct sample {
    int wait_status;
    tri_reason reason;
    const char *text;
    const char *said; /* within the sentence */
} sample;

/* clang-format off */
static const sample samples[] = {
    /* ---- device memory ---- */
    {EXIT(1), TRI_REASON_OOM_DEVICE,
     "[rank0]: Traceback (most recent call last):\n"
     "[rank0]:   File \"train.py\", line 212, in <module>\n"
     "[rank0]:     loss.backward()\n"
     "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate "
     "2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.21 GiB is "
     "free.\n"
     "[rank0]:[W1130 10:02:11.1 ProcessGroupNCCL.cpp:1250] Warning: WARNING: "
     "process group has NOT been destroyed before we destruct\n",
     "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"},
    {EXIT(1), TRI_REASON_OOM_DEVICE,
     "torch.cuda.OutOfMemoryError: HIP out of memory. Tried to allocate 64.00 "
     "MiB (GPU 3; 63.98 GiB total capacity)\n"
     "E1130 torch/distributed/elastic/multiprocessing/api.py:826] failed "
     "(exitcode: 1) local_rank: 3 (pid: 7)\n"
     "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
     "=====================================\ntrain.py FAILED\n", "HIP out"},
    {EXIT(1), TRI_REASON_OOM_DEVICE,
     "torch.OutOfMemoryError: XPU out of memory. Tried to allocate 9 GiB.\n"
     "RuntimeError: [1] is setting up NCCL communicator and retrieving "
     "ncclUniqueId from [0] via c10d key-value store by key '0', but "
     "store->get('0') got error: Connection reset by peer\n", "XPU"},
    {EXIT(1), TRI_REASON_OOM_DEVICE,
     "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory "
     "while trying to allocate 17179869184 bytes.\n", "17179869184"},
    {SIGABRT, TRI_REASON_OOM_DEVICE,
     "terminate called after throwing an instance of 'thrust::system_error'\n"
     "  what():  cudaErrorMemoryAllocation: out of memory\n",
     "was killed by signal 6 (Aborted)"},
    {EXIT(1), TRI_REASON_OOM_DEVICE,
     "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling "
     "`cublasCreate(handle)`\n", "CUBLAS"},
    {EXIT(1), TRI_REASON_OOM_DEVICE,
     "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when "
     "allocating tensor with shape[64,512,512]\n", "shape[64"},
    {EXIT(1), TRI_REASON_OOM_DEVICE,
     "node3:411:655 [1] enqueue.cc:98 NCCL WARN Cuda failure 'out of memory'\n"
     "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc\n",
     "Cuda failure"},

    /* ---- host memory ---- */
    {EXIT(1), TRI_REASON_OOM_HOST,
     "Traceback (most recent call last):\n  File \"t.py\", line 3, in f\n"
     "MemoryError\n", "ended with status 1: MemoryError"},
    {EXIT(1), TRI_REASON_OOM_HOST,
     "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 74.5 GiB "
     "for an array with shape (10000000000,) and data type float64\n",
     "74.5 GiB"},
    {SIGABRT, TRI_REASON_OOM_HOST,
     "terminate called after throwing an instance of 'std::bad_alloc'\n"
     "  what():  std::bad_alloc\n", "std::bad_alloc"},
    {EXIT(1), TRI_REASON_OOM_HOST,
     "RuntimeError: [enforce fail at alloc_cpu.cpp:83] err == 0. "
     "DefaultCPUAllocator: can't allocate memory: you tried to allocate "
     "4000000000000 bytes. Error code 12 (Cannot allocate memory)\n",
     "4000000000000"},
    {EXIT(1), TRI_REASON_OOM_HOST,
     "OSError: [Errno 12] Cannot allocate memory\n", "Errno 12"},
    {EXIT(1), TRI_REASON_OOM_HOST,
     "RuntimeError: DataLoader worker (pid 4711) is killed by signal: Killed. "
     "\n", "4711"},
    {EXIT(137), TRI_REASON_OOM_HOST,
     "slurmstepd: error: Detected 1 oom_kill event in StepId=77.0. Some of the "
     "step tasks have been OOM Killed.\nsrun: error: n1: task 0: Out Of "
     "Memory\n", "oom_kill event"},
    {EXIT(1), TRI_REASON_OOM_HOST,
     "srun: error: n1: task 3: Out Of Memory\n", "task 3"},
    {SIGSEGV, TRI_REASON_OOM_HOST,
     "OpenBLAS error: Memory allocation still failed after 10 retries, giving "
     "up.\n", "OpenBLAS"},
    {EXIT(2), TRI_REASON_OOM_HOST,
     "fatal error: runtime: out of memory\n", "runtime"},

    /* ---- what is not there ---- */
    {EXIT(1), TRI_REASON_IMPORT_ERROR,
     "Traceback (most recent call last):\n  File \"train.py\", line 1, in "
     "<module>\n    import torch\nModuleNotFoundError: No module named "
     "'torch'\n",
     "ended with status 1: ModuleNotFoundError: No module named 'torch'"},
    {EXIT(1), TRI_REASON_IMPORT_ERROR,
     "/usr/bin/python3: No module named torch.distributed.run\n", "run"},
    {EXIT(1), TRI_REASON_IMPORT_ERROR,
     "ImportError: libcudart.so.12: cannot open shared object file: No such "
     "file or directory\n", "libcudart"},
    {EXIT(127), TRI_REASON_IMPORT_ERROR,
     "./train: error while loading shared libraries: libmpi.so.40: cannot open "
     "shared object file: No such file or directory\n", "libmpi.so.40"},
    {EXIT(1), TRI_REASON_IMPORT_ERROR,
     "./train: /lib64/libc.so.6: version `GLIBC_2.38' not found (required by "
     "./train)\n", "GLIBC_2.38"},
    {EXIT(127), TRI_REASON_IMPORT_ERROR,
     "./train: symbol lookup error: ./train: undefined symbol: foo\n", "foo"},
    {EXIT(2), TRI_REASON_IMPORT_ERROR,
     "python3: can't open file '/home/me/trian.py': [Errno 2] No such file or "
     "directory\n", "trian.py"},
    {EXIT(127), TRI_REASON_IMPORT_ERROR, "sh: 1: torchrun: not found\n",
     "ended with status 127: a command was not found: sh: 1: torchrun"},
    {EXIT(126), TRI_REASON_IMPORT_ERROR, "",
     "ended with status 126: a command was not allowed to run"},
    {EXIT(1), TRI_REASON_IMPORT_ERROR,
     "Lmod has detected the following error: The following module(s) are "
     "unknown: \"cuda/13\"\n", "cuda/13"},
    {EXIT(1), TRI_REASON_IMPORT_ERROR,
     "ERROR: Unable to locate a modulefile for 'gcc/99'\n", "gcc/99"},

    {EXIT(132), TRI_REASON_IMPORT_ERROR,
     ROW "mpirun was unable to launch the specified application as it could "
     "not access\nor execute an executable:\n\nExecutable: /no/such/program\n"
     "Node: n1\n\nwhile attempting to start process rank 0.\n" ROW
     "2 total processes failed to start\n",
     "ended with status 132: mpirun was unable to launch the specified "
     "application as it could not access or execute an executable: "
     "Executable: /no/such/program Node: n1"},
    {EXIT(2), TRI_REASON_IMPORT_ERROR,
     "slurmstepd: error: execve(): train: No such file or directory\n"
     "srun: error: n1: task 0: Exited with exit code 2\n", "train: No such"},

    /* ---- finding each other ---- */
    {EXIT(1), TRI_REASON_RENDEZVOUS,
     "torch.distributed.DistNetworkError: The server socket has failed to "
     "listen on any local network address. port: 29500, useIpv6: false, code: "
     "-98, name: EADDRINUSE, message: address already in use\n", "29500"},
    {EXIT(1), TRI_REASON_RENDEZVOUS,
     "torch.distributed.DistNetworkError: The client socket has timed out "
     "after 60000ms while trying to connect to (n1, 20007).\n", "n1, 20007"},
    {EXIT(1), TRI_REASON_RENDEZVOUS,
     "[W socket.cpp:601] [c10d] The client socket has failed to connect to "
     "[n1]:20007 (errno: 111 - Connection refused).\n"
     "RuntimeError: Gloo connectFullMesh failed with [../third_party/gloo/gloo/"
     "transport/tcp/pair.cc:144] no error\n", "connectFullMesh"},
    {EXIT(1), TRI_REASON_RENDEZVOUS,
     "OSError: [Errno 98] Address already in use\n", "Errno 98"},
    {EXIT(1), TRI_REASON_RENDEZVOUS,
     "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/"
     "distributed/c10d/ProcessGroupNCCL.cpp:1275, unhandled system error\n",
     "NCCL error in"},
    {EXIT(1), TRI_REASON_RENDEZVOUS,
     "torch.distributed.DistStoreError: Timed out after 601 seconds waiting "
     "for clients. 1/2 clients joined.\n", "1/2 clients"},
    {EXIT(1), TRI_REASON_RENDEZVOUS,
     "ConnectionRefusedError: [Errno 111] Connection refused\n", "111"},
    {EXIT(1), TRI_REASON_RENDEZVOUS,
     "jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed "
     "out. Id: start\n", "Barrier"},

    /* ---- the loss ---- */
    {EXIT(1), TRI_REASON_NAN,
     "FloatingPointError: invalid value (nan) encountered in jit(step)\n",
     "jit(step)"},
    {EXIT(1), TRI_REASON_NAN,
     "RuntimeError: Unexpected result nan on rank 0 at iteration #7 invocation "
     "#1 (message='found NaN in local forward loss calculation')\n",
     "iteration #7"},
    {EXIT(1), TRI_REASON_NAN, "Loss is nan, stopping training\n", "stopping"},
    {EXIT(1), TRI_REASON_NAN,
     "Exception: Current loss scale already at minimum - cannot decrease scale "
     "anymore. Exiting run.\n", "at minimum"},

    /* ---- launchers, whose last lines tell nothing ---- */
    {EXIT(3), TRI_REASON_BAD_EXIT,
     "the corpus is empty\nthe corpus is empty\n" ROW
     "Primary job  terminated normally, but 1 process returned\n"
     "a non-zero exit code. Per user-direction, the job has been aborted.\n"
     ROW ROW
     "mpirun detected that one or more processes exited with non-zero status, "
     "thus causing\nthe job to be terminated. The first process to do so "
     "was:\n\n  Process name: [[1,1],0]\n  Exit code:    3\n" ROW,
     "ended with status 3: the corpus is empty"},
    {EXIT(1), TRI_REASON_BAD_EXIT,
     ROW "There are not enough slots available in the system to satisfy the "
     "20\nslots that were requested by the application:\n\n  train\n" ROW,
     ": There are not enough slots available in the system to satisfy the 20 "
     "slots that were requested by the application: train"},
    {EXIT(3), TRI_REASON_BAD_EXIT,
     ROW "Primary job  terminated normally, but 1 process returned\n" ROW,
     "Primary job  terminated normally, but 1 process returned"},
    {EXIT(1), TRI_REASON_BAD_EXIT,
     "mpirun: Error: unknown option \"--badoption\"\n"
     "Type 'mpirun --help' for usage.\n", "unknown option \"--badoption\""},
    {EXIT(1), TRI_REASON_BAD_EXIT,
     "the corpus is empty\n"
     "E1130 10:02:11 140 torch/distributed/elastic/multiprocessing/api.py:826] "
     "failed (exitcode: 3) local_rank: 0 (pid: 7) of binary: python3\n"
     "Traceback (most recent call last):\n"
     "  File \"/usr/bin/torchrun\", line 8, in <module>\n"
     "    sys.exit(main())\n"
     "    raise ChildFailedError(\n"
     "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
     "==============================\n"
     "train.py FAILED\n"
     "------------------------------\n"
     "Failures:\n  <NO_OTHER_FAILURES>\n"
     "------------------------------\n"
     "Root Cause (first observed failure):\n[0]:\n"
     "  exitcode  : 3 (pid: 7)\n"
     "  traceback : To enable traceback see: https://pytorch.org\n"
     "==============================\n", "status 1: the corpus is empty"},
    {EXIT(1), TRI_REASON_BAD_EXIT, "loss is fine\n...\n", "loss is fine"},

    /* ---- everything else ---- */
    {EXIT(1), TRI_REASON_BAD_EXIT, "", "ended with status 1"},
    {EXIT(3), TRI_REASON_BAD_EXIT, "trouble ahead\n\n",
     "ended with status 3: trouble ahead"},
    {SIGSEGV, TRI_REASON_BAD_EXIT, "",
     "was killed by signal 11 (Segmentation fault)"},
    {SIGBUS | 128, TRI_REASON_BAD_EXIT, "", "was killed by signal 7 (Bus"},
    {EXIT(139), TRI_REASON_BAD_EXIT, "Segmentation fault\n",
     "ended with status 139, as after signal 11 (Segmentation fault)"},
    {EXIT(245), TRI_REASON_BAD_EXIT, "", "as after signal 11"},
    /* handled ones do not count: the last line that tells decides */
    {EXIT(1), TRI_REASON_BAD_EXIT,
     "ImportError: no fused kernels, falling back\n"
     "Traceback (most recent call last):\n"
     "ValueError: heads must be a multiple of tp\n", "ValueError: heads"},
    {EXIT(1), TRI_REASON_BAD_EXIT,
     "[W socket.cpp:601] [c10d] The client socket has failed to connect to "
     "[n1]:20007 (errno: 111 - Connection refused).\n"
     "[rank1]: Traceback (most recent call last):\n"
     "[rank1]: KeyError: 'lr'\n", "KeyError: 'lr'"},
    {EXIT(1), TRI_REASON_BAD_EXIT,
     "Could not load dynamic library 'libnvinfer.so.7'; dlerror: "
     "libnvinfer.so.7: cannot open shared object file: No such file\n",
     "libnvinfer"},
    {EXIT(1), TRI_REASON_BAD_EXIT,
     "RESOURCE_EXHAUSTED: Received message larger than max (9 vs. 4)\n",
     "larger than max"},
    {EXIT(1), TRI_REASON_BAD_EXIT,
     "AssertionError: 7 is not divisible by 2\n"
     "subprocess.CalledProcessError: Command '['train']' returned non-zero "
     "exit status 1.\n", "AssertionError: 7"},
    {EXIT(1), TRI_REASON_BAD_EXIT, "progress 1\rprogress 2\r\x01\xffnoise",
     "\xffnoise"},
    {EXIT(1), TRI_REASON_BAD_EXIT,
     "srun: error: Unable to allocate resources: Requested node configuration "
     "is not available\n", "node configuration"},
    {0, TRI_REASON_NONE, "MemoryError\n", ""},
};
/* clang-format on */

static tri_reason judge(const tri_child_end *end, const char *text, char *buf)
{
    return tri_ending_class(end, text, strlen(text), buf, 240);
}

static void texts(void **state)
{
    char buf[240];
    int n = 0;

    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const sample *s = &samples[i];
        tri_child_end end = {.wait_status = s->wait_status,
                             .oom_kills_known = 1,
                             .rss = GIB,
                             .memory_limit = 64 * GIB};
        tri_reason reason = judge(&end, s->text, buf);

        if (reason != s->reason || !strstr(buf, s->said)) {
            print_error("%s as %s: %s\n", s->text, tri_reason_name(reason),
                        buf);
            n++;
        }
    }
    assert_int_equal(n, 0);
}

/* Who killed it is a matter of what is known of memory. */
static void kills(void **state)
{
    static const char torchrun[] =
            "E1130 api.py:826] failed (exitcode: -9) local_rank: 0 (pid: 7)\n"
            "torch.distributed.elastic.multiprocessing.errors."
            "ChildFailedError:\n  traceback : Signal 9 (SIGKILL) received by "
            "PID 7\n";
    tri_child_end end = {.wait_status = SIGKILL};
    char buf[240];

    (void)state;
    assert_int_equal(judge(&end, "", buf), TRI_REASON_OOM_HOST);
    assert_string_equal(buf, "was killed by signal 9 (Killed), likely for want "
                             "of host memory");
    end = (tri_child_end){SIGKILL, 0, 1, GIB, 64 * GIB};
    assert_int_equal(judge(&end, "last words\n", buf), TRI_REASON_KILLED);
    assert_string_equal(buf, "was killed by signal 9 (Killed) from outside, "
                             "and not for want of memory");
    end.rss = 62 * GIB;
    assert_int_equal(judge(&end, "", buf), TRI_REASON_OOM_HOST);
    assert_non_null(strstr(buf, "(it had 62.00 GiB of 64.00)"));
    end = (tri_child_end){SIGKILL, 1, 1, GIB, 64 * GIB};
    assert_int_equal(judge(&end, "", buf), TRI_REASON_OOM_HOST);
    assert_non_null(strstr(buf, "by the kernel for want of memory"));
    /* as a status: of a shell, of Python's launchers, of torchrun's text */
    end = (tri_child_end){EXIT(137), 0, 1, GIB, 64 * GIB};
    assert_int_equal(judge(&end, "Killed\n", buf), TRI_REASON_KILLED);
    end.wait_status = EXIT(247);
    assert_int_equal(judge(&end, "", buf), TRI_REASON_KILLED);
    end.wait_status = EXIT(1);
    assert_int_equal(judge(&end, torchrun, buf), TRI_REASON_KILLED);
    assert_int_equal(judge(&end,
                           "mpirun noticed that process rank 0 with PID 9 on "
                           "node n1 exited on signal 9 (Killed).\n",
                           buf),
                     TRI_REASON_KILLED);
    end.oom_kills = 1;
    assert_int_equal(judge(&end, torchrun, buf), TRI_REASON_OOM_HOST);
    /* the text says more than a kill can */
    end = (tri_child_end){SIGKILL, 0, 1, GIB, 64 * GIB};
    assert_int_equal(judge(&end, "CUDA out of memory\n", buf),
                     TRI_REASON_OOM_DEVICE);
}

static void requests(void **state)
{
    tri_child_end end = {SIGTERM, 0, 1, GIB, 64 * GIB};
    char buf[240];

    (void)state;
    assert_int_equal(judge(&end, "", buf), TRI_REASON_KILLED);
    assert_string_equal(buf, "was killed by signal 15 (Terminated) from "
                             "outside");
    end.wait_status = EXIT(143);
    assert_int_equal(judge(&end, "KeyboardInterrupt\n", buf),
                     TRI_REASON_KILLED);
    end.wait_status = SIGUSR2;
    assert_int_equal(judge(&end, "", buf), TRI_REASON_BAD_EXIT);
}

/* A process of the group was killed; this one failed in its wake. */
static void failures_in_the_wake(void **state)
{
    tri_child_end end = {EXIT(1), 1, 1, GIB, 64 * GIB};
    char buf[240];

    (void)state;
    assert_int_equal(judge(&end, "Connection closed by peer [10.0.0.1]\n", buf),
                     TRI_REASON_OOM_HOST);
    assert_int_equal(judge(&end, "", buf), TRI_REASON_OOM_HOST);
    assert_int_equal(judge(&end, "KeyError: 'lr'\n", buf), TRI_REASON_BAD_EXIT);
}

static void sentences_fit(void **state)
{
    char text[4000];
    char buf[64];
    tri_child_end end = {.wait_status = EXIT(1)};

    (void)state;
    for (size_t i = 0; i + 2 < sizeof text; i += 2) {
        memcpy(text + i, "\xc3\xa4", 2);
    }
    for (size_t n = 24; n < sizeof buf; n++) {
        size_t length;

        memset(buf, 'x', sizeof buf);
        tri_ending_class(&end, text, sizeof text - 2, buf, n);
        length = strnlen(buf, sizeof buf);
        assert_true(length < n);
        if (length > 21) { /* whole characters */
            assert_int_equal((length - 21) % 2, 0);
        }
    }
    assert_int_equal(tri_ending_class(&end, text, 0, buf, sizeof buf),
                     TRI_REASON_BAD_EXIT);
}

static void names(void **state)
{
    (void)state;
    assert_int_equal(tri_ending_named("oom-device"), TRI_REASON_OOM_DEVICE);
    assert_int_equal(tri_ending_named("nan"), TRI_REASON_NAN);
    assert_int_equal(tri_ending_named("hung"), TRI_REASON_HUNG);
    assert_int_equal(tri_ending_named("killed"), TRI_REASON_NONE);
    assert_int_equal(tri_ending_named("rank-lost"), TRI_REASON_NONE);
    assert_int_equal(tri_ending_named(""), TRI_REASON_NONE);
}

static void ports(void **state)
{
    static const char taken[] = "x\nOSError: [Errno 98] Address already in use";
    static const char other[] = "Connection refused\n";

    (void)state;
    assert_true(tri_ending_is_port_taken(taken, strlen(taken)));
    assert_false(tri_ending_is_port_taken(other, strlen(other)));
    assert_false(tri_ending_is_port_taken("", 0));
}

/* ---- the kernel's counts ------------------------------------------------ */

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void counts(void **state)
{
    char root[] = "/tmp/trireme-memory-XXXXXX";
    char path[256];
    char command[64];
    uint64_t n = 0;
    FILE *f;

    (void)state;
    assert_non_null(mkdtemp(root));
    snprintf(path, sizeof path, "%s/job", root);
    mkdir(path, 0700);
    write_file(path, "memory.events",
               "low 0\nhigh 0\nmax 5\noom 2\noom_kill 3\noom_group_kill 0\n");
    assert_true(tri_memory_kills_file("0::/job\n", root, path, sizeof path));
    f = fopen(path, "r");
    assert_non_null(f);
    assert_true(tri_memory_kills_of(f, &n));
    fclose(f);
    assert_int_equal(n, 3);
    /* version 1, in a container that is shown its own group as the root */
    assert_false(tri_memory_kills_file("4:memory:/elsewhere\n", root, path,
                                       sizeof path));
    snprintf(path, sizeof path, "%s/memory", root);
    mkdir(path, 0700);
    write_file(path, "memory.oom_control",
               "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n");
    assert_true(tri_memory_kills_file("4:memory:/elsewhere\n", root, path,
                                      sizeof path));
    assert_non_null(strstr(path, "/memory/memory.oom_control"));
    assert_false(
            tri_memory_kills_file("3:cpuset:/\n", root, path, sizeof path));
    assert_false(tri_memory_kills_file("nonsense", root, path, sizeof path));
    snprintf(command, sizeof command, "rm -r '%s'", root);
    assert_int_equal(system(command), 0);
}

/* ---- the kernel itself -------------------------------------------------- */

static char group[1200];

/* A control group of 64 MiB below this process's own; 0: not allowed. */
static int make_group(void)
{
    char line[1000];
    char path[1300];
    int is_made = 0;
    FILE *f = fopen("/proc/self/cgroup", "r");

    while (f && !is_made && fgets(line, sizeof line, f)) {
        const char *at = strstr(line, ":memory:");
        int is_v1 = at != NULL;

        line[strcspn(line, "\n")] = 0;
        at = is_v1 ? at + 8 : strncmp(line, "0::", 3) == 0 ? line + 3 : NULL;
        if (!at) {
            continue;
        }
        snprintf(group, sizeof group, "/sys/fs/cgroup%s%s/tri-test-%d",
                 is_v1 ? "/memory" : "", strcmp(at, "/") == 0 ? "" : at,
                 (int)getpid());
        is_made = mkdir(group, 0700) == 0;
        snprintf(path, sizeof path, "%s/%s", group,
                 is_v1 ? "memory.limit_in_bytes" : "memory.max");
        if (is_made && access(path, W_OK) != 0) {
            rmdir(group);
            is_made = 0;
        }
        if (is_made) {
            write_file(group, strrchr(path, '/') + 1, "67108864");
        }
    }
    if (f) {
        fclose(f);
    }
    return is_made;
}

/* In the group: a process that needs too much; what it is taken for. */
static int run_out_of_memory(void)
{
    char *argv[] = {(char[]){"/bin/sh"}, (char[]){"-c"},
                    (char[]){"x=$(head -c 400000000 /dev/zero | tr '\\0' a); "
                             ": $x"},
                    NULL};
    char *env[] = {(char[]){"PATH=/usr/bin:/bin"}, NULL};
    tri_child_spec spec = {.argv = argv, .env = env};
    tri_child_end end = {.wait_status = 0};
    const char *tail;
    tri_reason reason;
    char buf[240];
    size_t n;
    tri_child *c;

    write_file(group, "cgroup.procs", "0");
    if (tri_child_spawn(&spec, &c) != TRI_OK) {
        return 255;
    }
    for (int i = 0; i < 600 && !tri_child_ended(c, &end); i++) {
        tri_child_hear(c, 0.1, NULL, NULL);
    }
    tail = tri_child_stderr(c, &n);
    reason = tri_ending_class(&end, tail, n, buf, sizeof buf);
    print_message("it %s\n", buf);
    tri_child_destroy(c, 0);
    return (int)reason;
}

static void the_kernel_kills(void **state)
{
    int status;
    pid_t pid;

    (void)state;
    if (!make_group()) {
        print_message("no control group may be made here\n");
        skip();
    }
    pid = fork();
    if (pid == 0) {
        fflush(stdout);
        _exit(run_out_of_memory());
    }
    waitpid(pid, &status, 0);
    for (int i = 0; i < 100 && rmdir(group) != 0; i++) {
        usleep(10000);
    }
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), TRI_REASON_OOM_HOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(texts),
            cmocka_unit_test(kills),
            cmocka_unit_test(requests),
            cmocka_unit_test(names),
            cmocka_unit_test(sentences_fit),
            cmocka_unit_test(ports),
            cmocka_unit_test(counts),
            cmocka_unit_test(failures_in_the_wake),
            cmocka_unit_test(the_kernel_kills),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
