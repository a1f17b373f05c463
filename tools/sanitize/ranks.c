/* Preloaded, before the sanitizer's own library, into whatever a live run starts (tools/sanitize.sh): programs that know
 * nothing of sanitizers, MPI's launcher, shells. Defaults for these; what the environment says goes on top. They leak, and
 * so does the MPI library in them: leaks are looked for in what is ours alone and ends by itself. Ranks that crash as they
 * are to end as they do bare. The preloaded library comes before the sanitizer's in the loader's list, which is all that
 * the check of the order would find: nothing in it stands for a function of the sanitizer's. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

#define AS_BARE "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0"

const char* __asan_default_options(void);
const char* __asan_default_options(void) {
  return "detect_leaks=0:verify_asan_link_order=0:" AS_BARE;
}

const char* __tsan_default_options(void);
/* Of functions that others call, the sanitizer sees only what they hand to the C library, and not how they synchronise. */
const char* __tsan_default_options(void) {
  return "ignore_noninstrumented_modules=1:" AS_BARE;
}

/* Where nothing is sanitized, as in a shell, ThreadSanitizer's library begins with the first function that it stands for, but not
 * with setjmp, which is then a call of nothing: shells crash that begin with it. */
void __tsan_init(void) __attribute__((weak));
static void __attribute__((constructor)) begin(void) {
  if (__tsan_init != 0) __tsan_init();
}

/* ThreadSanitizer's library keeps a signal back until it knows that the thread may be interrupted, which it does not know of
 * waitpid: the command, which waits for mpirun there, would never pass on what it is told. It has no code of ours that is
 * sanitized, so its handlers are the system's, as bare. In ranks they stay the sanitizer's. */
typedef int Sigaction(int, const struct sigaction*, struct sigaction*);
int sigaction(int number, const struct sigaction* action, struct sigaction* old) {
  const int is_command = strcmp(program_invocation_short_name, "nplus1") == 0;
  Sigaction* const next =
      (Sigaction*)dlsym(is_command ? RTLD_DEFAULT : RTLD_NEXT, is_command ? "__sigaction" : "sigaction");
  return next(number, action, old);
}
