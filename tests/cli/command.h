// Runs the built command as a user does, and looks at what comes of it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"

namespace cordon::cli {

// How long a test waits for an event that has to come. Reached only when something is wrong.
inline constexpr auto kPatience = std::chrono::seconds(20);

struct Ended {
  int status = -1;  // exit status, or minus the signal that ended the command
  std::string out;
  std::string err;
  std::chrono::nanoseconds wall{0};
};

// The command, started. Ended with SIGKILL if the test does not wait for it.
class Running {
 public:
  Running(pid_t pid, base::Fd in, base::Fd out, base::Fd err);
  ~Running();
  Running(Running&& other) noexcept;
  Running& operator=(Running&&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int signal) const;
  // Waits until `text` has come on stdout or the terminal; false when it never did.
  [[nodiscard]] bool reads(std::string_view text);
  // Written while reads() and wait() wait.
  void types(std::string_view text);
  void types_all(std::string text);  // … then end of file
  void hang_up();                    // the terminal goes away
  // Waits for the end of the command itself, and takes what it wrote.
  [[nodiscard]] Ended wait();
  [[nodiscard]] const std::string& out() const { return out_; }

 private:
  [[nodiscard]] bool pump(std::chrono::steady_clock::time_point until);

  pid_t pid_;
  base::Fd in_;
  base::Fd out_fd_;
  base::Fd err_fd_;
  base::Fd pidfd_;
  std::string to_write_;
  std::string out_;
  std::string err_;
  bool close_when_written_ = false;
  std::size_t searched_ = 0;  // reads() has used up to here
  std::chrono::steady_clock::time_point started_;
};

class Command {
 public:
  // "cordon" and these.
  explicit Command(std::vector<std::string> arguments);
  // Another program; for completion scripts.
  static Command program(std::vector<std::string> arguments);

  Command& input(std::string text);  // stdin: this; without it /dev/null
  Command& keep_input_open();        // stdin: Running::types()
  Command& closed(std::initializer_list<int> descriptors);
  Command& environment(std::string name, std::string value);
  Command& ignoring(int signal);  // starts with this signal ignored
  Command& redirect(int descriptor, std::string file);

  [[nodiscard]] Running start();
  [[nodiscard]] Ended run() { return start().wait(); }
  // With a controlling terminal on stdin, stdout and stderr. `terminal` is the path of the slave.
  [[nodiscard]] Running start_on(const std::string& terminal, base::Fd master);

 private:
  [[nodiscard]] pid_t spawn(void* actions, short flags);

  std::vector<std::string> arguments_;
  std::string input_;
  bool has_input_ = false;
  bool keep_open_ = false;
  std::vector<int> closed_;
  std::vector<int> ignored_;
  std::vector<std::pair<std::string, std::string>> environment_;
  std::vector<std::pair<int, std::string>> redirected_;
};

// cordon({"run", "--", "true"})
[[nodiscard]] Ended cordon(std::vector<std::string> arguments);

}  // namespace cordon::cli
