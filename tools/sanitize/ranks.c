/* Preloaded, before the sanitizer's own library, into whatever a live run starts (tools/sanitize.sh): programs that know
 * nothing of sanitizers, MPI's launcher, shells. Defaults for these; what the environment says goes on top. They leak, and
 * so does the MPI library in them: leaks are looked for in what is ours alone and ends by itself. Ranks that crash as they
 * are to end as they do bare. The preloaded library comes before the sanitizer's in the loader's list, which is all that
 * the check of the order would find: nothing in it stands for a function of the sanitizer's. */
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
