#include "batch_command.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "base/printable.h"
#include "batch_input.h"
#include "batch_loop.h"
#include "batch_options.h"
#include "batch_output.h"
#include "batch_progress.h"
#include "batch_request.h"
#include "concat.h"
#include "make_manager.h"
#include "message.h"
#include "policy_options.h"

namespace cordon::app {
namespace {

constexpr int kNotAllWell = 1;
constexpr int kSignalled = 128;
constexpr std::uint64_t kMostReported = 20;

int own_failure(const Error& error) {
  complain(error.message);
  return kOwnFailure;
}

// How many requests there are. Nothing: something is wrong with them, and was said.
std::optional<std::uint64_t> check_input(BatchInput& input, const BatchOptions& options) {
  LineReader lines(input, kLongestRequest);
  std::uint64_t requests = 0;
  std::uint64_t wrong = 0;
  while (true) {
    const auto line = lines.next();
    if (!line) {
      complain(line.error().message);
      return std::nullopt;
    }
    if (!*line) break;
    ++requests;
    if (options.keep_going) continue;
    const auto request = read_request(**line, input.name(), options.defaults);
    if (!request && ++wrong <= kMostReported) complain(request.error().message);
  }
  if (wrong == 0) return requests;
  complain(concat(wrong > kMostReported
                      ? concat("and ", std::to_string(wrong - kMostReported), " more lines; ")
                      : std::string(),
                  "nothing was run: correct ", wrong == 1 ? "it" : "them",
                  ", or add --keep-going to run the others"));
  return std::nullopt;
}

Result<ResultsFile> open_results(const BatchOptions& options, LineReader& requests, Tally& tally,
                                 Resumed& resumed) {
  if (options.results.empty()) return ResultsFile();
  if (!options.resume) return ResultsFile::create(options.results);
  return ResultsFile::resume(options.results, requests, options.asked, tally, resumed);
}

void note_resumed(const BatchOptions& options, const Resumed& resumed) {
  if (!resumed.torn) return;
  complain(concat(base::printable(options.results),
                  " ended in the middle of a result, which was cut off: its request is run again"));
}

// What was done and how it ended. Returns the exit status.
int conclude(const BatchEnd& end, const BatchOptions& options, const ResultsFile& results,
             std::uint64_t done_before, std::uint64_t total, const Tally& tally) {
  if (end.failure) complain(end.failure->message);
  const bool stopped = end.signal != 0 || end.failure;
  if (stopped && !options.quiet) {
    complain(concat("stopped: ", std::to_string(done_before + end.written), " of ",
                    std::to_string(total), " results are written",
                    results.resumable() ? "; the same command with --resume goes on" : ""));
  } else if (!options.quiet) {
    complain(summary_line(end.progress, tally));
  }
  if (end.signal != 0) return kSignalled + end.signal;
  if (end.failure || !end.recorded) return kOwnFailure;
  return tally.all_well() ? 0 : kNotAllWell;
}

int run(const BatchOptions& options, BatchInput& input, std::uint64_t total) {
  const auto policy = load_policy(options.defaults);
  if (!policy) return own_failure(policy.error());
  auto audit = audit_settings(*policy, options.defaults);
  if (!audit) return own_failure(audit.error());

  if (const auto safe = check_results_out_of_reach(options.results, options.defaults.request);
      !safe) {
    return own_failure(safe.error());
  }

  const auto manager = make_manager(options.defaults.backend);
  if (!manager) return own_failure(manager.error());

  LineReader requests(input, kLongestRequest);
  Tally tally;
  Resumed resumed;
  const auto results = open_results(options, requests, tally, resumed);
  if (!results) return own_failure(results.error());
  note_resumed(options, resumed);

  const BatchShared shared{.manager = **manager,
                           .policy = *policy,
                           .audit = *std::move(audit),
                           .results = results->resumable() ? options.results : ""};
  ProgressDisplay display(options);
  const BatchEnd end = run_batch({.options = options,
                                  .shared = shared,
                                  .input = input,
                                  .requests = requests,
                                  .results = *results,
                                  .display = display,
                                  .tally = tally,
                                  .total = total,
                                  .done = resumed.done});
  display.clear();
  return conclude(end, options, *results, resumed.done, total, tally);
}

}  // namespace

int batch_command(std::vector<std::string> arguments) {
  const auto options = parse_batch_options(std::move(arguments));
  if (!options) return usage_error(options.error().message, "cordon batch --help");
  if (options->help) return print(batch_help());
  auto input = BatchInput::open(options->input);
  if (!input) return own_failure(input.error());
  const auto total = check_input(*input, *options);
  if (!total) return kOwnFailure;
  input->seal();
  return run(*options, *input, *total);
}

}  // namespace cordon::app
