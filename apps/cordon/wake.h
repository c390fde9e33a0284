// A switch that can be waited for with poll(): off, then on for good. Thread-safe.
#pragma once

#include "base/fd.h"
#include "cordon/error.h"

namespace cordon::app {

class Wake {
 public:
  // Error: no descriptors left.
  [[nodiscard]] static Result<Wake> create();

  void set() const;
  // Readable once set.
  [[nodiscard]] int fd() const { return event_.get(); }

 private:
  Wake() = default;
  base::Fd event_;
};

}  // namespace cordon::app
