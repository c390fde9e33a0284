#include "peers/peer.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>

#include "support/bare.h"

namespace cordon::bench {
namespace {

// Where packages put commands, also those that only root has in its PATH.
std::string find_command(const std::string& name) {
  for (const char* folder : {"/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/usr/local/sbin/"}) {
    if (::access((folder + name).c_str(), X_OK) == 0) return folder + name;
  }
  return {};
}

Peer bubblewrap(const std::string& program) {
  const std::string folder = std::filesystem::path(program).parent_path();
  return {.name = "bwrap",
          .file = find_command("bwrap"),
          .args = {"--unshare-all", "--die-with-parent",
                   "--new-session", "--cap-drop",
                   "ALL",           "--ro-bind",
                   "/usr",          "/usr",
                   "--symlink",     "usr/bin",
                   "/bin",          "--symlink",
                   "usr/lib",       "/lib",
                   "--symlink",     "usr/lib64",
                   "/lib64",        "--proc",
                   "/proc",         "--dev",
                   "/dev",          "--tmpfs",
                   "/tmp",          "--ro-bind",
                   folder,          folder,
                   "--chdir",       folder,
                   program},
          .note = "no limits, no seccomp filter, no Landlock, no deadline"};
}

Peer firejail(const std::string& program) {
  return {.name = "firejail",
          .file = find_command("firejail"),
          .args = {"--quiet", "--noprofile", "--net=none", "--private-tmp", "--private-dev",
                   "--caps.drop=all", "--nonewprivs", "--seccomp", "--rlimit-nofile=1024", "--",
                   program},
          .note =
              "no control groups: no limit on memory or processes of the whole tree; most of "
              "the host's files are visible"};
}

Peer oci(const char* name, const Bundle& bundle) {
  return {.name = name,
          .file = find_command(name),
          .args = {"--root", bundle.state(name), "run", "--bundle", bundle.folder(),
                   bundle.container(name)},
          .note =
              "a root file system of one file, made beforehand; a short list of refused system "
              "calls; no Landlock, no deadline"};
}

std::string first_line(int file) {
  std::array<char, 256> text{};
  const ssize_t got = ::pread(file, text.data(), text.size(), 0);
  std::string line(text.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  line = line.substr(0, line.find('\n'));
  std::ranges::replace(line, '\t', ' ');
  return line;
}

}  // namespace

std::vector<Peer> all_peers(const std::string& program, const Bundle& bundle) {
  return {{.name = "bare", .file = program, .note = "posix_spawn: no isolation at all"},
          {.name = "cordon run", .file = CORDON_COMMAND, .args = {"run", "--", program}},
          bubblewrap(program),
          firejail(program),
          oci("crun", bundle),
          oci("runc", bundle)};
}

std::string try_once(const Peer& peer) {
  constexpr int kPatience = 20'000;
  if (peer.file.empty()) return "not installed";
  const int said = ::memfd_create("stderr", MFD_CLOEXEC);
  BareSpawn spawn(peer.file, peer.args);
  spawn.set_stdio({-1, -1, said});
  const pid_t pid = spawn.start();
  pollfd end{
      .fd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)), .events = POLLIN, .revents = 0};
  const bool ended = ::poll(&end, 1, kPatience) > 0;
  if (!ended) (void)::kill(pid, SIGKILL);
  const int status = BareSpawn::wait(pid);
  std::string why = first_line(said);
  ::close(end.fd);
  ::close(said);
  if (!ended) return "does not end";
  if (status == 0) return {};
  return why.empty() ? "fails" : why;
}

}  // namespace cordon::bench
