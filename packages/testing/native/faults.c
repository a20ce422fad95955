/*
 * A library to be preloaded: makes chosen system calls of a process fail, come up short or take long.
 *
 *   FAULTS_RULES   one rule a line, fields separated by TAB:
 *                    kind=open|read|write|close|sync|syncfs
 *                    path=PREFIX  has=TEXT             which files: both must hold (either may be left out)
 *                    nth=N                             only the N-th such call (from 1)
 *                    from=N                            that one and all later ones
 *                    errno=E                           fails with E
 *                    short=K                           at most K bytes a call (read, write)
 *                    room=N                            N bytes in all, then errno (write)
 *                    delay=US                          sleeps first, microseconds
 *   FAULTS_COUNTS  a file; three 64-bit counters a rule (matching calls, faults made, bytes), mapped shared, so that they count
 *                  over all processes and threads of a run and survive a kill.
 *
 * Node opens through open64, writes through write / pwrite64 / writev / pwritev64 and closes through
 * syscall(SYS_close, fd), so `syscall` is taken over too.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define MAX_RULES 32
#define MAX_FDS 65536

enum kind { K_OPEN, K_READ, K_WRITE, K_CLOSE, K_SYNC, K_SYNCFS, K_NONE };

struct rule {
  enum kind kind;
  const char *path;
  const char *has;
  uint64_t nth;
  uint64_t from;
  uint64_t short_by;
  uint64_t room;
  uint64_t delay;
  int error;
};

struct counter {
  uint64_t calls;
  uint64_t faults;
  uint64_t bytes; /* passed under a rule with room */
};

static struct rule rules[MAX_RULES];
static int rule_count;
static struct counter own_counters[MAX_RULES];
static struct counter *counters = own_counters;
/* Bit i: rule i's path conditions hold for this descriptor. */
static uint32_t matches[MAX_FDS];

static int (*real_openat)(int, const char *, int, ...);
static ssize_t (*real_read)(int, void *, size_t);
static ssize_t (*real_pread)(int, void *, size_t, off_t);
static ssize_t (*real_readv)(int, const struct iovec *, int);
static ssize_t (*real_preadv)(int, const struct iovec *, int, off_t);
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_writev)(int, const struct iovec *, int);
static ssize_t (*real_pwritev)(int, const struct iovec *, int, off_t);
static int (*real_close)(int);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_syncfs)(int);
static long (*real_syscall)(long, ...);

static pthread_once_t once = PTHREAD_ONCE_INIT;

static enum kind kind_of(const char *name) {
  static const char *const names[] = {"open", "read", "write", "close", "sync", "syncfs"};
  for (int i = 0; i < K_NONE; i++)
    if (!strcmp(name, names[i])) return (enum kind)i;
  return K_NONE;
}

static void set_field(struct rule *rule, char *field) {
  char *value = strchr(field, '=');
  if (!value) return;
  *value++ = 0;
  uint64_t number = strtoull(value, NULL, 10);
  if (!strcmp(field, "kind")) rule->kind = kind_of(value);
  else if (!strcmp(field, "path")) rule->path = value;
  else if (!strcmp(field, "has")) rule->has = value;
  else if (!strcmp(field, "nth")) rule->nth = number;
  else if (!strcmp(field, "from")) rule->from = number;
  else if (!strcmp(field, "errno")) rule->error = (int)number;
  else if (!strcmp(field, "short")) rule->short_by = number;
  else if (!strcmp(field, "room")) rule->room = number + 1;
  else if (!strcmp(field, "delay")) rule->delay = number;
}

static void map_counters(const char *path) {
  int fd = real_openat(AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return;
  if (ftruncate(fd, sizeof own_counters) == 0) {
    void *map = mmap(NULL, sizeof own_counters, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map != MAP_FAILED) counters = map;
  }
  real_close(fd);
}

static void load(void) {
#define REAL(field, name) *(void **)(&field) = dlsym(RTLD_NEXT, name)
  REAL(real_openat, "openat");
  REAL(real_read, "read");
  REAL(real_pread, "pread64");
  REAL(real_readv, "readv");
  REAL(real_preadv, "preadv64");
  REAL(real_write, "write");
  REAL(real_pwrite, "pwrite64");
  REAL(real_writev, "writev");
  REAL(real_pwritev, "pwritev64");
  REAL(real_close, "close");
  REAL(real_fsync, "fsync");
  REAL(real_fdatasync, "fdatasync");
  REAL(real_syncfs, "syncfs");
  REAL(real_syscall, "syscall");
  const char *spec = getenv("FAULTS_RULES");
  if (!spec) return;
  char *text = strdup(spec), *line_state;
  for (char *line = strtok_r(text, "\n", &line_state); line && rule_count < MAX_RULES; line = strtok_r(NULL, "\n", &line_state)) {
    struct rule *rule = &rules[rule_count++];
    rule->kind = K_NONE;
    char *field_state;
    for (char *field = strtok_r(line, "\t", &field_state); field; field = strtok_r(NULL, "\t", &field_state)) set_field(rule, field);
  }
  const char *counts = getenv("FAULTS_COUNTS");
  if (counts) map_counters(counts);
}

#define READY() pthread_once(&once, load)

/* The rules whose path conditions hold for a name as it was given to open. */
static uint32_t matching(int dir, const char *name) {
  if (!rule_count || !name) return 0;
  char full[PATH_MAX * 2];
  if (name[0] != '/') {
    char base[PATH_MAX], link[64];
    ssize_t length;
    if (dir == AT_FDCWD) {
      if (!getcwd(base, sizeof base)) return 0;
    } else {
      snprintf(link, sizeof link, "/proc/self/fd/%d", dir);
      length = readlink(link, base, sizeof base - 1);
      if (length < 0) return 0;
      base[length] = 0;
    }
    snprintf(full, sizeof full, "%s/%s", base, name);
    name = full;
  }
  uint32_t found = 0;
  for (int i = 0; i < rule_count; i++) {
    const struct rule *rule = &rules[i];
    if (rule->path && strncmp(name, rule->path, strlen(rule->path))) continue;
    if (rule->has && !strstr(name, rule->has)) continue;
    found |= 1u << i;
  }
  return found;
}

static uint32_t matching_fd(int fd) { return fd >= 0 && fd < MAX_FDS ? matches[fd] : 0; }

/* Counts one call of a kind; sleeps; returns the error to fail with, or 0, and lowers *length to what is let through. */
static int judge(enum kind kind, uint32_t found, size_t *length) {
  for (int i = 0; found && i < rule_count; i++) {
    const struct rule *rule = &rules[i];
    if (!(found & (1u << i)) || rule->kind != kind) continue;
    uint64_t call = __atomic_add_fetch(&counters[i].calls, 1, __ATOMIC_RELAXED);
    if (rule->nth && call != rule->nth) continue;
    if (rule->from && call < rule->from) continue;
    if (rule->room) {
      uint64_t room = rule->room - 1, had = __atomic_fetch_add(&counters[i].bytes, length ? *length : 0, __ATOMIC_RELAXED);
      if (had < room) {
        if (length && had + *length > room) *length = room - had;
        continue;
      }
    }
    __atomic_add_fetch(&counters[i].faults, 1, __ATOMIC_RELAXED);
    if (rule->delay) {
      struct timespec pause = {(time_t)(rule->delay / 1000000), (long)(rule->delay % 1000000) * 1000};
      nanosleep(&pause, NULL);
    }
    if (rule->short_by && length && *length > rule->short_by) *length = rule->short_by;
    if (rule->error) return rule->error;
  }
  return 0;
}

static int open_at(int dir, const char *name, int flags, mode_t mode) {
  READY();
  uint32_t found = matching(dir, name);
  int error = judge(K_OPEN, found, NULL);
  if (error) {
    errno = error;
    return -1;
  }
  int fd = real_openat(dir, name, flags, mode);
  if (fd >= 0 && fd < MAX_FDS) matches[fd] = found;
  return fd;
}

#define MODE_ARGUMENT(flags, mode)                                   \
  mode_t mode = 0;                                                   \
  if ((flags) & (O_CREAT | __O_TMPFILE)) {                           \
    va_list rest;                                                    \
    va_start(rest, flags);                                           \
    mode = va_arg(rest, mode_t);                                     \
    va_end(rest);                                                    \
  }

int open(const char *name, int flags, ...) { MODE_ARGUMENT(flags, mode) return open_at(AT_FDCWD, name, flags, mode); }
int open64(const char *name, int flags, ...) { MODE_ARGUMENT(flags, mode) return open_at(AT_FDCWD, name, flags, mode); }
int openat(int dir, const char *name, int flags, ...) { MODE_ARGUMENT(flags, mode) return open_at(dir, name, flags, mode); }
int openat64(int dir, const char *name, int flags, ...) { MODE_ARGUMENT(flags, mode) return open_at(dir, name, flags, mode); }

/* What the conditions of one transfer let through: 1 = go on with *length, 0 = errno is set. */
static int admit(enum kind kind, int fd, size_t *length) {
  READY();
  int error = judge(kind, matching_fd(fd), length);
  if (error) errno = error;
  return !error;
}

static size_t total(const struct iovec *parts, int count) {
  size_t sum = 0;
  for (int i = 0; i < count; i++) sum += parts[i].iov_len;
  return sum;
}

/* The vector cut to `length` bytes, in `out` (which has room for IOV_MAX); returns the number of parts. */
static int cut(const struct iovec *parts, int count, size_t length, struct iovec *out) {
  int used_parts = 0;
  for (int i = 0; i < count && i < IOV_MAX; i++) {
    out[used_parts] = parts[i];
    if (out[used_parts].iov_len > length) out[used_parts].iov_len = length;
    length -= out[used_parts].iov_len;
    used_parts++;
    if (!length) break;
  }
  return used_parts;
}

ssize_t read(int fd, void *to, size_t length) { return admit(K_READ, fd, &length) ? real_read(fd, to, length) : -1; }
ssize_t pread64(int fd, void *to, size_t length, off_t at) { return admit(K_READ, fd, &length) ? real_pread(fd, to, length, at) : -1; }
ssize_t pread(int fd, void *to, size_t length, off_t at) { return pread64(fd, to, length, at); }
ssize_t write(int fd, const void *from, size_t length) { return admit(K_WRITE, fd, &length) ? real_write(fd, from, length) : -1; }
ssize_t pwrite64(int fd, const void *from, size_t length, off_t at) { return admit(K_WRITE, fd, &length) ? real_pwrite(fd, from, length, at) : -1; }
ssize_t pwrite(int fd, const void *from, size_t length, off_t at) { return pwrite64(fd, from, length, at); }

#define VECTOR(kind, call)                                  \
  struct iovec out[IOV_MAX];                                \
  size_t length = total(parts, count);                      \
  if (!admit(kind, fd, &length)) return -1;                 \
  int n = cut(parts, count, length, out);                   \
  return call;

ssize_t readv(int fd, const struct iovec *parts, int count) { VECTOR(K_READ, real_readv(fd, out, n)) }
ssize_t preadv64(int fd, const struct iovec *parts, int count, off_t at) { VECTOR(K_READ, real_preadv(fd, out, n, at)) }
ssize_t preadv(int fd, const struct iovec *parts, int count, off_t at) { return preadv64(fd, parts, count, at); }
ssize_t writev(int fd, const struct iovec *parts, int count) { VECTOR(K_WRITE, real_writev(fd, out, n)) }
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off_t at) { VECTOR(K_WRITE, real_pwritev(fd, out, n, at)) }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) { return pwritev64(fd, parts, count, at); }

/* The descriptor is always really closed, as Linux does when close reports an error. */
static int close_fd(int fd) {
  READY();
  uint32_t found = matching_fd(fd);
  int error = judge(K_CLOSE, found, NULL);
  if (found) matches[fd] = 0;
  int result = real_close(fd);
  if (error) {
    errno = error;
    return -1;
  }
  return result;
}

int close(int fd) { return close_fd(fd); }

#define SYNC(name, kind, real)                                    \
  int name(int fd) {                                        \
    READY();                                                \
    int error = judge(kind, matching_fd(fd), NULL);       \
    if (error) {                                            \
      errno = error;                                        \
      return -1;                                            \
    }                                                       \
    return real(fd);                                        \
  }
SYNC(fsync, K_SYNC, real_fsync)
SYNC(fdatasync, K_SYNC, real_fdatasync)
SYNC(syncfs, K_SYNCFS, real_syncfs)

long syscall(long number, ...) {
  READY();
  va_list rest;
  va_start(rest, number);
  long a = va_arg(rest, long), b = va_arg(rest, long), c = va_arg(rest, long);
  long d = va_arg(rest, long), e = va_arg(rest, long), f = va_arg(rest, long);
  va_end(rest);
  if (number == SYS_close) return close_fd((int)a);
  return real_syscall(number, a, b, c, d, e, f);
}
