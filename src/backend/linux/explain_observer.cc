#include "backend/linux/explain_observer.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string>
#include <system_error>
#include <utility>

#include "backend/linux/explain_reply.h"
#include "backend/linux/kernel_abi.h"
#include "backend/linux/probe_files.h"
#include "base/errors.h"

namespace cordon::linux_backend {
namespace {

constexpr std::string_view kStage = "explain";

// A filter at address 0 is not looked at if the flags are wrong: EINVAL, not EFAULT.
bool has_flags(unsigned flags) {
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, nullptr) == -1 && errno == EFAULT;
}

// The program's signals are not this thread's, nor are the caller's.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

Result<unsigned> listener_flags() {
  unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
  if (!has_flags(flags)) {
    return base::fail(ErrorCode::unsupported, kStage,
                      "this kernel cannot report what a program is refused: leave --explain out");
  }
  // Else a signal could end a call that signals do not end otherwise.
  if (has_flags(flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)) {
    flags |= SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
  }
  return flags;
}

Observer::Observer(ObserverSetup setup, base::Fd root, base::Fd stop)
    : listener_(std::move(setup.listener)),
      stop_(std::move(stop)),
      ordinary_(std::move(setup.ordinary)),
      around_(std::move(setup.around)),
      program_(std::move(root)),
      host_(places_to_avoid(read_small_file("/proc/self/mountinfo").value_or(""))),
      lookup_([this](const std::string& path) { return host_.find(path); }) {}

Result<std::unique_ptr<Observer>> Observer::start(ObserverSetup setup) {
  const std::string path = "/proc/" + std::to_string(setup.program) + "/root";
  base::Fd root = base::move_up(base::Fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)));
  if (!root) return base::fail_os(kStage, errno, "looking at the root of the sandbox");
  base::Fd stop = base::move_up(base::Fd(::eventfd(0, EFD_CLOEXEC)));
  if (!stop) return base::fail_os(kStage, errno, "making an eventfd for the observer");
  seccomp_notif_sizes sizes{};
  if (::syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) != 0) {
    return base::fail_os(kStage, errno, "asking for the size of seccomp notifications");
  }
  // Program and observer take turns: without this hint each turn waits for another processor.
  (void)::ioctl(setup.listener.get(), abi::kSeccompNotifSetFlags, abi::kSeccompSyncWakeUp);

  std::unique_ptr<Observer> made(new Observer(std::move(setup), std::move(root), std::move(stop)));
  made->notification_.resize(std::max<std::size_t>(sizes.seccomp_notif, sizeof(seccomp_notif)));
  made->response_.resize(
      std::max<std::size_t>(sizes.seccomp_notif_resp, sizeof(seccomp_notif_resp)));
  try {
    const NoSignals blocked;
    made->thread_ = std::thread([observer = made.get()] { observer->run(); });
  } catch (const std::system_error& thrown) {
    return base::fail(ErrorCode::resource_exhausted, kStage,
                      std::string("starting a thread for the observer: ") + thrown.what());
  }
  return made;
}

Observer::~Observer() { (void)finish(); }

const outcome::DenialLog& Observer::finish() {
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    (void)!::write(stop_.get(), &one, sizeof one);
    thread_.join();
  }
  return log_;
}

void Observer::run() {
  for (;;) {
    pollfd wanted[] = {{.fd = listener_.get(), .events = POLLIN, .revents = 0},
                       {.fd = stop_.get(), .events = POLLIN, .revents = 0}};
    if (::poll(wanted, 2, -1) < 0 && errno != EINTR) break;
    if ((wanted[0].revents & POLLIN) != 0) {
      hear();
    } else if (wanted[0].revents != 0 || wanted[1].revents != 0) {
      break;  // nobody is left to ask, or to be told
    }
    if (wanted[1].revents != 0) break;
  }
  listener_.reset();
}

void Observer::hear() {
  std::ranges::fill(notification_, '\0');  // the kernel insists
  if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, notification_.data()) != 0) return;
  const auto& notification = *reinterpret_cast<const seccomp_notif*>(notification_.data());
  const std::uint64_t id = notification.id;
  // Of the data that the kernel has copied: nothing that the program can change meanwhile.
  const int error = reply_to(ordinary_, notification.data);
  if (error != 0) {
    answer(id, error);
    log_.add(refused_call(notification.data));
    return;
  }
  const Heard heard = look(static_cast<pid_t>(notification.pid), notification.data);
  // If it waits still, it was its memory that was looked at, not that of another with its number.
  const bool sure = still_waits(id);
  answer(id, 0);
  if (sure) judge_all(heard);  // while the program goes on
}

Observer::Heard Observer::look(pid_t task, const seccomp_data& call) const {
  Heard heard;
  const Named named = named_by(call);
  for (const NamedPath& path : named.paths) {
    if (auto attempt = program_.attempt(task, path)) heard.paths.push_back(std::move(*attempt));
  }
  if (named.socket) heard.socket = program_.attempt(task, *named.socket);
  return heard;
}

bool Observer::still_waits(std::uint64_t id) const {
  return ::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

void Observer::answer(std::uint64_t id, int error) {
  std::ranges::fill(response_, '\0');
  auto& response = *reinterpret_cast<seccomp_notif_resp*>(response_.data());
  response.id = id;
  response.error = -error;
  response.flags = error == 0 ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0;
  // Fails if the caller has ended or was interrupted: then there is nobody to answer.
  (void)::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, response_.data());
}

void Observer::judge_all(const Heard& heard) {
  for (const PathAttempt& attempt : heard.paths) {
    if (auto denial = judge(attempt, around_, lookup_)) log_.add(std::move(*denial));
  }
  if (heard.socket) {
    if (auto denial = judge(*heard.socket, around_, lookup_)) log_.add(std::move(*denial));
  }
}

}  // namespace cordon::linux_backend
