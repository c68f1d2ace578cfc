// Runs a program and injects one fault into its system calls that write or change files:
//
//     inject LOG FAULT N PROGRAM ARGUMENT...
//
// FAULT acts on the N-th of these calls:
//
//     NONE         nothing: the calls are counted
//     ENOSPC, EIO, EINTR   the call fails with this error
//     FULL         this call and all later ones that write bytes fail with ENOSPC: a full disk
//     SHORT        the call writes half of its bytes
//     TERM, KILL   the thread gets SIGTERM or SIGKILL before the call
//
// LOG gets one line for each call, "call NUMBER NAME BYTES PATH" (BYTES: 0 if it writes none),
// "fault ..." for a faulty one, "left NAME" for each child that is left when the program has ended,
// and last "exited STATUS" or "killed SIGNAL".
//
// Linux asks this process about each call before it runs it (seccomp_unotify(2)). A preloaded
// library would not see the calls that glibc makes by itself, for example those of fwrite() and
// fclose().
//
// Counted are the calls of the program, with all of its threads, but not those of its children; and
// only those on regular files and folders: not on pipes, devices, and files in memory.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum Kind {
  kWrite,       // (descriptor, bytes, size)
  kVector,      // (descriptor, vector, count)
  kDescriptor,  // (descriptor, ...)
  kClose,       // (descriptor)
  kPath,        // the path is argument `at`
  kOpen         // the path is argument `at`, then come the flags
};

struct Call {
  long number;
  const char* name;
  enum Kind kind;
  int at;  // the path; of a renaming the new one. Of a write: its offset, or 0
};

static const struct Call kCalls[] = {
    {SYS_write, "write", kWrite, 0},
    {SYS_pwrite64, "pwrite64", kWrite, 3},
    {SYS_writev, "writev", kVector, 0},
    {SYS_pwritev, "pwritev", kVector, 3},
    {SYS_ftruncate, "ftruncate", kDescriptor, 0},
    {SYS_fallocate, "fallocate", kDescriptor, 0},
    {SYS_fsync, "fsync", kDescriptor, 0},
    {SYS_fdatasync, "fdatasync", kDescriptor, 0},
    {SYS_fchmod, "fchmod", kDescriptor, 0},
    {SYS_flock, "flock", kDescriptor, 0},
    {SYS_sendfile, "sendfile", kDescriptor, 0},
    {SYS_close, "close", kClose, 0},
    {SYS_openat, "openat", kOpen, 1},
    {SYS_mkdirat, "mkdirat", kPath, 1},
    {SYS_unlinkat, "unlinkat", kPath, 1},
    {SYS_renameat2, "renameat2", kPath, 3},
    {SYS_renameat, "renameat", kPath, 3},
    {SYS_linkat, "linkat", kPath, 3},
    {SYS_symlinkat, "symlinkat", kPath, 2},
    {SYS_truncate, "truncate", kPath, 0},
    {SYS_fchmodat, "fchmodat", kPath, 1},
#ifdef SYS_open  // AArch64 has none of these
    {SYS_open, "open", kOpen, 0},
    {SYS_creat, "creat", kPath, 0},
    {SYS_mkdir, "mkdir", kPath, 0},
    {SYS_rmdir, "rmdir", kPath, 0},
    {SYS_unlink, "unlink", kPath, 0},
    {SYS_rename, "rename", kPath, 1},
    {SYS_link, "link", kPath, 1},
    {SYS_symlink, "symlink", kPath, 1},
    {SYS_chmod, "chmod", kPath, 0},
#endif
};
#define CALLS (sizeof kCalls / sizeof kCalls[0])

enum { kListener = 200, kSecondsToEnd = 3, kMostBytes = 1 << 30 };

static pid_t program;
static int memory;  // of the program, as a file
static FILE* log_file;
static const char* fault;
static long place, count;

static void Require(bool good, const char* what) {
  if (good) return;
  fprintf(stderr, "inject: %s: %s\n", what, strerror(errno));
  exit(125);
}

// Becomes the program, whose counted calls are reported on the descriptor kListener.
static void Become(char** words) {
  struct sock_filter filter[2 * CALLS + 2] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
  for (size_t i = 0; i < CALLS; ++i) {
    filter[1 + 2 * i] =
        (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)kCalls[i].number, 0, 1);
    filter[2 + 2 * i] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
  }
  filter[2 * CALLS + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const struct sock_fprog whole = {2 * CALLS + 2, filter};
  Require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no new privileges");
  const long listener =
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &whole);
  Require(listener >= 0 && dup3((int)listener, kListener, O_CLOEXEC) >= 0, "seccomp");
  execvp(words[0], words);
  _exit(127);
}

// Both processes share their descriptors until the child becomes the program.
static void Start(char** words) {
  program = (pid_t)syscall(SYS_clone, CLONE_FILES | CLONE_VFORK | SIGCHLD, 0, 0, 0, 0);
  Require(program >= 0, "clone");
  if (program == 0) Become(words);
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/mem", program);
  memory = open(path, O_RDONLY | O_CLOEXEC);
  Require(memory >= 0 && fcntl(kListener, F_GETFD) >= 0, words[0]);
}

static bool IsOfProgram(pid_t thread) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task/%d", program, thread);
  return access(path, F_OK) == 0;
}

// Is the descriptor a regular file that is not in memory? Writes its path.
static bool IsFile(int descriptor, char* path, size_t size) {
  struct stat status;
  char link[64];
  snprintf(link, sizeof link, "/proc/%d/fd/%d", program, descriptor);
  const ssize_t length = readlink(link, path, size - 1);
  path[length > 0 ? length : 0] = 0;
  return length > 0 && stat(link, &status) == 0 && S_ISREG(status.st_mode) &&
         strncmp(path, "/memfd:", 7) != 0;
}

static bool IsOpenForWriting(int descriptor) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", program, descriptor);
  FILE* const info = fopen(path, "r");
  unsigned flags = 0;
  const bool found = info && fscanf(info, "pos: %*s flags: %o", &flags) == 1;
  if (info) fclose(info);
  return found && (flags & O_ACCMODE) != O_RDONLY;
}

// The bytes to write, as pieces of the program's memory. Returns the number of pieces.
static size_t PiecesOf(const struct Call* call, const __u64* arguments, struct iovec* pieces) {
  if (call->kind == kWrite) {
    pieces[0] = (struct iovec){(void*)(uintptr_t)arguments[1], arguments[2]};
    return 1;
  }
  const size_t size = arguments[2] * sizeof *pieces;
  const bool fits = arguments[2] <= UIO_MAXIOV;
  return fits && pread(memory, pieces, size, (off_t)arguments[1]) == (ssize_t)size ? arguments[2]
                                                                                   : 0;
}

static size_t BytesOf(const struct Call* call, const __u64* arguments) {
  struct iovec pieces[UIO_MAXIOV];
  size_t sum = 0;
  for (size_t i = PiecesOf(call, arguments, pieces); i > 0; --i) sum += pieces[i - 1].iov_len;
  return sum;
}

// Writes half of the bytes in place of the program, to the same open file. -errno if that fails.
static long WriteHalf(const struct Call* call, const __u64* arguments) {
  struct iovec pieces[UIO_MAXIOV];
  const size_t number = PiecesOf(call, arguments, pieces), half = BytesOf(call, arguments) / 2;
  if (half > kMostBytes) return -EIO;
  char* const bytes = malloc(half);
  const struct iovec to = {bytes, half};
  const int process = (int)syscall(SYS_pidfd_open, program, 0);
  const int file = (int)syscall(SYS_pidfd_getfd, process, (int)arguments[0], 0);
  Require(
      bytes && file >= 0 && process_vm_readv(program, &to, 1, pieces, number, 0) == (ssize_t)half,
      "half of a write");
  const ssize_t done = call->at > 0 ? pwrite(file, bytes, half, (off_t)arguments[call->at])
                                    : write(file, bytes, half);
  const long result = done < 0 ? -errno : done;
  close(file);
  close(process);
  free(bytes);
  return result;
}

// Is it one of the calls that are counted? Writes the path.
static bool IsCounted(const struct Call* call, const __u64* arguments, char* path, size_t size) {
  if (call->kind <= kClose) {
    const int descriptor = (int)arguments[0];
    return IsFile(descriptor, path, size) && (call->kind != kClose || IsOpenForWriting(descriptor));
  }
  const __u64 flags = arguments[call->at + 1];
  if (call->kind == kOpen && !(flags & O_CREAT) && (flags & O_TMPFILE) != O_TMPFILE) return false;
  const ssize_t length = pread(memory, path, size - 1, (off_t)arguments[call->at]);
  path[length > 0 ? length : 0] = 0;
  return strncmp(path, "/dev/", 5) != 0 && strncmp(path, "/proc/", 6) != 0;
}

// The answer to a call that is counted: the fault, or that it goes on. False: no answer, since the
// signal ends the call before it has run.
static bool Decide(const struct Call* call, const struct seccomp_notif* asked, const char* path,
                   struct seccomp_notif_resp* answer) {
  const __u64* const arguments = asked->data.args;
  const bool writes = call->kind == kWrite || call->kind == kVector;
  const bool is_full = strcmp(fault, "FULL") == 0;
  const bool hit = ++count == place || (is_full && count > place && writes);
  fprintf(log_file, "%s %ld %s %zu %s\n", hit ? "fault" : "call", count, call->name,
          writes ? BytesOf(call, arguments) : 0, path);
  fflush(log_file);
  if (!hit || strcmp(fault, "NONE") == 0) return true;
  if (strcmp(fault, "TERM") == 0 || strcmp(fault, "KILL") == 0) {
    syscall(SYS_tgkill, program, asked->pid, fault[0] == 'T' ? SIGTERM : SIGKILL);
    return false;
  }
  const long result = strcmp(fault, "SHORT") == 0   ? WriteHalf(call, arguments)
                      : strcmp(fault, "EIO") == 0   ? -EIO
                      : strcmp(fault, "EINTR") == 0 ? -EINTR
                                                    : -ENOSPC;
  answer->flags = 0;
  answer->val = result < 0 ? 0 : result;
  answer->error = result < 0 ? (int)result : 0;
  return true;
}

static void AnswerOne(void) {
  struct seccomp_notif asked;
  memset(&asked, 0, sizeof asked);
  if (ioctl(kListener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0) return;  // it was killed meanwhile
  struct seccomp_notif_resp answer = {.id = asked.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
  if (IsOfProgram((pid_t)asked.pid)) {
    size_t i = 0;
    while (kCalls[i].number != asked.data.nr) ++i;
    char path[4096];
    if (IsCounted(&kCalls[i], asked.data.args, path, sizeof path) &&
        !Decide(&kCalls[i], &asked, path, &answer))
      return;
  }
  ioctl(kListener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

// Kills the children that this process has inherited; logs their names.
static void KillLeft(void) {
  char path[64], name[64];
  int child = 0;
  snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
  FILE* const children = fopen(path, "r");
  while (children && fscanf(children, "%d", &child) == 1) {
    snprintf(path, sizeof path, "/proc/%d/comm", child);
    FILE* const comm = fopen(path, "r");
    if (comm && fgets(name, sizeof name, comm)) fprintf(log_file, "left %s", name);
    if (comm) fclose(comm);
    kill(child, SIGKILL);
  }
  if (children) fclose(children);
}

// Children of the program that end soon by themselves are not left.
static void WaitForChildren(void) {
  const int kStep = 10;  // milliseconds
  for (int waited = 0;; waited += kStep) {
    pid_t ended;
    while ((ended = waitpid(-1, NULL, WNOHANG)) > 0) continue;
    if (ended < 0) return;
    if (waited >= kSecondsToEnd * 1000) KillLeft();
    struct pollfd listener = {kListener, POLLIN, 0};
    if (poll(&listener, 1, kStep) > 0 && (listener.revents & POLLIN)) AnswerOne();
  }
}

int main(int argc, char** argv) {
  if (argc < 5) {
    fprintf(stderr, "inject: expected LOG FAULT N PROGRAM ARGUMENT...\n");
    return 125;
  }
  log_file = fopen(argv[1], "we");
  Require(log_file != NULL, argv[1]);
  fault = argv[2];
  place = atol(argv[3]);
  Require(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0, "subreaper");
  Start(argv + 4);
  const int end = (int)syscall(SYS_pidfd_open, program, 0);
  Require(end >= 0, "pidfd_open");
  struct pollfd events[] = {{kListener, POLLIN, 0}, {end, POLLIN, 0}};
  while (!(events[1].revents & POLLIN)) {
    Require(poll(events, 2, -1) >= 0, "poll");
    if (events[0].revents & POLLIN) AnswerOne();
  }
  int status = 0;
  Require(waitpid(program, &status, 0) == program, "waitpid");
  WaitForChildren();
  const bool exited = WIFEXITED(status);
  fprintf(log_file, "%s %d\n", exited ? "exited" : "killed",
          exited ? WEXITSTATUS(status) : WTERMSIG(status));
  return exited ? WEXITSTATUS(status) : 0;
}
