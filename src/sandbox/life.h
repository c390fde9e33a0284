// The life of a sandbox: the state machine of transitions.h over an Engine. What Sandbox does, for
// any engine; see cordon/sandbox.h for what each method promises. Thread-safe.
//
// `gate_` orders changes (and is held while one goes on), `mutex_` guards the fields (and is held
// for moments). Nobody waits for the gate with the mutex held. The container is used under either
// and dropped under both.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "cordon/sandbox.h"
#include "sandbox/gate.h"
#include "sandbox/life_directory.h"
#include "sandbox/life_records.h"
#include "sandbox/transitions.h"
#include "supervise/container.h"

namespace cordon::sandbox {

class Life {
 public:
  // `state`: where each life has its directory; empty: none is made.
  Life(std::unique_ptr<supervise::Engine> engine, Request request, std::string id,
       std::filesystem::path state, std::optional<audit::Settings> audit = {});
  ~Life();
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;

  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] const Request& request() const { return request_; }
  [[nodiscard]] std::string container_id() const;
  [[nodiscard]] SandboxState state() const;
  [[nodiscard]] std::string failure() const;
  [[nodiscard]] std::string_view engine_name() const { return engine_->name(); }
  // Nothing has been done to it yet.
  [[nodiscard]] bool untouched() const;

  [[nodiscard]] Result<void> create();
  [[nodiscard]] Result<void> restore(const std::filesystem::path& image);
  // Not started.
  [[nodiscard]] Result<std::shared_ptr<Process>> make_inside(Request request);
  [[nodiscard]] Result<std::shared_ptr<Process>> execute(Request request);
  [[nodiscard]] Result<std::shared_ptr<Process>> connect(ProcessId id) const;
  [[nodiscard]] Result<std::size_t> write_stdin(std::string_view data, Duration patience);
  [[nodiscard]] Result<void> checkpoint(const std::filesystem::path& image,
                                        CheckpointOptions options);
  [[nodiscard]] Result<void> stop(Duration grace);
  [[nodiscard]] Result<void> remove();

  [[nodiscard]] std::shared_ptr<Process> main() const;
  [[nodiscard]] std::vector<std::shared_ptr<Process>> processes() const;

  // Calls `use` with the manager of what is inside, which stays as long as that takes.
  [[nodiscard]] Result<void> with_inside(Operation operation,
                                         const std::function<void(Manager&)>& use) const;

 private:
  using Maker =
      std::function<Result<std::unique_ptr<supervise::Container>>(supervise::ContainerSpec spec)>;
  enum class Removal : std::uint8_t { none, begun, done };

  [[nodiscard]] Result<void> bring_to_life(const std::string& how, const Maker& make);
  // A process inside, started or only made; recorded.
  [[nodiscard]] Result<std::shared_ptr<Process>> add_inside(Request request, bool start);
  [[nodiscard]] Result<void> fail_with(Error error);
  [[nodiscard]] Error waits_for_itself(Operation operation) const;

  // With the mutex.
  void look() const;  // has it ended, or broken, by itself?
  [[nodiscard]] Result<void> check(Operation operation) const;
  [[nodiscard]] std::string why() const;
  [[nodiscard]] std::vector<std::shared_ptr<Process>> list() const;
  [[nodiscard]] std::unique_ptr<supervise::Container> take_container();

  const std::unique_ptr<supervise::Engine> engine_;
  const Request request_;
  const std::string id_;
  const std::filesystem::path state_directory_;

  LifeRecords records_;
  mutable Gate gate_;
  mutable std::mutex mutex_;
  mutable SandboxState state_ = SandboxState::initialized;
  mutable std::string failure_;
  std::string container_id_;
  std::unique_ptr<supervise::Container> container_;
  std::shared_ptr<Process> main_;
  std::vector<std::shared_ptr<Process>> remembered_;  // when there is no container any more
  LifeDirectory directory_;                           // of whoever is in the gate alone
  bool stopping_ = false;
  Removal removal_ = Removal::none;
};

}  // namespace cordon::sandbox
