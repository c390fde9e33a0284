// The processes inside a simulated container: a Manager that makes them on another one, knows its
// own alone, and ends them with the container. Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

#include "cordon/manager.h"

namespace cordon::sandbox {

class InsideProcesses final : public Manager {
 public:
  // `outside` must outlive it. `bounds`: what each program may have at most.
  InsideProcesses(Manager& outside, Request bounds);
  ~InsideProcesses() override { close(); }

  // Ends all, those too that were made and are started later. Any number of times, by any thread.
  void close();

  using Manager::create;
  [[nodiscard]] Result<std::shared_ptr<Process>> create(Request request) override;
  [[nodiscard]] Result<Plan> plan(const Request& request) const override;
  [[nodiscard]] Result<std::shared_ptr<Process>> get(ProcessId id) const override;
  [[nodiscard]] std::vector<std::shared_ptr<Process>> list() const override;
  [[nodiscard]] Result<void> set_default_limits(const Limits& limits) override;
  [[nodiscard]] Limits default_limits() const override;
  [[nodiscard]] Capabilities capabilities() const override { return outside_.capabilities(); }
  [[nodiscard]] Clock& clock() override { return outside_.clock(); }

 private:
  // Ended by the container, or by whoever asked for it.
  struct Ending {
    explicit Ending(std::stop_token theirs)
        : asked(std::move(theirs), [this] { source.request_stop(); }) {}
    std::stop_source source;
    std::stop_callback<std::function<void()>> asked;
  };
  struct Entry {
    std::weak_ptr<Process> process;
    std::shared_ptr<Ending> ending;
  };

  [[nodiscard]] Result<Request> bounded(Request request) const;

  Manager& outside_;
  const Request bounds_;
  mutable std::mutex mutex_;
  Limits default_limits_;
  std::vector<Entry> entries_;
  bool closed_ = false;
};

}  // namespace cordon::sandbox
