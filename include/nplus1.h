/* nplus1's public interface for C and C++ programs: tells the simulator what the program knows better.
 *
 * Header-only. Nothing needs to be linked: each function looks for nplus1's preloaded library when it is
 * first called. In a run without nplus1 all of them do nothing and cost a load and a branch. May be called
 * from any thread, at any time between MPI_Init and MPI_Finalize; nothing fails. (glibc before 2.34 needs
 * -ldl.)
 *
 *   nplus1_compute(s)       the calling thread's virtual clock advances by s seconds (negative: by nothing)
 *   nplus1_region_begin(n)  from here to the matching end, events belong to the region called n; regions nest
 *   nplus1_region_end(n)    must name the innermost open region
 *   nplus1_send_to_self(buffer, count, datatype)
 *                           records data that this rank keeps in a collective operation written by hand, so
 *                           that `nplus1 collectives` can prove it (arguments as of MPI_Send; include mpi.h
 *                           before)
 *   nplus1_active()         1 when the program runs under nplus1, else 0
 *
 * Fortran: the module in nplus1.f90, beside this file.
 */
#ifndef NPLUS1_H
#define NPLUS1_H

#include <dlfcn.h>

#ifdef __cplusplus
#define NPLUS1_NULL nullptr
extern "C" {
#else
#define NPLUS1_NULL ((void*)0)
#endif

/* The address of `name` in the preloaded library, looked up once per translation unit; null without nplus1.
 * The cache is 0 (not looked up yet), 1 (absent) or the address; racing threads store the same value. */
static inline void* nplus1_lookup(const char* name, void** cache) {
  void* found = __atomic_load_n(cache, __ATOMIC_RELAXED);
  if (!found) {
    found = dlsym(NPLUS1_NULL /* RTLD_DEFAULT */, name);
    if (!found) found = (void*)1;
    __atomic_store_n(cache, found, __ATOMIC_RELAXED);
  }
  return found == (void*)1 ? NPLUS1_NULL : found;
}

static inline void nplus1_compute(double seconds) {
  static void* cache;
  void (*call)(double) = NPLUS1_NULL;
  void* found = nplus1_lookup("nplus1_compute", &cache);
  __builtin_memcpy(&call, &found, sizeof call); /* ISO C has no cast from object to function pointer */
  if (call) call(seconds);
}

static inline void nplus1_region_begin(const char* name) {
  static void* cache;
  void (*call)(const char*) = NPLUS1_NULL;
  void* found = nplus1_lookup("nplus1_region_begin", &cache);
  __builtin_memcpy(&call, &found, sizeof call);
  if (call) call(name);
}

static inline void nplus1_region_end(const char* name) {
  static void* cache;
  void (*call)(const char*) = NPLUS1_NULL;
  void* found = nplus1_lookup("nplus1_region_end", &cache);
  __builtin_memcpy(&call, &found, sizeof call);
  if (call) call(name);
}

#ifdef MPI_VERSION
static inline void nplus1_send_to_self(const void* buffer, int count, MPI_Datatype datatype) {
  static void* cache;
  void (*call)(const void*, int, MPI_Datatype) = NPLUS1_NULL;
  void* found = nplus1_lookup("nplus1_send_to_self", &cache);
  __builtin_memcpy(&call, &found, sizeof call);
  if (call) call(buffer, count, datatype);
}
#endif

static inline int nplus1_active(void) {
  static void* cache;
  int (*call)(void) = NPLUS1_NULL;
  void* found = nplus1_lookup("nplus1_active", &cache);
  __builtin_memcpy(&call, &found, sizeof call);
  return call ? call() : 0;
}

#undef NPLUS1_NULL
#ifdef __cplusplus
}
#endif
#endif /* NPLUS1_H */
