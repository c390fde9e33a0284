#include "sandbox_attached.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "base/errors.h"

namespace cordon::app::sandbox {
namespace {

// How long one attempt to hand input on may take: signals have to be seen although the program does
// not read.
constexpr Duration kHandOn = std::chrono::milliseconds(20);
// Of output in one message.
constexpr std::size_t kPiece = std::size_t{256} * 1024;
// A client that reads nothing at all for so long is told no more. It may be a stopped pager.
constexpr Duration kSlowest = std::chrono::hours(24);

class Attendance {
 public:
  Attendance(Channel& channel, Kept& kept, Attention attention, const Wake& end_now)
      : channel_(channel),
        kept_(kept),
        attention_(attention),
        end_now_(end_now),
        reader_(kept.transcript().read({}, attention == Attention::attached)) {
    if (attention_ == Attention::attached) ++kept_.attached;
  }
  ~Attendance() {
    if (attention_ == Attention::attached) --kept_.attached;
  }
  Attendance(const Attendance&) = delete;
  Attendance& operator=(const Attendance&) = delete;

  [[nodiscard]] bool attend() {
    const bool told = tell(Kind::started, Started{.process = kept_.about().number,
                                                  .terminal = kept_.about().terminal,
                                                  .relayed = kept_.about().relayed});
    if (!told) return false;
    auto finished = Wake::create();
    if (!finished) return false;
    std::thread output;
    try {
      output = std::thread([&] {
        pass_output();
        finished->set();
      });
    } catch (const std::system_error&) {
      return false;
    }
    obey(*finished);
    {
      const std::lock_guard lock(waiting_);
      gone_ = true;
      came_.notify_all();
    }
    if (!done_) (void)::shutdown(channel_.fd(), SHUT_RDWR);  // a send that waits has to end
    output.join();
    return done_;
  }

 private:
  template <typename T>
  bool tell(Kind kind, T value) {
    const std::lock_guard lock(sending_);
    return channel_.send(kind, std::move(value), kSlowest).has_value();
  }

  // The next one; nothing: that was all, or nobody is there any more.
  [[nodiscard]] std::optional<cordon::sandbox::Transcript::Entry> next() {
    while (!gone_) {
      auto entry = reader_.next_for(Duration{0});
      if (entry) return *std::move(entry);
      if (attention_ == Attention::looks) return std::nullopt;
      ready_ = false;
      reader_.notify([this] {
        const std::lock_guard lock(waiting_);
        ready_ = true;
        came_.notify_all();
      });
      std::unique_lock lock(waiting_);
      came_.wait(lock, [&] { return ready_ || gone_; });
    }
    reader_.notify({});
    return std::nullopt;
  }

  [[nodiscard]] Result<Outcome> kept_outcome() const {
    if (auto outcome = kept_.outcome()) return *std::move(outcome);
    return base::fail(ErrorCode::system, "sandbox", "nobody knows how it ended");
  }

  void pass_output() {
    while (const auto entry = next()) {
      const Event& event = entry->event;
      if (event.kind == Event::Kind::exit) continue;
      std::uint64_t missed = entry->missed;
      for (std::string_view data = event.data.view(); !data.empty();) {
        Output output{.err = event.kind == Event::Kind::err,
                      .dropped = std::exchange(missed, 0),
                      .data = std::string(data.substr(0, kPiece))};
        if (!tell(Kind::output, std::move(output))) return;
        data.remove_prefix(std::min(kPiece, data.size()));
      }
    }
    if (gone_) return;
    if (attention_ == Attention::looks) {
      done_ = tell(Kind::done, Nothing{});
      return;
    }
    const auto process = kept_.process();
    auto outcome = process ? process->wait() : kept_outcome();
    if (outcome) done_ = tell(Kind::ended, *std::move(outcome));
  }

  // What the client says, until there is nothing more to say to it.
  void obey(const Wake& finished) {
    while (true) {
      std::array<pollfd, 3> waiting = {{{.fd = finished.fd(), .events = POLLIN, .revents = 0},
                                        {.fd = end_now_.fd(), .events = POLLIN, .revents = 0},
                                        {.fd = channel_.fd(), .events = POLLIN, .revents = 0}}};
      const int ready = ::poll(waiting.data(), waiting.size(), input_.empty() ? -1 : 0);
      if (ready < 0 && errno != EINTR) return;
      if (waiting[0].revents != 0 || waiting[1].revents != 0) return;
      if (ready > 0 && waiting[2].revents != 0 && !hear()) return;
      if (!input_.empty()) hand_on();
    }
  }

  // All that was said. False: the client is gone, or does not make sense.
  [[nodiscard]] bool hear() {
    while (true) {
      auto message = channel_.receive(Duration{0});
      if (!message) return message.error().code == ErrorCode::timed_out;
      if (!message->descriptors.empty() || !act(*message)) return false;
    }
  }

  [[nodiscard]] bool act(Message& message) {
    if (attention_ != Attention::attached) return false;
    const std::shared_ptr<Process> running = kept_.process();
    if (!running) return true;  // it has ended: the client is about to hear of it
    Process& process = *running;
    switch (message.kind) {
      case Kind::input:
        if (!input_.empty() || !kept_.about().relayed) return false;
        input_ = std::move(message.bytes);
        return true;
      case Kind::input_end:
        (void)process.close_stdin();
        return true;
      case Kind::signal: {
        const auto signal = from_bytes<Signal>(message.bytes);
        if (!signal) return false;
        if (signal->number == SIGKILL && signal->tree) {
          (void)process.kill();
        } else {
          (void)process.signal(signal->number, signal->tree ? Reach::tree : Reach::program);
        }
        return true;
      }
      case Kind::terminate: {
        const auto asked = from_bytes<Stop>(message.bytes);
        if (!asked) return false;
        (void)process.terminate(asked->grace);
        return true;
      }
      case Kind::resize: {
        const auto size = from_bytes<Size>(message.bytes);
        if (!size) return false;
        (void)process.resize_terminal({.rows = size->rows, .columns = size->columns});
        return true;
      }
      default:
        return false;
    }
  }

  void hand_on() {
    const auto process = kept_.process();
    const auto written = process ? process->write_stdin(input_, kHandOn) : input_.size();
    // A program that takes no more is no reason not to go on reading.
    input_.erase(0, written ? *written : input_.size());
    if (input_.empty()) (void)tell(Kind::taken, Nothing{});
  }

  Channel& channel_;
  Kept& kept_;
  const Attention attention_;
  const Wake& end_now_;
  cordon::sandbox::Transcript::Reader reader_;
  std::mutex sending_;
  std::string input_;  // not yet taken by the program
  std::mutex waiting_;
  std::condition_variable came_;
  std::atomic<bool> ready_ = false;
  std::atomic<bool> gone_ = false;
  std::atomic<bool> done_ = false;
};

}  // namespace

bool attend(Channel& channel, Kept& kept, Attention attention, const Wake& end_now) {
  return Attendance(channel, kept, attention, end_now).attend();
}

}  // namespace cordon::app::sandbox
