#include "backend/gvisor/exec_child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <mutex>
#include <utility>

#include "backend/gvisor/gvisor_child.h"
#include "backend/gvisor/gvisor_plan.h"
#include "backend/linux/exec_paths.h"
#include "backend/linux/inside_environment.h"
#include "backend/linux/probe_files.h"
#include "backend/posix/lookup.h"
#include "base/errors.h"

namespace cordon::gvisor_backend {
namespace {

using namespace std::chrono_literals;

constexpr const char* kStage = "exec";
constexpr Duration kPatience = 10s;
constexpr int kSignalled = 128;

std::unexpected<Error> ended(const Inside& inside) {
  return base::fail(ErrorCode::wrong_state, kStage,
                    std::string("the sandbox has ") +
                        (inside.sandbox->checkpointed() ? "been checkpointed" : "ended") +
                        ": restore it or create another");
}

std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(" \t"));
  line.remove_prefix(word.size());
  return word;
}

int to_number(std::string_view word) {
  int value = 0;
  std::from_chars(word.data(), word.data() + word.size(), value);
  return value;
}

}  // namespace

std::vector<InsideProcess> parse_processes(std::string_view table) {
  std::vector<InsideProcess> all;
  while (!table.empty()) {
    std::string_view line = table.substr(0, table.find('\n'));
    table.remove_prefix(std::min(line.size() + 1, table.size()));
    (void)next_word(line);  // the user
    const int pid = to_number(next_word(line));
    const int parent = to_number(next_word(line));
    if (pid > 0) all.push_back({pid, parent});
  }
  return all;
}

std::set<int> descendants(const std::vector<InsideProcess>& all, const std::set<int>& roots) {
  std::set<int> found;
  for (bool more = true; more;) {
    more = false;
    for (const auto& [pid, parent] : all) {
      if (found.contains(pid)) continue;
      if (!roots.contains(pid) && !found.contains(parent)) continue;
      more = found.insert(pid).second || more;
    }
  }
  return found;
}

Result<void> ExecChild::write_process(const supervise::LaunchSpec& spec) const {
  const Request& request = spec.request;
  BundleProcess process{.argv = {request.program},
                        .environment = linux_backend::inside_environment(
                            posix::environment_for(request), request, inside_->plan),
                        .cwd = request.cwd.empty() ? inside_->plan.cwd : request.cwd,
                        .user = user_inside(inside_->plan, inside_->sandbox->runsc()),
                        .limits = with_defaults(spec.limits, inside_->plan.limits),
                        .terminal = false};
  process.argv.insert(process.argv.end(), request.args.begin(), request.args.end());
  const std::string text = process_text(process);
  constexpr mode_t kPrivate = 0600;
  const base::Fd file(
      ::open(this->file(".json").c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kPrivate));
  if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return base::fail_os(kStage, errno, "writing " + this->file(".json"));
  }
  return {};
}

Result<void> ExecChild::launch(const supervise::LaunchSpec& spec) {
  static std::atomic<std::uint64_t> number{0};
  const std::shared_lock starting(inside_->gate);
  if (!inside_->sandbox->running()) return ended(*inside_);
  prefix_ = inside_->sandbox->directory().state() + "/exec-" + std::to_string(++number);
  if (auto written = write_process(spec); !written) return written;

  base::Fd watch(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!watch || ::inotify_add_watch(watch.get(), inside_->sandbox->directory().state().c_str(),
                                    IN_CLOSE_WRITE | IN_MOVED_TO) < 0) {
    return base::fail_os(kStage, errno, "watching the sandbox's directory");
  }
  Start start{.argv = inside_->sandbox->command_line(
                  {"exec", "-process=" + file(".json"), "-internal-pid-file=" + file(".pid")},
                  file(".log")),
              .stdio = {spec.stdio[0], spec.stdio[1], spec.stdio[2]},
              .dies_with_thread = true};
  for (int i = 0; i < 2; ++i) {
    auto end = relays_[i].open(spec.stdio[i + 1]);
    if (!end) return std::unexpected(std::move(end.error()));
    start.stdio[i + 1] = *end;
  }
  Result<Running> running;
  inside_->threads.parent().run([&] { running = gvisor_backend::start(start); });
  for (FileRelay& relay : relays_) relay.begin();
  if (!running) return std::unexpected(std::move(running.error()));
  pid_ = running->pid;
  pidfd_ = std::move(running->pidfd);
  auto begun = wait_until_begun(watch.get());
  inside_->threads.leave(std::move(watch));
  if (!begun) return begun;
  if (inside_pid_ != 0) return {};
  // It has ended already: after it began, or before.
  const auto log = linux_backend::read_small_file(file(".log").c_str());
  if (!log || last_error(*log).empty()) return {};
  return std::unexpected(why_not_begun(spec.request));
}

Result<void> ExecChild::wait_until_begun(int watch) {
  constexpr Duration kBegins = 60s;
  const TimePoint until = real_clock().now() + kBegins;
  for (;;) {
    std::array<pollfd, 2> wanted{{{.fd = pidfd_.get(), .events = POLLIN, .revents = 0},
                                  {.fd = watch, .events = POLLIN, .revents = 0}}};
    constexpr int kLook = 1000;
    (void)::poll(wanted.data(), wanted.size(), kLook);
    std::array<char, 4096> events{};
    while (::read(watch, events.data(), events.size()) > 0) {
    }
    const auto text = linux_backend::read_small_file(file(".pid").c_str());
    if (text && !text->empty()) inside_pid_ = to_number(*text);
    if (inside_pid_ != 0 || wanted[0].revents != 0) return {};
    if (real_clock().now() >= until) {
      return base::fail(ErrorCode::timed_out, kStage,
                        "runsc did not begin with the program in time");
    }
  }
}

Error ExecChild::why_not_begun(const Request& request) const {
  if (!inside_->sandbox->running()) return ended(*inside_).error();
  const auto log = linux_backend::read_small_file(file(".log").c_str());
  const std::string said = log ? last_error(*log) : "";
  constexpr std::pair<std::string_view, int> kKnown[] = {{"no such file or directory", ENOENT},
                                                         {"permission denied", EACCES},
                                                         {"exec format error", ENOEXEC}};
  for (const auto& [text, error] : kKnown) {
    if (said.find("failed to load") == std::string::npos || !said.ends_with(text)) continue;
    Error explained = posix::explain_exec_failure(request.program, "", error);
    if (error == ENOENT) {
      explained = {ErrorCode::not_found, kStage, ENOENT,
                   "program " + request.program + " was not found in the sandbox: check the path"};
    }
    return explained;
  }
  return base::fail(ErrorCode::system, kStage, "runsc could not start the program: " + said)
      .error();
}

std::set<int> ExecChild::tree() const {
  const auto listed = inside_->sandbox->command({"ps"}, kPatience);
  if (!listed || listed->exit_code != 0) return {};
  return descendants(parse_processes(listed->out), {inside_pid_});
}

int ExecChild::send_to(int inside_pid, int signal) const {
  const auto sent = inside_->sandbox->command({"kill", "-pid=" + std::to_string(inside_pid)},
                                              kPatience, {std::to_string(signal)});
  if (!sent) return sent.error().os_error != 0 ? sent.error().os_error : EAGAIN;
  return sent->exit_code == 0 ? 0 : ESRCH;
}

// Stopped first: nobody makes a child, or loses its parent, while they are looked for.
void ExecChild::kill_tree() {
  constexpr int kRounds = 16;
  std::set<int> stopped;
  for (int round = 0; round < kRounds; ++round) {
    bool more = false;
    for (const int pid : tree()) {
      if (!stopped.insert(pid).second) continue;
      more = true;
      (void)send_to(pid, SIGSTOP);
    }
    if (!more) break;
  }
  for (const int pid : stopped) (void)send_to(pid, SIGKILL);
}

int ExecChild::send(int signal, Reach reach) {
  if (inside_pid_ == 0) return ESRCH;
  if (reach == Reach::program) return send_to(inside_pid_, signal);
  if (signal == SIGKILL) {
    kill_tree();
    if (!inside_->sandbox->running()) (void)::kill(pid_, SIGKILL);
    return 0;
  }
  int result = ESRCH;
  for (const int pid : tree()) {
    const int sent = send_to(pid, signal);
    if (pid == inside_pid_) result = sent;
  }
  return result;
}

std::optional<supervise::Ended> ExecChild::reap() {
  pollfd end{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
  if (::poll(&end, 1, 0) == 0) return std::nullopt;
  const int code = gvisor_backend::reap(pid_);
  reaped_ = true;
  for (FileRelay& relay : relays_) relay.finish();
  supervise::Ended over;
  const auto log = linux_backend::read_small_file(file(".log").c_str());
  const bool lost = code == kSignalled && log && !last_error(*log).empty();
  if (inside_->sandbox->checkpointed() || lost || code < 0) {
    over.status_lost = true;  // gVisor went, and the program with it
  } else {
    set_status(over, code);
  }
  remove_files();
  return over;
}

void ExecChild::remove_files() const {
  if (prefix_.empty()) return;
  for (const char* suffix : {".json", ".pid", ".log"}) (void)::unlink(file(suffix).c_str());
}

ExecChild::~ExecChild() {
  if (pid_ > 0 && !reaped_) {
    if (inside_pid_ != 0 && inside_->sandbox->running()) kill_tree();
    (void)::kill(pid_, SIGKILL);
    (void)gvisor_backend::reap(pid_);
  }
  remove_files();
}

}  // namespace cordon::gvisor_backend
