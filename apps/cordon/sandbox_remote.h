// A program in a sandbox as a Process of the command's own, so that `cordon sandbox exec` does with
// streams, terminal and signals what `cordon run` does, by the same code.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "cordon/manager.h"
#include "cordon/process.h"
#include "sandbox_client.h"

namespace cordon::app::sandbox {

// How the command stands to the program.
enum class Bond : std::uint8_t {
  owner,    // has started it: its end of input and what ends the command end the program's, too
  visitor,  // has found it: what would end the program only ends the visit
};

// Detached by Ctrl-P Ctrl-Q, or as a visitor by what would have ended the program.
inline constexpr std::string_view kDetachKeys = "\x10\x11";

// The connection of an attached client. Thread-safe.
class Remote {
 public:
  // Once `started` has been received. Throws std::system_error.
  Remote(Channel channel, Started started, Bond bond, bool keys);
  ~Remote();
  Remote(const Remote&) = delete;
  Remote& operator=(const Remote&) = delete;

  [[nodiscard]] const Started& started() const { return started_; }
  // The command has let go of the program, which goes on.
  [[nodiscard]] bool detached() const { return detached_; }
  // Bytes that were not kept for us.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

  template <typename T>
  [[nodiscard]] Result<void> say(Kind kind, T value) {
    return say_bytes(kind, to_bytes(std::move(value)));
  }
  [[nodiscard]] Result<std::size_t> write(std::string_view data, Duration patience);
  [[nodiscard]] Result<void> end_input();
  [[nodiscard]] Result<void> signal(int number, Reach reach);
  // What would end the program.
  [[nodiscard]] Result<void> end(std::optional<Duration> grace);
  void detach();

  // As EventSource::take(); nothing at the end.
  [[nodiscard]] Result<void> take(std::vector<Event>& batch, Duration patience);
  [[nodiscard]] std::optional<Outcome> outcome() const;
  // Error: timed_out; closed, when it was detached or the supervisor went away.
  [[nodiscard]] Result<Outcome> wait(Duration patience);

 private:
  void receive_all();
  [[nodiscard]] bool hear(const Message& message);  // false: it was the last one
  [[nodiscard]] Result<void> say_bytes(Kind kind, const std::string& bytes);
  [[nodiscard]] bool over() const { return outcome_ || lost_ || detached_; }
  // What of `typed` is for the program; notices the keys to detach.
  [[nodiscard]] std::string without_keys(std::string_view typed);

  Channel channel_;
  const Started started_;
  const Bond bond_;
  const bool keys_;
  std::mutex sending_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Event> events_;
  std::size_t bytes_ = 0;  // in events_
  std::uint64_t sequence_ = 0;
  bool input_under_way_ = false;
  bool half_key_ = false;  // the first of the keys to detach has come
  std::optional<Outcome> outcome_;
  std::optional<Error> lost_;
  std::atomic<bool> detached_ = false;
  std::atomic<std::uint64_t> dropped_ = 0;
  std::thread thread_;
};

// What the command runs by way of it: exactly one process.
class RemoteManager final : public Manager {
 public:
  // Executes what create() is given, in the sandbox at the other end. Of its variables, the first
  // `given` were asked for. `record` is its run in the audit log; empty: there is none.
  RemoteManager(Channel channel, std::string backend, std::uint64_t given, std::string record)
      : channel_(std::move(channel)),
        backend_(std::move(backend)),
        given_(given),
        record_(std::move(record)) {}
  // Has a process already, whatever create() is given.
  RemoteManager(std::shared_ptr<Remote> remote, std::string backend)
      : remote_(std::move(remote)), backend_(std::move(backend)) {}

  // Before create(): nobody is going to wait for the process's end here.
  void leave_it() { waits_ = false; }

  // Once a process was started.
  [[nodiscard]] const std::shared_ptr<Remote>& remote() const { return remote_; }

  using Manager::create;
  [[nodiscard]] Result<std::shared_ptr<Process>> create(Request request) override;
  [[nodiscard]] Result<Plan> plan(const Request& request) const override;
  [[nodiscard]] Result<std::shared_ptr<Process>> get(ProcessId id) const override;
  [[nodiscard]] std::vector<std::shared_ptr<Process>> list() const override;
  [[nodiscard]] Result<void> set_default_limits(const Limits& limits) override;
  [[nodiscard]] Limits default_limits() const override { return {}; }
  [[nodiscard]] Capabilities capabilities() const override;
  [[nodiscard]] Clock& clock() override { return real_clock(); }

 private:
  friend class RemoteProcess;
  [[nodiscard]] Result<void> start(const Request& request);

  std::optional<Channel> channel_;
  std::shared_ptr<Remote> remote_;
  std::string backend_;
  std::uint64_t given_ = 0;
  const std::string record_{};
  bool waits_ = true;
};

}  // namespace cordon::app::sandbox
