#include <array>

#include "base/errors.h"
#include "concat.h"
#include "option_values.h"
#include "run_option_parts.h"
#include "workdir/glob.h"

namespace cordon::app {
namespace {

Result<void> apply_workdir(RunOptions& options, const std::string& /*value*/) {
  options.workdir.wanted = true;
  return {};
}

Result<void> apply_cache(RunOptions& options, const std::string& value) {
  return store(options.workdir.cache, parse_path(value));
}

Result<void> apply_keep(RunOptions& options, const std::string& /*value*/) {
  options.workdir.keep = true;
  return {};
}

Result<void> apply_collect(RunOptions& options, const std::string& value) {
  if (const auto glob = workdir::Glob::parse(value); !glob) return std::unexpected(glob.error());
  options.workdir.collect.push_back(value);
  return {};
}

Result<void> apply_into(RunOptions& options, const std::string& value) {
  return store(options.workdir.into, parse_path(value));
}

Result<void> apply_collect_limit(RunOptions& options, const std::string& value) {
  if (auto stored = store(options.workdir.collect_limit, parse_size(value)); !stored) return stored;
  if (options.workdir.collect_limit == 0) return bad_value(value, "lets nothing be collected");
  return {};
}

Result<void> apply_transport(RunOptions& options, const std::string& value) {
  if (value == "stdio") {
    options.log.transport = Transport::stdio;
  } else if (value == "http") {
    options.log.transport = Transport::http;
  } else {
    return bad_value(value, "is no transport: there are stdio and http");
  }
  return {};
}

Result<void> apply_log(RunOptions& options, const std::string& value) {
  if (value.empty()) return bad_value(value, "names no file");
  options.log.file = value;
  return {};
}

constexpr std::string_view kWorkDir = "Work directory";
constexpr std::string_view kStreams = "Transport and log";

constexpr auto kTable = std::to_array<RunOption>({
    {kWorkDir,
     {"--workdir", "",
      "run in a fresh private directory, which is TMPDIR, too,\n"
      "and is removed with all that is in it after the run"},
     apply_workdir},
    {kWorkDir,
     {"--cache", "DIR",
      "make it below DIR, not below ~/.cache/cordon (root:\n"
      "/var/cache/cordon)"},
     apply_cache},
    {kWorkDir, {"--keep", "", "do not remove it; a line on stderr tells where it is"}, apply_keep},
    {kWorkDir,
     {"--collect", "GLOB",
      "copy regular files in it that match, e.g. 'out/**/*.txt',\n"
      "out of it after the run; repeatable"},
     apply_collect},
    {kWorkDir,
     {"--into", "DIR", "where --collect puts them; no file is ever replaced"},
     apply_into},
    {kWorkDir, {"--collect-limit", "SIZE", "most bytes to be collected (1G)"}, apply_collect_limit},
    {kStreams,
     {"--transport", "NAME",
      "stdio (the program talks through its streams) or http (it\n"
      "does not: no input, and its output is a log, on stderr)"},
     apply_transport},
    {kStreams,
     {"--log", "FILE", "add the output to FILE, line by line: '[stdout] line'"},
     apply_log},
});

std::unexpected<Error> bad(std::string message) {
  return base::fail(ErrorCode::invalid_argument, "usage", std::move(message));
}

}  // namespace

std::span<const RunOption> workdir_options() { return kTable; }

Result<void> check_workdir(const RunOptions& options) {
  const WorkDirAsk& ask = options.workdir;
  const auto needs = [](std::string_view option, std::string_view other) {
    return bad(concat(option, " needs ", other));
  };
  if (!ask.wanted) {
    if (ask.keep) return needs("--keep", "--workdir");
    if (!ask.cache.empty()) return needs("--cache", "--workdir");
    if (!ask.collect.empty()) return needs("--collect", "--workdir");
    if (!ask.into.empty()) return needs("--into", "--workdir and --collect");
    if (ask.collect_limit != 0) return needs("--collect-limit", "--workdir and --collect");
    return {};
  }
  if (!ask.collect.empty() && ask.into.empty()) return needs("--collect", "--into DIR");
  if (!ask.into.empty() && ask.collect.empty()) return needs("--into", "--collect GLOB");
  if (ask.collect_limit != 0 && ask.collect.empty()) {
    return needs("--collect-limit", "--collect GLOB");
  }
  if (!options.request.cwd.empty()) {
    return bad("--cwd and --workdir: the work directory is where the program runs; leave one out");
  }
  return {};
}

}  // namespace cordon::app
