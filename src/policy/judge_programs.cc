// Which programs may be run, with which arguments.
#include <algorithm>

#include "base/printable.h"
#include "policy/judges.h"
#include "request/environment.h"

namespace cordon::policy {
namespace {

// Empty: the arguments are right.
std::string argument_fault(const ArgumentRule& rule, const std::vector<std::string>& args) {
  const auto same = [](const Placed<std::string>& one, const std::string& arg) {
    return one.value == arg;
  };
  if (rule.exact && !std::ranges::equal(rule.exact->value, args, same)) {
    return "its arguments are not exactly those of args";
  }
  if (rule.prefix) {
    const Texts& first = rule.prefix->value;
    if (args.size() < first.size() || !std::equal(first.begin(), first.end(), args.begin(), same)) {
      return "its arguments do not begin with args_prefix";
    }
  }
  const auto matches = [](const Placed<std::string>& one, const std::string& arg) {
    return request::glob_matches(one.value, arg);
  };
  if (rule.pattern && !std::ranges::equal(rule.pattern->value, args, matches)) {
    return "its arguments do not match args_pattern";
  }
  return {};
}

struct Ruling {
  const ProgramRule* allowing = nullptr;
  const ProgramRule* nearest = nullptr;  // it names the program, but …
  std::string fault;
};

Ruling judge(const std::vector<ProgramRule>& rules, const ProgramFile& file) {
  Ruling ruling;
  for (const ProgramRule& rule : rules) {
    if (!request::glob_matches(rule.path.value, file.path)) continue;
    std::string fault;
    if (rule.sha256 && rule.sha256->value != file.sha256) {
      fault = "its SHA-256 is " + file.sha256 + ", another";
    } else {
      fault = argument_fault(rule.arguments, file.args);
    }
    if (fault.empty()) {
      ruling.allowing = &rule;
      return ruling;
    }
    ruling.nearest = &rule;
    ruling.fault = std::move(fault);
  }
  return ruling;
}

void refuse(const Case& all, const ProgramFile& file, const Place& place, const Place& asked,
            const std::string& why) {
  all.refuse(file.role, file.path, place, asked,
             (asked.file.empty() ? std::string() : to_string(asked) + ": ") + "the " + file.role +
                 " " + base::printable(file.path) + " " + why);
}

bool check(const Case& all, const Ceiling& ceiling, const ProgramFile& file, const Place& asked,
           Place& decided) {
  if (ceiling.denied_programs) {
    if (const auto* no = match(ceiling.denied_programs->value, file.path)) {
      refuse(all, file, no->place, asked,
             "is denied by " + to_string(no->place) + ": run another, or remove it there");
      return false;
    }
  }
  if (!ceiling.programs) return true;
  const Ruling ruling = judge(*ceiling.programs, file);
  if (ruling.allowing != nullptr) {
    decided = ruling.allowing->path.place;
    return true;
  }
  if (ruling.nearest != nullptr) {
    const Place& place = ruling.nearest->path.place;
    refuse(all, file, place, asked,
           "is not what " + to_string(place) + " allows: " + ruling.fault + "; change one of them");
  } else {
    refuse(all, file, ceiling.programs_place, asked,
           "is not among those that " + to_string(ceiling.programs_place) +
               " allows: run another, or add it there");
  }
  return false;
}

}  // namespace

bool restricts_programs(const Policy& policy) {
  return std::ranges::any_of(policy.ceilings, [](const Ceiling& ceiling) {
    return ceiling.programs || ceiling.denied_programs;
  });
}

bool needs_digests(const Policy& policy) {
  return std::ranges::any_of(policy.ceilings, [](const Ceiling& ceiling) {
    return ceiling.programs && std::ranges::any_of(*ceiling.programs, [](const ProgramRule& rule) {
             return rule.sha256.has_value();
           });
  });
}

void judge_programs(const Policy& policy, const std::vector<ProgramFile>& files, const Asks& asks,
                    Evaluation& evaluation) {
  const Surroundings none;
  const Case all{policy, asks, none, evaluation};
  const Place asked = asks.manifest ? asks.manifest->command.place : option("PROGRAM");
  for (const ProgramFile& file : files) {
    Place decided;
    const bool allowed = std::ranges::all_of(policy.ceilings, [&](const Ceiling& ceiling) {
      return check(all, ceiling, file, asked, decided);
    });
    if (allowed) all.allow(file.role, file.path, decided, asked);
  }
}

}  // namespace cordon::policy
