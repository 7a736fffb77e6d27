/* Included before the source of an FMU, in which each exported function starts with FAULT… (`faulty_fmu.py`).

FMU_FAULT=<function> <n> <kind> in the environment: the fault of that function from its n-th call on; faults that
disturb the process happen once.
FMU_CALLS=<file>: the name of each function that is called is appended to this file. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <fenv.h>
#include <linux/seccomp.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static int fault_status, fault_count, fault_disturbed;
static jmp_buf fault_jump;

__attribute__((noinline)) static int fault_set_jump(void) { return setjmp(fault_jump); }
__attribute__((noinline, optimize("O0"))) static int fault_recurse(volatile char *above) {
    volatile char here[4096];
    here[0] = above[0] + 1;
    return fault_recurse(here) + here[0];
}
static void fault_ignore(int number) { }
static void *fault_thread(void *nothing) {
    usleep(1000);
    raise(SIGSEGV);
    return nothing;
}
static void fault_limit(int what, rlim_t most) {
    struct rlimit limit;
    getrlimit(what, &limit);
    limit.rlim_cur = most;
    setrlimit(what, &limit);
}

/* Disturbs the process in a way that lets the call continue; returns 0 for other kinds of faults. */
static int fault_disturbs(const char *kind) {
    pthread_t thread;
    sigset_t all;
    struct sigaction action = {.sa_handler = fault_ignore};
    stack_t no_stack = {.ss_flags = SS_DISABLE};
    cpu_set_t one;
    Dl_info own;
    struct itimerval often = {{0, 10000}, {0, 10000}};
    if (strcmp(kind, "longjmp") == 0) { fault_set_jump(); longjmp(fault_jump, 1); }
    else if (strcmp(kind, "closes_all") == 0) for (int i = 0; i < 256; i++) close(i);
    else if (strcmp(kind, "closes_files") == 0) for (int i = 3; i < 256; i++) close(i);
    else if (strcmp(kind, "closes_std") == 0) for (int i = 0; i < 3; i++) close(i);
    else if (strcmp(kind, "swaps_std") == 0) { int f = open("/dev/null", O_RDWR); dup2(f, 1); dup2(f, 2); }
    else if (strcmp(kind, "forks") == 0) fork();
    else if (strcmp(kind, "forks_exit") == 0) { if (fork() == 0) exit(0); }
    else if (strcmp(kind, "forks__exit") == 0) { if (fork() == 0) _exit(0); }
    else if (strcmp(kind, "forks_crash") == 0) { if (fork() == 0) abort(); }
    else if (strcmp(kind, "waits") == 0) { if (fork() == 0) _exit(3); while (wait(NULL) > 0) { } }
    else if (strcmp(kind, "system") == 0) { if (system("exit 3") != 3 << 8) fault_status = 0; }
    else if (strcmp(kind, "execs") == 0) execlp("true", "true", NULL);
    else if (strcmp(kind, "sigint") == 0) raise(SIGINT);
    else if (strcmp(kind, "sigterm") == 0) raise(SIGTERM);
    else if (strcmp(kind, "sighup") == 0) raise(SIGHUP);
    else if (strcmp(kind, "sigpipe") == 0) raise(SIGPIPE);
    else if (strcmp(kind, "sigusr1") == 0) raise(SIGUSR1);
    else if (strcmp(kind, "sigchld") == 0) raise(SIGCHLD);
    else if (strcmp(kind, "sigkill") == 0) kill(getpid(), SIGKILL);
    else if (strcmp(kind, "alarm") == 0) ualarm(2000, 0);
    else if (strcmp(kind, "timer") == 0) { sigaction(SIGALRM, &action, NULL); setitimer(ITIMER_REAL, &often, NULL); }
    else if (strcmp(kind, "blocks") == 0) { sigfillset(&all); sigprocmask(SIG_BLOCK, &all, NULL); }
    else if (strcmp(kind, "ignores") == 0) for (int i = 1; i < 32; i++) signal(i, SIG_IGN);
    else if (strcmp(kind, "no_children") == 0) signal(SIGCHLD, SIG_IGN);
    else if (strcmp(kind, "chdir") == 0) { if (chdir("/") != 0) fault_status = 0; }
    else if (strcmp(kind, "locale") == 0) setlocale(LC_ALL, getenv("FMU_LOCALE"));
    else if (strcmp(kind, "traps") == 0) feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
    else if (strcmp(kind, "rounds") == 0) fesetround(FE_DOWNWARD);
    else if (strcmp(kind, "recurses") == 0) fault_recurse((volatile char *)kind);
    else if (strcmp(kind, "heap") == 0) { char *p = malloc(24); memset(p, 'x', 4096); free(p); free(malloc(100)); }
    else if (strcmp(kind, "frees_twice") == 0) { void *volatile p = malloc(2000); free(p); free(p); }
    else if (strcmp(kind, "writes_code") == 0) *(volatile char *)(void *)fault_ignore = 0;
    else if (strcmp(kind, "divides") == 0) { volatile int zero = 0; fault_status = 1 / zero; }
    else if (strcmp(kind, "umask") == 0) umask(0777);
    else if (strcmp(kind, "no_space") == 0) fault_limit(RLIMIT_FSIZE, 0);
    else if (strcmp(kind, "no_files") == 0) fault_limit(RLIMIT_NOFILE, 3);
    else if (strcmp(kind, "no_memory") == 0) fault_limit(RLIMIT_AS, 1 << 20);
    else if (strcmp(kind, "no_time") == 0) fault_limit(RLIMIT_CPU, 0);
    else if (strcmp(kind, "clears") == 0) clearenv();
    else if (strcmp(kind, "ends_thread") == 0) pthread_exit(NULL);
    else if (strcmp(kind, "thread") == 0) pthread_create(&thread, NULL, fault_thread, NULL);
    else if (strcmp(kind, "prints") == 0) for (int i = 0; i < 100000; i++) printf("%c]0;title%c[2J", 27, 27);
    else if (strcmp(kind, "group") == 0) setpgid(0, 0);
    else if (strcmp(kind, "session") == 0) setsid();
    else if (strcmp(kind, "nonblocking") == 0) for (int i = 1; i < 3; i++) fcntl(i, F_SETFL, O_NONBLOCK);
    else if (strcmp(kind, "nice") == 0) { if (nice(19) == -1) fault_status = 0; }
    else if (strcmp(kind, "one_core") == 0) { CPU_ZERO(&one); CPU_SET(0, &one); sched_setaffinity(0, sizeof one, &one); }
    else if (strcmp(kind, "no_stack") == 0) sigaltstack(&no_stack, NULL);
    else if (strcmp(kind, "flags") == 0) feraiseexcept(FE_ALL_EXCEPT);
    else if (strcmp(kind, "unlinks") == 0) { if (dladdr((void *)fault_ignore, &own)) unlink(own.dli_fname); }
    else if (strcmp(kind, "gone_folder") == 0) {
        char place[] = "/tmp/fault-XXXXXX";
        if (mkdtemp(place) == NULL || chdir(place) != 0 || rmdir(place) != 0) fault_status = 0;
    }
    else if (strcmp(kind, "undumpable") == 0) prctl(PR_SET_DUMPABLE, 0);
    else if (strcmp(kind, "no_death_signal") == 0) prctl(PR_SET_PDEATHSIG, 0);
    else if (strcmp(kind, "daemon") == 0) { if (fork() != 0) _exit(0); }
    else if (strcmp(kind, "seccomp") == 0) prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    else if (strcmp(kind, "cancels") == 0) { pthread_cancel(pthread_self()); pthread_testcancel(); }
    else if (strcmp(kind, "stack") == 0) fault_limit(RLIMIT_STACK, 0);
    else return 0;
    return 1;
}

static int fault_in(const char *name) {
    const char *told = getenv("FMU_FAULT"), *file = getenv("FMU_CALLS");
    char where[64], kind[16];
    int when;
    if (file != NULL) {
        FILE *calls = fopen(file, "a");
        fprintf(calls, "%s\n", name);
        fclose(calls);
    }
    if (told == NULL || sscanf(told, "%63s %d %15s", where, &when, kind) != 3) return 0;
    if (strcmp(where, name) != 0 || ++fault_count < when) return 0;
    if (strcmp(kind, "exit") == 0) exit(0);
    if (strcmp(kind, "_exit") == 0) _exit(0);
    if (strcmp(kind, "crash") == 0) raise(SIGSEGV);
    if (strcmp(kind, "abort") == 0) abort();
    if (strcmp(kind, "loop") == 0) for (;;) { }
    if (fault_count > when && fault_disturbed) return 0;
    if ((fault_disturbed = fault_disturbs(kind)) != 0) return 0;
    fault_status = strcmp(kind, "fatal") == 0 ? 4 : 3;
    return 1;
}
#define FAULT do { if (fault_in(__func__)) return fault_status; } while (0);
#define FAULT_MADE do { if (fault_in(__func__)) return 0; } while (0);
#define FAULT_FREED do { if (fault_in(__func__)) return; } while (0);
