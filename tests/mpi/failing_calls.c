/* Preloaded: the n-th call of one kind that a process of ours makes fails, as on a disk that is full or without memory.
 *
 *   FAILING_CALLS="WHO CALL N HOW"   WHO: command, simulator, rank (the first one)
 *                                    CALL: write (also through stdio), ftruncate, rename, memfd_create, mmap, open, mkdir, fsync
 *                                    N: from 1; HOW: once, full (from then on), short (half of it is written, then full)
 *   FAILING_CALLS_MARK=FILE          is made when a call fails
 *
 * Only calls on files count, not those on pipes and sockets; in a rank only those that our library makes, since
 * MPI's and the program's are their own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum how { kOnce, kFull, kShort };
enum verdict { kPass, kFail, kHalf };

static char who[16], call[16], mark[512];
static long number;
static enum how how;
static int first_rank;
static atomic_long seen;

__attribute__((constructor)) static void read_settings(void) {
  char word[16] = "";
  const char *text = getenv("FAILING_CALLS"), *file = getenv("FAILING_CALLS_MARK"),
             *rank = getenv("PMI_RANK");
  if (rank == NULL) rank = getenv("OMPI_COMM_WORLD_RANK");
  if (text == NULL || file == NULL || sscanf(text, "%15s %15s %ld %15s", who, call, &number, word) != 4)
    return;
  how = strcmp(word, "short") == 0 ? kShort : strcmp(word, "full") == 0 ? kFull : kOnce;
  first_rank = rank != NULL && strcmp(rank, "0") == 0;
  snprintf(mark, sizeof mark, "%s", file);
}

static int is_meant(const void* caller) {
  Dl_info from = {0};
  if (strcmp(who, "simulator") == 0) return strcmp(program_invocation_short_name, "nplus1-simnode") == 0;
  if (strcmp(who, "command") == 0) return strcmp(program_invocation_short_name, "nplus1") == 0;
  return first_rank && dladdr(caller, &from) != 0 && strstr(from.dli_fname, "/libnplus1-") != NULL;
}

/// What becomes of a call of that name.
static enum verdict judge(const char* name, const void* caller) {
  const int before = errno;
  if (number == 0 || strcmp(call, name) != 0 || !is_meant(caller)) return kPass;
  const long n = ++seen;
  if (n < number || (n > number && how == kOnce)) return errno = before, kPass;
  const int file = (int)syscall(SYS_open, mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file >= 0) syscall(SYS_close, file);
  errno = before;
  return n == number && how == kShort ? kHalf : kFail;
}

static int is_file(int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

#define CALLER __builtin_return_address(0)
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void* data, size_t bytes) {
  const enum verdict verdict = is_file(fd) ? judge("write", CALLER) : kPass;
  if (verdict == kFail) return errno = ENOSPC, -1;
  return syscall(SYS_write, fd, data, verdict == kHalf && bytes > 1 ? bytes / 2 : bytes);
}

ssize_t pwrite(int fd, const void* data, size_t bytes, off_t offset) {
  const enum verdict verdict = is_file(fd) ? judge("write", CALLER) : kPass;
  if (verdict == kFail) return errno = ENOSPC, -1;
  return syscall(SYS_pwrite64, fd, data, verdict == kHalf && bytes > 1 ? bytes / 2 : bytes, offset);
}

ssize_t writev(int fd, const struct iovec* parts, int count) {
  if ((is_file(fd) ? judge("write", CALLER) : kPass) != kPass) return errno = ENOSPC, -1;
  return syscall(SYS_writev, fd, parts, count);
}

/// stdio writes by itself, at the latest here.
static int loses_what_it_holds(FILE* file, const void* caller) {
  if (__fpending(file) == 0 || !is_file(fileno(file)) || judge("write", caller) == kPass) return 0;
  __fpurge(file);
  return 1;
}

int fclose(FILE* file) {
  const int lost = loses_what_it_holds(file, CALLER), result = NEXT(fclose)(file);
  return lost ? (errno = ENOSPC, EOF) : result;
}

int fflush(FILE* file) {
  if (file != NULL && loses_what_it_holds(file, CALLER)) return errno = ENOSPC, EOF;
  return NEXT(fflush)(file);
}

int ftruncate(int fd, off_t bytes) {
  return judge("ftruncate", CALLER) != kPass ? (errno = ENOSPC, -1) : (int)syscall(SYS_ftruncate, fd, bytes);
}

int posix_fallocate(int fd, off_t begin, off_t bytes) {
  return judge("ftruncate", CALLER) != kPass ? ENOSPC : NEXT(posix_fallocate)(fd, begin, bytes);
}

int rename(const char* from, const char* to) {
  return judge("rename", CALLER) != kPass ? (errno = ENOSPC, -1) : (int)syscall(SYS_rename, from, to);
}

int fsync(int fd) {
  return judge("fsync", CALLER) != kPass ? (errno = ENOSPC, -1) : (int)syscall(SYS_fsync, fd);
}

int mkdir(const char* path, mode_t mode) {
  return judge("mkdir", CALLER) != kPass ? (errno = ENOSPC, -1) : (int)syscall(SYS_mkdir, path, mode);
}

int memfd_create(const char* name, unsigned flags) {
  return judge("memfd_create", CALLER) != kPass ? (errno = EMFILE, -1)
                                                : (int)syscall(SYS_memfd_create, name, flags);
}

void* mmap(void* at, size_t bytes, int access, int flags, int fd, off_t offset) {
  if (judge("mmap", CALLER) != kPass) return errno = ENOMEM, MAP_FAILED;
  return (void*)syscall(SYS_mmap, at, bytes, access, flags, fd, offset);
}

/// Files that are made: those that are there may be opened.
int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  if ((flags & O_CREAT) != 0 && judge("open", CALLER) != kPass) return errno = ENOSPC, -1;
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static FILE* open_stream(const char* path, const char* mode, const char* symbol, const void* caller) {
  if (strpbrk(mode, "wa") != NULL && judge("open", caller) != kPass) return errno = ENOSPC, NULL;
  return ((FILE * (*)(const char*, const char*)) dlsym(RTLD_NEXT, symbol))(path, mode);
}

FILE* fopen(const char* path, const char* mode) {
  return open_stream(path, mode, "fopen", CALLER);
}
FILE* fopen64(const char* path, const char* mode) {
  return open_stream(path, mode, "fopen64", CALLER);
}
