#include "batch_options.h"

#include <algorithm>
#include <array>
#include <span>
#include <thread>
#include <utility>

#include "base/errors.h"
#include "concat.h"
#include "cordon/run.h"
#include "option_values.h"

namespace cordon::app {
namespace {

Result<void> apply_jobs(BatchOptions& options, const std::string& value) {
  const auto jobs = parse_count(value);
  if (!jobs) return std::unexpected(jobs.error());
  if (*jobs < 1 || *jobs > kMostJobs) {
    return bad_value(value, concat("is not from 1 to ", std::to_string(kMostJobs)));
  }
  options.jobs = *jobs;
  return {};
}

Result<void> apply_results(BatchOptions& options, const std::string& value) {
  if (value.empty()) return bad_value(value, "names no file");
  options.results = value;
  return {};
}

Result<void> apply_resume(BatchOptions& options, const std::string& /*value*/) {
  options.resume = true;
  return {};
}

Result<void> apply_keep_going(BatchOptions& options, const std::string& /*value*/) {
  options.keep_going = true;
  return {};
}

Result<void> apply_capture(BatchOptions& options, const std::string& value) {
  const auto size = parse_size(value);
  if (!size) return std::unexpected(size.error());
  if (*size > kMostCapture) return bad_value(value, "is more than 64M, which is the most");
  options.capture = *size;
  return {};
}

Result<void> apply_deadline(BatchOptions& options, const std::string& value) {
  const auto duration = parse_duration(value);
  if (!duration) return std::unexpected(duration.error());
  options.deadline = *duration;
  return {};
}

Result<void> apply_quiet(BatchOptions& options, const std::string& /*value*/) {
  options.quiet = true;
  return {};
}

Result<void> apply_progress(BatchOptions& options, const std::string& /*value*/) {
  options.progress = true;
  return {};
}

Result<void> apply_explain(BatchOptions& options, const std::string& /*value*/) {
  options.defaults.request.explain = true;
  options.asked += "--explain\n";
  return {};
}

Result<void> apply_help(BatchOptions& options, const std::string& /*value*/) {
  options.help = true;
  return {};
}

constexpr auto kOwn = std::to_array<BatchOption>({
    {{"--jobs", "N", "programs that run at once (one for each processor)"}, apply_jobs},
    {{"--results", "FILE",
      "write the results to FILE, which must not exist yet,\n"
      "instead of stdout"},
     apply_results},
    {{"--resume", "",
      "go on where the batch that wrote FILE was stopped; if\n"
      "there is no FILE, begin"},
     apply_resume},
    {{"--keep-going", "",
      "a line that is no request gets an error as its result;\n"
      "else nothing is run if there is one"},
     apply_keep_going},
    {{"--capture", "SIZE", "bytes of each stream to keep in a result (1M)"}, apply_capture},
    {{"--deadline", "DUR",
      "start nothing any more after DUR: what is left gets an\n"
      "error as its result"},
     apply_deadline},
    {{"--explain", "",
      "tell in each outcome what the program was refused, and\n"
      "which option would allow it"},
     apply_explain},
    {{"--quiet", "", "neither progress nor summary on stderr"}, apply_quiet},
    {{"--progress", "", "progress on stderr even if it is no terminal"}, apply_progress},
    {{"--help", "", "print this"}, apply_help},
});

struct Reason {
  std::string_view option;
  std::string_view why;
};

constexpr std::string_view kOneProgram =
    "each request names its own program: write it into the requests";
constexpr std::string_view kSecret =
    "a secret is for one program, and results are files: use cordon run for each";
constexpr std::string_view kDirectory =
    "requests have no work directories: use cordon run for each, or grant a directory by --write";
constexpr std::string_view kCaptured = "the output of each request is in its result";

constexpr auto kReasons = std::to_array<Reason>({
    {"--manifest", kOneProgram},
    {"--secret", kSecret},
    {"--redact", kSecret},
    {"--no-redact", kSecret},
    {"--workdir", kDirectory},
    {"--cache", kDirectory},
    {"--keep", kDirectory},
    {"--collect", kDirectory},
    {"--into", kDirectory},
    {"--collect-limit", kDirectory},
    {"--rootfs", "a root or an image is for one run: use cordon run"},
    {"--transport", kCaptured},
    {"--log", kCaptured},
    {"--pool", "a batch runs its programs itself: leave it out"},
    {"--reuse", "a batch has no pool that could keep anything: leave it out"},
    {"--json", "results are JSON always: leave it out"},
    {"--report", "the outcome of each request is in its result: see --results"},
});

bool is_own(std::string_view option) {
  return std::ranges::find(kOwn, option, [](auto& own) { return own.spec.name; }) != kOwn.end();
}

// Those of run that are not our own: what fits, and what is only there to be refused with a reason.
std::vector<RunOption> others() {
  std::vector<RunOption> others;
  for (const RunOption& option : run_option_table()) {
    if (!is_own(option.spec.name)) others.push_back(option);
  }
  return others;
}

std::unexpected<Error> usage(std::string message) {
  return base::fail(ErrorCode::invalid_argument, "usage", std::move(message));
}

Result<void> apply(BatchOptions& options, std::span<const RunOption> run,
                   const CommandLine::Given& given) {
  if (given.option < kOwn.size()) return kOwn[given.option].apply(options, given.value);
  const RunOption& option = run[given.option - kOwn.size()];
  if (const auto why = not_for_batches(option.spec.name); !why.empty()) {
    return usage(concat("is no option of a batch: ", why));
  }
  options.asked += concat(option.spec.name, "=", given.value, "\n");
  return option.apply(options.defaults, given.value);
}

Result<void> check_together(const BatchOptions& options) {
  if (options.resume && options.results.empty()) {
    return usage("--resume: needs --results, the file to go on with");
  }
  if (options.quiet && options.progress) return usage("--quiet and --progress: choose one of them");
  if (options.defaults.audit.directory.empty() && !options.defaults.audit.key_file.empty()) {
    return usage("--audit-key: needs --audit");
  }
  return validate(options.defaults.request.limits);
}

}  // namespace

std::vector<BatchOption> batch_option_table() { return {kOwn.begin(), kOwn.end()}; }

std::vector<RunOption> batch_run_options() {
  std::vector<RunOption> left;
  for (const RunOption& option : others()) {
    if (not_for_batches(option.spec.name).empty()) left.push_back(option);
  }
  return left;
}

std::string_view not_for_batches(std::string_view option) {
  const auto at = std::ranges::find(kReasons, option, &Reason::option);
  return at == kReasons.end() ? std::string_view() : at->why;
}

Result<BatchOptions> parse_batch_options(std::vector<std::string> arguments) {
  const std::vector<RunOption> run = others();
  std::vector<OptionSpec> specs;
  specs.reserve(kOwn.size() + run.size());
  for (const BatchOption& option : kOwn) specs.push_back(option.spec);
  for (const RunOption& option : run) specs.push_back(option.spec);
  auto line = parse_command_line(specs, std::move(arguments));
  if (!line) return std::unexpected(std::move(line).error());

  BatchOptions options;
  options.jobs = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostJobs);
  options.capture = kDefaultCapture;
  for (const CommandLine::Given& given : line->options) {
    if (auto applied = apply(options, run, given); !applied) {
      Error error = std::move(applied).error();
      error.message = concat(specs[given.option].name, ": ", error.message);
      return std::unexpected(std::move(error));
    }
  }
  if (options.help) return options;
  if (auto together = check_together(options); !together) {
    return std::unexpected(std::move(together).error());
  }
  if (line->operands.empty()) return usage("no file of requests was given");
  if (line->operands.size() > 1) {
    return usage(concat("one file of requests at a time: '", line->operands[1],
                        "' is one too many (options come before the file)"));
  }
  options.input = std::move(line->operands.front());
  return options;
}

}  // namespace cordon::app
