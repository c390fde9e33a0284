#include "policy_command.h"

#include <unistd.h>

#include <array>
#include <utility>

#include "base/suggest.h"
#include "command_line.h"
#include "concat.h"
#include "execution/policy_files.h"
#include "help.h"
#include "image_rootfs.h"
#include "marks.h"
#include "message.h"
#include "outcome/decide.h"
#include "policy/builtin_profiles.h"
#include "policy_options.h"
#include "policy_text.h"

namespace cordon::app {
namespace {

constexpr const char* kHelp = "cordon policy --help";
constexpr int kWrongFile = 1;
constexpr int kRefused = 126;

// One file with what it includes, and each of its profiles. What it grants and sets itself has to
// be within what it allows, else it would refuse every run.
Result<policy::Policy> check_file(const std::string& file) {
  const std::vector<std::string> files = {file};
  auto whole = execution::load_policy(files, "", "");
  if (!whole) return whole;
  std::vector<std::string> profiles = whole->profiles;
  profiles.insert(profiles.begin(), "");
  for (const std::string& profile : profiles) {
    const auto policy = execution::load_policy(files, profile, "");
    if (!policy) return policy;
    policy::Asks asks;
    asks.grants = collect_grants(*policy, asks);
    const std::string backend = "linux";
    auto evaluation = evaluate(*policy, asks, {.backend = backend});
    std::erase_if(evaluation.decisions, [](const auto& one) { return one.subject == "backend"; });
    if (auto ok = permitted(evaluation); !ok) return std::unexpected(std::move(ok).error());
  }
  return whole;
}

int check(std::vector<std::string> arguments) {
  constexpr auto kOptions = std::to_array<OptionSpec>({{"--help", "", ""}});
  const auto line = parse_command_line(kOptions, std::move(arguments));
  if (!line) return usage_error(line.error().message, kHelp);
  if (!line->options.empty()) return print(policy_help());
  if (line->operands.empty()) return usage_error("no policy file was given", kHelp);
  int status = 0;
  for (const std::string& file : line->operands) {
    const auto policy = check_file(file);
    if (!policy) {
      complain(policy.error().message);
      status = kWrongFile;
      continue;
    }
    if (const int printed = print(check_line(file, *policy)); printed != 0) return printed;
  }
  return status;
}

int show(std::vector<std::string> arguments) {
  constexpr auto kOptions = std::to_array<OptionSpec>({{"--help", "", ""}});
  const auto line = parse_command_line(kOptions, std::move(arguments));
  if (!line) return usage_error(line.error().message, kHelp);
  if (!line->options.empty()) return print(policy_help());
  if (line->operands.size() > 1) return usage_error("one profile at a time", kHelp);
  std::string names;
  std::vector<std::string_view> known;
  for (const policy::BuiltinProfile& profile : policy::builtin_profiles()) {
    names += concat(profile.name, "\n");
    known.push_back(profile.name);
  }
  if (line->operands.empty()) return print(names);
  const std::string& name = line->operands.front();
  const policy::BuiltinProfile* const profile = policy::find_builtin_profile(name);
  if (profile != nullptr) return print(std::string(profile->text));
  const std::string_view near = base::nearest(name, known);
  return usage_error(concat("there is no built-in profile '", name, "'",
                            near.empty() ? std::string() : concat(" (did you mean '", near, "'?)"),
                            ": 'cordon policy show' lists them"),
                     kHelp);
}

int refuse(const Error& error) {
  complain(error.message);
  return exit_status(outcome::failed_to_start(0, "", {}, error));
}

int explain(std::vector<std::string> arguments) {
  auto options = parse_run_options(std::move(arguments));
  if (!options) return usage_error(options.error().message, kHelp);
  if (options->help) return print(policy_help());
  if (!options->report.empty()) {
    return usage_error("--report: nothing is run, so there is no outcome to write", kHelp);
  }
  const auto image = open_rootfs(*options);  // its variables are judged, too
  if (!image) return refuse(image.error());
  auto policy = load_policy(*options);
  if (!policy) return refuse(policy.error());
  const auto judged = judge_run(*options, *std::move(policy), Purpose::plan);
  if (!judged) return refuse(judged.error());
  const int printed = print(options->json ? decisions_json(*judged)
                                          : decisions_text(*judged, use_colours(STDOUT_FILENO)));
  if (printed != 0) return printed;
  return policy::permitted(judged->answer.evaluation) ? 0 : kRefused;
}

}  // namespace

int policy_command(std::vector<std::string> arguments) {
  constexpr std::array<std::string_view, 3> kVerbs = {"check", "explain", "show"};
  if (arguments.empty()) return usage_error("policy needs check, explain or show", kHelp);
  const std::string verb = std::move(arguments.front());
  arguments.erase(arguments.begin());
  if (verb == "check") return check(std::move(arguments));
  if (verb == "explain") return explain(std::move(arguments));
  if (verb == "show") return show(std::move(arguments));
  if (verb == "--help") return print(policy_help());
  const std::string_view near = base::nearest(verb, kVerbs);
  return usage_error(concat("policy has no '", verb, "'",
                            near.empty() ? std::string() : concat(" (did you mean '", near, "'?)")),
                     kHelp);
}

}  // namespace cordon::app
