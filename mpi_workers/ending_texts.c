/*
 * Texts that tell a class of failure.
 */
#include "mpi_workers/ending_texts.h"

#include <stddef.h>

/* clang-format off */
#define DEVICE(text)         {text, TRI_REASON_OOM_DEVICE, NULL}
#define HOST(text)           {text, TRI_REASON_OOM_HOST, NULL}
#define KILLED(text)         {text, TRI_REASON_KILLED, NULL}
#define IMPORT(text)         {text, TRI_REASON_IMPORT_ERROR, NULL}
#define RENDEZVOUS(text)     {text, TRI_REASON_RENDEZVOUS, NULL}
#define NOT_A_NUMBER(text)   {text, TRI_REASON_NAN, NULL}
#define NOTHING(text)        {text, TRI_REASON_NONE, NULL}

const tri_ending_text tri_ending_memory[] = {
    /* PyTorch, by its devices */
    DEVICE("cuda out of memory"),
    DEVICE("hip out of memory"),
    DEVICE("xpu out of memory"),
    DEVICE("npu out of memory"),
    DEVICE("mps backend out of memory"),
    DEVICE("torch.cuda.outofmemoryerror"),
    DEVICE("torch.outofmemoryerror"),
    DEVICE("cuda error: out of memory"),
    DEVICE("cuda driver error: out of memory"),
    DEVICE("hip error: out of memory"),
    /* the runtimes, and libraries over them */
    DEVICE("cudaerrormemoryallocation"),
    DEVICE("cuda_error_out_of_memory"),
    DEVICE("cumemalloc failed"),
    DEVICE("cuda failure 'out of memory'"),        /* NCCL */
    DEVICE("cuda failure 2 'out of memory'"),
    DEVICE("cublas_status_alloc_failed"),
    DEVICE("cudnn_status_alloc_failed"),
    DEVICE("hiperroroutofmemory"),
    DEVICE("hip_error_out_of_memory"),
    DEVICE("out_of_device_memory"),                /* Level Zero, SYCL */
    DEVICE("cupy.cuda.memory.outofmemoryerror"),
    /* JAX, TensorFlow */
    {"resource_exhausted", TRI_REASON_OOM_DEVICE, "larger than max"},
    DEVICE("resourceexhaustederror"),
    DEVICE("oom when allocating tensor"),

    HOST("java.lang.outofmemoryerror"),
    HOST("std::bad_alloc"),
    HOST("cannot allocate memory"),
    HOST("can't allocate memory"),                 /* PyTorch's allocator */
    HOST("not enough memory: you tried to allocate"),
    {"unable to allocate", TRI_REASON_OOM_HOST, "resources"}, /* NumPy; srun */
    HOST("memoryerror"),
    HOST("memory allocation still failed"),        /* OpenBLAS */
    HOST("virtual memory exhausted"),
    HOST("runtime: out of memory"),                /* Go */
    {"memory allocation of ", TRI_REASON_OOM_HOST, "succeeded"}, /* Rust */
    HOST("allocation would exceed memory limit"),  /* Fortran */
    HOST("is killed by signal: killed"),           /* PyTorch's DataLoader */
    HOST("insufficient shared memory (shm)"),
    HOST("oom-kill event"),                        /* Slurm */
    HOST("oom_kill event"),
    HOST("oom killed"),
    HOST(": out of memory"),
    {NULL, TRI_REASON_NONE, NULL}
};

const tri_ending_text tri_ending_killed[] = {
    KILLED("signal 9 (sigkill)"),                  /* torchrun */
    KILLED("exitcode: -9 "),
    KILLED("exitcode  : -9 "),
    KILLED("signals.sigkill: 9"),                  /* Python's subprocess */
    KILLED("exited on signal 9"),                  /* mpirun */
    KILLED("exit on signal 9"),
    KILLED("return code = -9"),                    /* DeepSpeed */
    {NULL, TRI_REASON_NONE, NULL}
};

const tri_ending_text tri_ending_aftermath[] = {
    NOTHING("primary job  terminated normally"),   /* mpirun, prterun */
    NOTHING("a non-zero exit code. per user-direction"),
    NOTHING("detected that one or more processes exited with"),
    NOTHING("noticed that process rank "),
    NOTHING("total processes killed"),
    NOTHING("total processes failed to start"),
    NOTHING("mpi_abort was invoked on rank "),
    NOTHING(" --help' for usage"),
    NOTHING("root cause (first observed failure)"), /* torchrun */
    NOTHING("other failures:"),
    {".py failed", TRI_REASON_NONE, ":"},
    NOTHING("<no_other_failures>"),
    NOTHING("failed (exitcode: "),
    NOTHING("closing signal sigterm"),
    NOTHING("to enable traceback see"),
    NOTHING("childfailederror"),
    NOTHING("calledprocesserror"),
    NOTHING("exits with return code = "),          /* deepspeed */
    NOTHING("killing subprocess "),
    NOTHING("exited with exit code "),             /* srun */
    NOTHING("srun: job step aborted"),
    NOTHING("srun: terminating "),
    NOTHING("slurmstepd: error: *** step "),
    NOTHING("bad termination of one of your"),     /* mpiexec.hydra */
    {NULL, TRI_REASON_NONE, NULL}
};

const tri_ending_text tri_ending_port[] = {
    RENDEZVOUS("address already in use"),
    RENDEZVOUS("eaddrinuse"),
    {NULL, TRI_REASON_NONE, NULL}
};

const tri_ending_text tri_ending_others[] = {
    /* lines of launchers, which only say that somebody else failed */
    NOTHING("childfailederror"),
    NOTHING("calledprocesserror"),
    NOTHING("processexitedexception"),
    NOTHING("processraisedexception"),
    NOTHING("systemexit"),

    /* what is not there, and will not be at the next attempt */
    IMPORT("modulenotfounderror"),
    IMPORT("importerror"),
    IMPORT("no module named "),
    {"cannot open shared object file", TRI_REASON_IMPORT_ERROR,
     "could not load dynamic library"},            /* TensorFlow only warns */
    IMPORT("symbol lookup error"),
    IMPORT("undefined symbol: "),
    IMPORT("' not found (required by "),           /* version `GLIBC_2.38' */
    IMPORT("exec format error"),
    IMPORT("can't open file '"),                   /* python3 nowhere.py */
    IMPORT("cannot execute"),
    IMPORT("command not found"),
    IMPORT("unable to launch the specified application"), /* mpirun */
    IMPORT("unable to find the specified executable"),
    IMPORT("error: execve(): "),                   /* srun */
    IMPORT("execvp error on file "),               /* mpiexec.hydra */
    IMPORT("can't locate "),                       /* Perl */
    IMPORT("there is no package called"),          /* R */
    IMPORT("not found in current path"),           /* Julia */
    IMPORT("unable to locate a modulefile"),       /* Environment Modules */
    IMPORT("module(s) are unknown"),               /* Lmod */
    IMPORT("environmentnamenotfound"),             /* conda */
    IMPORT("run 'conda init' before"),

    /* the processes did not find each other */
    RENDEZVOUS("address already in use"),
    RENDEZVOUS("eaddrinuse"),
    RENDEZVOUS("disterror"),
    RENDEZVOUS("distnetworkerror"),
    RENDEZVOUS("diststoreerror"),
    RENDEZVOUS("rendezvoustimeouterror"),
    RENDEZVOUS("rendezvousconnectionerror"),
    RENDEZVOUS("rendezvousclosederror"),
    RENDEZVOUS("connection refused"),
    RENDEZVOUS("connectionrefusederror"),
    RENDEZVOUS("client socket has timed out"),
    RENDEZVOUS("client socket has failed to connect"),
    RENDEZVOUS("timed out waiting for clients"),
    RENDEZVOUS("server socket has failed to"),
    RENDEZVOUS("ncclcomminitrank"),
    RENDEZVOUS("ncclgetuniqueid"),
    RENDEZVOUS("nccluniqueid"),
    RENDEZVOUS("ncclsystemerror"),
    RENDEZVOUS("ncclremoteerror"),
    RENDEZVOUS("nccl error"),
    RENDEZVOUS("bootstrap : no socket interface found"),
    RENDEZVOUS("connectfullmesh failed"),          /* gloo */
    RENDEZVOUS("gloo/transport"),
    RENDEZVOUS("connection closed by peer"),
    RENDEZVOUS("connection reset by peer"),
    RENDEZVOUS("no route to host"),
    RENDEZVOUS("name or service not known"),
    RENDEZVOUS("temporary failure in name resolution"),
    RENDEZVOUS("deadline_exceeded: barrier"),      /* JAX */
    RENDEZVOUS("failed to connect to distributed service"),
    RENDEZVOUS("coordination service"),
    RENDEZVOUS("dist_init_required"),

    /* the loss, where the program says so and not the metrics */
    NOT_A_NUMBER("floatingpointerror"),
    NOT_A_NUMBER("found nan in "),                 /* Megatron-LM */
    NOT_A_NUMBER("unexpected result nan"),
    NOT_A_NUMBER("returned nan values in its"),    /* anomaly detection */
    NOT_A_NUMBER("loss is nan"),
    NOT_A_NUMBER("is nan or inf"),                 /* Lightning */
    NOT_A_NUMBER("loss scale already at minimum"), /* DeepSpeed */
    {NULL, TRI_REASON_NONE, NULL}
};
