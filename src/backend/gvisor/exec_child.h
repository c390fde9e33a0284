// One program beside the main one of a container, for the supervisor.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backend/gvisor/exec_backend.h"
#include "backend/gvisor/file_relay.h"
#include "base/fd.h"
#include "supervise/backend.h"

namespace cordon::gvisor_backend {

// A line of `runsc ps`: pids inside.
struct InsideProcess {
  int pid = 0;
  int parent = 0;
};
[[nodiscard]] std::vector<InsideProcess> parse_processes(std::string_view table);
// Those of `all` that descend from one of `roots`, the roots themselves included if they are there.
[[nodiscard]] std::set<int> descendants(const std::vector<InsideProcess>& all,
                                        const std::set<int>& roots);

class ExecChild final : public supervise::Child {
 public:
  explicit ExecChild(std::shared_ptr<Inside> inside) : inside_(std::move(inside)) {}
  ~ExecChild() override;
  ExecChild(const ExecChild&) = delete;
  ExecChild& operator=(const ExecChild&) = delete;

  [[nodiscard]] Result<void> launch(const supervise::LaunchSpec& spec) override;
  [[nodiscard]] int exit_fd() const override { return pidfd_.get(); }
  [[nodiscard]] std::int64_t os_pid() const override { return pid_; }
  [[nodiscard]] int send(int signal, Reach reach) override;
  [[nodiscard]] std::optional<supervise::Ended> reap() override;
  [[nodiscard]] std::optional<supervise::Sample> sample() const override { return std::nullopt; }
  [[nodiscard]] Enforcement enforcement() const override { return inside_->plan.enforcement; }

 private:
  // Files of this call in the container's directory.
  [[nodiscard]] std::string file(const char* suffix) const { return prefix_ + suffix; }
  [[nodiscard]] Result<void> write_process(const supervise::LaunchSpec& spec) const;
  [[nodiscard]] Result<void> wait_until_begun(int watch);
  [[nodiscard]] Error why_not_begun(const Request& request) const;
  [[nodiscard]] std::set<int> tree() const;
  [[nodiscard]] int send_to(int inside_pid, int signal) const;
  void kill_tree();
  void remove_files() const;

  const std::shared_ptr<Inside> inside_;
  FileRelay relays_[2];
  std::string prefix_;
  pid_t pid_ = -1;  // of runsc, on the host
  base::Fd pidfd_;
  int inside_pid_ = 0;
  bool reaped_ = false;
};

}  // namespace cordon::gvisor_backend
