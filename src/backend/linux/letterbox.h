// How a parked program gets its letter: what it is to run, and with what.
#pragma once

#include "backend/linux/script_builder.h"
#include "base/fd.h"
#include "cordon/error.h"

namespace cordon::linux_backend {

// Not the status socket: init waits there for a word of its own.
class Letterbox {
 public:
  [[nodiscard]] static Result<Letterbox> make();

  [[nodiscard]] int theirs() const { return theirs_.get(); }
  // After the set-up was sent: only then is it noticed that nobody waits any more.
  void close_theirs() { theirs_.reset(); }
  // When there will be no more letters.
  void close() { ours_.reset(); }
  // Lets the parked program go on with it. Errors: invalid_argument if it is too large; system,
  // when the program is gone.
  [[nodiscard]] Result<void> send(ScriptBuilder& letter);

 private:
  base::Fd ours_;
  base::Fd theirs_;
};

}  // namespace cordon::linux_backend
