// The programs of a sandbox that its supervisor knows: those that run, and the last ones that have
// ended. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "cordon/error.h"
#include "cordon/sandbox.h"
#include "sandbox_kept.h"
#include "sandbox_messages.h"
#include "sandbox_store.h"

namespace cordon::app::sandbox {

class Programs {
 public:
  // `main_ended` is called once, from another thread, when the main program has ended.
  Programs(Sandbox& sandbox, std::function<void()> main_ended)
      : sandbox_(sandbox), main_ended_(std::move(main_ended)) {}
  // Everything inside must have ended, or be about to.
  ~Programs() = default;
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;

  // The main program, once the sandbox runs.
  [[nodiscard]] Result<void> add_main();
  // Starts another one. Errors: those of the sandbox, and of the start.
  [[nodiscard]] Result<std::shared_ptr<Kept>> execute(Exec ask, int in);
  // One of them; 0: the main one. Error: not_found.
  [[nodiscard]] Result<std::shared_ptr<Kept>> find(ProcessId process) const;
  [[nodiscard]] std::vector<Row> rows() const;

  // Writes what is kept of all of them to files in the entry's directory.
  [[nodiscard]] Result<void> save(const Entry& entry) const;

 private:
  void forget_old();  // with the lock held

  Sandbox& sandbox_;
  const std::function<void()> main_ended_;
  std::atomic<ProcessId> last_ = 0;  // number
  mutable std::mutex mutex_;
  std::shared_ptr<Kept> main_;
  std::vector<std::shared_ptr<Kept>> executed_;  // in the order of their start
};

// What is left of a program's output when its sandbox has ended.
struct SavedLog {
  Row row{};
  std::vector<Output> output{};
};
template <typename Codec>
void carry(Codec& codec, SavedLog& value) {
  auto& [row, output] = value;
  codec.all(row, output);
}
// Of a sandbox that is at rest; all of its programs, the main one first.
[[nodiscard]] Result<std::vector<SavedLog>> read_logs(const Entry& entry);

}  // namespace cordon::app::sandbox
