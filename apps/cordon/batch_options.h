// The options of `cordon batch`: its own, and those of `cordon run` that make sense for many runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cordon/clock.h"
#include "cordon/error.h"
#include "run_options.h"

namespace cordon::app {

inline constexpr std::size_t kMostJobs = 1024;
inline constexpr std::uint64_t kMostCapture = std::uint64_t{64} * 1024 * 1024;

struct BatchOptions {
  RunOptions defaults;  // of every request, without a program
  std::string asked;    // the options that `defaults` come from, for the digests of requests
  std::string input;    // a file, or "-"
  std::size_t jobs = 0;
  std::string results;  // empty: stdout
  bool resume = false;
  bool keep_going = false;
  std::uint64_t capture = 0;  // bytes of each stream
  std::optional<Duration> deadline;
  bool quiet = false;
  bool progress = false;
  bool help = false;  // then nothing else counts
};

struct BatchOption {
  OptionSpec spec;
  Result<void> (*apply)(BatchOptions& options, const std::string& value);
};
// Those of its own.
[[nodiscard]] std::vector<BatchOption> batch_option_table();
// Those of `cordon run` besides that fit.
[[nodiscard]] std::vector<RunOption> batch_run_options();
// Why an option of `cordon run` ("--secret") is none of `cordon batch`; empty: it is one, or there
// is none of that name.
[[nodiscard]] std::string_view not_for_batches(std::string_view option);

// `arguments` is what follows "cordon batch". Error: invalid_argument, the message names the
// option.
[[nodiscard]] Result<BatchOptions> parse_batch_options(std::vector<std::string> arguments);

}  // namespace cordon::app
