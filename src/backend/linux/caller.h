// Who calls, and from where: what a plan has to know of this process.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "plan/sandbox_plan.h"

namespace cordon::linux_backend {

[[nodiscard]] plan::Caller caller_now();

// The same for one who asks before each run: what the kernel calls the caller's directories is
// looked up once for each of their names. Thread-safe.
class Callers {
 public:
  [[nodiscard]] plan::Caller now();

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> real_;
};

}  // namespace cordon::linux_backend
