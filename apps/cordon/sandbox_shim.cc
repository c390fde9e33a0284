#include "sandbox_shim.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "audit/time_text.h"
#include "base/errors.h"
#include "concat.h"
#include "cordon/outcome.h"
#include "cordon/sandbox.h"
#include "outcome/decide.h"
#include "sandbox_conversation.h"
#include "sandbox_programs.h"
#include "service_peer.h"
#include "service_signals.h"
#include "wake.h"

namespace cordon::app::sandbox {
namespace {

constexpr const char* kStage = "sandbox";
constexpr std::uint64_t kMostConversations = 1024;
constexpr Duration kGrace = std::chrono::seconds(5);
// For those who are attached, to read the end of it.
constexpr Duration kFarewell = std::chrono::seconds(5);
// After a failure that only time can mend, such as too many open files.
constexpr Duration kPause = std::chrono::milliseconds(50);

// The record on disk, as it changes.
class LiveRecord {
 public:
  LiveRecord(const Entry& entry, Record record) : entry_(entry), record_(std::move(record)) {}

  [[nodiscard]] Result<void> take(Sandbox& sandbox, const std::string& image) {
    const std::lock_guard lock(mutex_);
    record_.container = sandbox.container_id();
    record_.state = sandbox.state();
    record_.failure = sandbox.failure();
    if (!image.empty()) record_.checkpoint = image;
    const auto main = sandbox.main();
    const auto outcome = main ? main->outcome() : std::nullopt;
    if (outcome) record_.outcome = to_json(*outcome);
    return entry_.write(record_);
  }
  [[nodiscard]] Record get() const {
    const std::lock_guard lock(mutex_);
    return record_;
  }

 private:
  const Entry& entry_;
  mutable std::mutex mutex_;
  Record record_;
};

// For the audit log, in place of the command that has started it and is not there any more.
std::string ended_text(const std::string& name, ProcessId number, const std::string& record,
                       const Outcome& outcome) {
  std::string text = concat("ended ", name, " ", std::to_string(number), ": ",
                            std::string(to_string(outcome.verdict)));
  if (outcome.exit_code) text += concat(" ", std::to_string(*outcome.exit_code));
  const int signal = outcome.termination.signal;
  if (signal != 0) text += concat(" by signal ", std::to_string(signal));
  if (!record.empty()) text += concat(", run ", record);
  return text;
}

class Shim {
 public:
  Shim(Sandbox& sandbox, LiveRecord& record, std::optional<RecordedRun>& run,
       const ImageRequest& image, service::Surroundings own, base::Fd listener, base::Fd signals,
       Wake ending, Wake end_now)
      : sandbox_(sandbox),
        own_(std::move(own)),
        listener_(std::move(listener)),
        signals_(std::move(signals)),
        ending_(std::move(ending)),
        end_now_(std::move(end_now)),
        programs_(sandbox, [this] { ending_.set(); }),
        shared_{.sandbox = sandbox,
                .programs = programs_,
                .own = own_,
                .image = image,
                .end_now = end_now_,
                .about_to =
                    [&run, &sandbox](const std::string& operation) {
                      return run ? run->in_sandbox(concat(operation, " ", sandbox.sandbox_id()))
                                 : Result<void>();
                    },
                .ended =
                    [&run, &sandbox](ProcessId number, const std::string& of_client,
                                     const Outcome& outcome) {
                      if (!run) return;
                      (void)run->in_sandbox(
                          ended_text(sandbox.sandbox_id(), number, of_client, outcome));
                    },
                .changed = [&record, &sandbox](
                               const std::string& written) { (void)record.take(sandbox, written); },
                .finish = [this](Channel channel) { finish_for(std::move(channel)); }} {}

  [[nodiscard]] Programs& programs() { return programs_; }

  // Until the sandbox is at its end.
  void serve() {
    while (true) {
      std::array<pollfd, 3> waiting = {{{.fd = ending_.fd(), .events = POLLIN, .revents = 0},
                                        {.fd = signals_.get(), .events = POLLIN, .revents = 0},
                                        {.fd = listener_.get(), .events = POLLIN, .revents = 0}}};
      const int ready = ::poll(waiting.data(), waiting.size(), -1);
      if (ready < 0 && errno != EINTR) return;
      if (ready <= 0) continue;
      if (waiting[0].revents != 0) return;
      if (waiting[1].revents != 0) {
        (void)sandbox_.stop(kGrace);
        return;
      }
      if (waiting[2].revents != 0) accept_one();
    }
  }

  // Lets those who are attached read the end of it.
  void leave() {
    listener_.reset();
    std::unique_lock lock(mutex_);
    (void)left_.wait_for(lock, kFarewell, [&] { return conversations_ == 0; });
    end_now_.set();
    left_.wait(lock, [&] { return conversations_ == 0; });
  }

  // Those who wait for the end: dropping them tells them.
  [[nodiscard]] std::vector<Channel> take_waiting() {
    const std::lock_guard lock(mutex_);
    return std::move(waiting_);
  }

 private:
  void accept_one() {
    base::Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) {
      if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
        std::this_thread::sleep_for(kPause);
      }
      return;
    }
    Channel channel(base::move_up(std::move(socket)));
    {
      const std::lock_guard lock(mutex_);
      if (conversations_ >= kMostConversations) return turn_away(channel);
      ++conversations_;
    }
    try {
      std::thread([this, channel = std::move(channel)]() mutable {
        converse(std::move(channel), shared_);
        const std::lock_guard lock(mutex_);
        --conversations_;
        left_.notify_all();
      }).detach();  // counted instead: leave() waits for all of them
    } catch (const std::system_error&) {
      const std::lock_guard lock(mutex_);
      --conversations_;
    }
  }

  static void turn_away(Channel& channel) {
    (void)channel.send(Kind::refused,
                       Error{ErrorCode::resource_exhausted, kStage, 0,
                             "too many commands are connected to this sandbox: try again later"},
                       Duration{0});
  }

  void finish_for(Channel channel) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(channel));
    ending_.set();
  }

  Sandbox& sandbox_;
  const service::Surroundings own_;
  base::Fd listener_;
  const base::Fd signals_;
  const Wake ending_;
  const Wake end_now_;
  Programs programs_;
  Shared shared_;

  std::mutex mutex_;
  std::condition_variable left_;
  std::uint64_t conversations_ = 0;
  std::vector<Channel> waiting_;
};

// Brings the main program to life.
Result<void> begin(Sandbox& sandbox, const std::string& image) {
  return image.empty() ? sandbox.create() : sandbox.restore(image);
}

void tell_end(std::optional<RecordedRun>& run, Sandbox& sandbox) {
  if (!run) return;
  const auto main = sandbox.main();
  if (auto outcome = main ? main->outcome() : std::nullopt) (void)run->ended(*std::move(outcome));
}

Result<std::vector<Channel>> live(ShimAsk& ask, std::optional<RecordedRun>& run,
                                  const std::function<void(const Record&)>& ready) {
  (void)std::signal(SIGHUP, SIG_IGN);  // a terminal that goes away is no affair of ours
  auto signals = service::take_signals(kStage);
  if (!signals) return std::unexpected(std::move(signals.error()));
  auto ending = Wake::create();
  auto end_now = Wake::create();
  if (!ending || !end_now) {
    return std::unexpected(std::move((ending ? end_now : ending).error()));
  }
  auto own = service::own_surroundings();
  if (!own) return std::unexpected(std::move(own.error()));
  const Entry& entry = ask.claim.entry;
  auto listener = entry.place().listen();
  if (!listener) return std::unexpected(std::move(listener.error()));
  ask.record.pid = ::getpid();
  ask.record.created = audit::time_text(real_clock().wall_now());
  if (auto written = entry.write(ask.record); !written) return std::unexpected(written.error());

  auto sandbox = Sandbox::make(
      std::move(ask.request),
      {.id = entry.name(), .backend = ask.record.backend, .state = entry.path() + "/state"});
  if (!sandbox) return std::unexpected(std::move(sandbox.error()));
  if (run) {
    auto recorded =
        run->in_sandbox(concat(ask.image.empty() ? "create " : "restore ", entry.name()));
    if (recorded) recorded = run->started();
    if (!recorded) return std::unexpected(std::move(recorded.error()));
  }
  const ImageRequest image{.name = entry.name(),
                           .backend = ask.record.backend,
                           .main = main_of(sandbox->request()),
                           .policies = ask.record.policies,
                           .profile = ask.record.profile};
  LiveRecord record(entry, ask.record);
  std::vector<Channel> waiting;
  {
    Shim shim(*sandbox, record, run, image, *std::move(own), *std::move(listener),
              *std::move(signals), *std::move(ending), *std::move(end_now));
    if (auto begun = begin(*sandbox, ask.image); !begun) return std::unexpected(begun.error());
    if (auto added = shim.programs().add_main(); !added) {
      (void)sandbox->remove();
      return std::unexpected(added.error());
    }
    if (auto written = record.take(*sandbox, ""); !written) {
      (void)sandbox->remove();
      return std::unexpected(written.error());
    }
    ready(record.get());
    shim.serve();
    entry.place().remove_socket();  // from here on nobody finds us
    shim.leave();
    waiting = shim.take_waiting();
    (void)record.take(*sandbox, "");
    (void)shim.programs().save(entry);
    tell_end(run, *sandbox);
    const bool rests = at_rest(sandbox->state());
    (void)sandbox->remove();
    if (!rests) (void)record.take(*sandbox, "");  // nobody looks after it any more
  }
  return waiting;
}

}  // namespace

Result<void> supervise(ShimAsk ask, std::optional<RecordedRun>& run,
                       const std::function<void(const Record&)>& ready) {
  auto waiting = live(ask, run, ready);
  if (!waiting) {
    if (run) {
      (void)run->refused(outcome::failed_to_start(0, ask.record.backend, {}, waiting.error()));
    }
    (void)ask.claim.entry.remove();
    return std::unexpected(std::move(waiting.error()));
  }
  if (run) run->cleaned_up();
  ask.claim.lock.reset();
  return {};
}

}  // namespace cordon::app::sandbox
