// A program of a sandbox and its output, kept for those who attach now or later. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cordon/events.h"
#include "cordon/outcome.h"
#include "cordon/process.h"
#include "sandbox/transcript.h"

namespace cordon::app::sandbox {

inline constexpr std::size_t kMostKept = std::size_t{1024} * 1024;

class Kept {
 public:
  struct About {
    ProcessId number = 0;   // within the sandbox; 0: the main program
    bool relayed = false;   // takes input from whoever is attached
    bool terminal = false;  // is on a terminal of its own
    std::vector<std::string> command{};
  };

  // `events` is of `process`. `ended` is called when all of the output is here, from another
  // thread. Throws std::system_error.
  Kept(std::shared_ptr<Process> process, EventStream events, About about,
       std::function<void()> ended)
      : process_(std::move(process)),
        about_(std::move(about)),
        transcript_(kMostKept),
        thread_([this, stream = std::move(events), told = std::move(ended)]() mutable {
          transcript_.feed(stream);
          end();
          told();
        }) {}
  // The process must have ended, or be about to.
  ~Kept() { thread_.join(); }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  // Null once it has ended: what a process holds of the OS is let go of then.
  [[nodiscard]] std::shared_ptr<Process> process() const {
    const std::lock_guard lock(mutex_);
    return process_;
  }
  [[nodiscard]] const About& about() const { return about_; }
  // As it was in the end, once it has ended.
  [[nodiscard]] Status status() const {
    const auto process = this->process();
    const std::lock_guard lock(mutex_);
    return process ? process->status() : last_;
  }
  [[nodiscard]] std::optional<Outcome> outcome() const {
    const std::lock_guard lock(mutex_);
    return outcome_;
  }
  [[nodiscard]] cordon::sandbox::Transcript& transcript() { return transcript_; }
  [[nodiscard]] const cordon::sandbox::Transcript& transcript() const { return transcript_; }

  // Nobody waits for its end any more who would tell of it: `note` is called when it has ended,
  // from another thread, or at once.
  void leave(std::function<void(const Outcome&)> note) {
    {
      const std::lock_guard lock(mutex_);
      if (process_) {
        note_ = std::move(note);
        return;
      }
    }
    if (const auto known = outcome()) note(*known);
  }

  // How many clients are attached; kept by them.
  std::atomic<int> attached = 0;

 private:
  void end() {
    const auto process = this->process();
    auto outcome = process->wait();
    std::function<void(const Outcome&)> note;
    {
      const std::lock_guard lock(mutex_);
      if (outcome) outcome_ = *outcome;
      last_ = process->status();
      process_.reset();
      note = std::move(note_);
    }
    if (note && outcome) note(*outcome);
  }

  mutable std::mutex mutex_;
  std::shared_ptr<Process> process_;
  Status last_{};
  std::optional<Outcome> outcome_{};
  std::function<void(const Outcome&)> note_{};
  const About about_;
  cordon::sandbox::Transcript transcript_;
  std::thread thread_;
};

}  // namespace cordon::app::sandbox
