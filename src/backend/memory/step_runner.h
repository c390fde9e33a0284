// What each step of a script does.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "backend/memory/task.h"

namespace cordon::memory {

enum class Next : std::uint8_t {
  go_on,    // look at the task's current step, which may be another one now
  blocked,  // the task waits; it will be looked at again when it is made ready
};

class StepRunner {
 public:
  StepRunner(Task& task, Lock& lock) : task_(task), tree_(task.tree_), lock_(lock) {}
  [[nodiscard]] Next run(const Step& step);

 private:
  Next operator()(const Write& step);
  Next operator()(const Flood& step);
  Next operator()(const Sleep& step);
  Next operator()(const Hang& step);
  Next operator()(const ReadLines& step);
  Next operator()(const ReadBlocks& step);
  Next operator()(const Echo& step);
  Next operator()(const DrainStdin& step);
  Next operator()(const CloseStdin& step);
  Next operator()(const Exit& step);
  Next operator()(const Die& step);
  Next operator()(const OnSignal& step);
  Next operator()(const Fork& step);
  Next operator()(const WaitChildren& step);
  Next operator()(const UseCpu& step);
  Next operator()(const UseMemory& step);
  Next operator()(const WriteFile& step);
  Next operator()(const OpenFiles& step);
  Next operator()(const Repeat& step);
  Next operator()(const Call& step);

  [[nodiscard]] Frame& frame() { return task_.frames_.back(); }
  [[nodiscard]] TimePoint now() const;
  // The step is done.
  Next done();
  Next done_then(const SharedProgram& steps);
  // The step is not done; look again at `at`, or when `what` changes.
  Next wait_until(TimePoint at);
  Next wait_for(WaitingFor what);

  // Writes what it can of `bytes`; the rest stays to be written. False: has to wait.
  bool write(Stream stream, const std::shared_ptr<const std::string>& owner, std::string_view bytes,
             std::uint64_t& written);
  void write_real(int fd, std::string_view bytes);
  // There is something to read, or nothing ever will be. False: has to wait.
  bool input_at_hand();
  // The caller may write more.
  void input_taken();
  // Calls a function of the script without the lock, then sees to what it appended.
  void call_out(const std::function<void(Self&)>& function);

  Task& task_;
  Tree& tree_;
  Lock& lock_;
};

}  // namespace cordon::memory
