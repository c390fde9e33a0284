// Random policies and random asks: what is permitted never leaves a ceiling, and no further file
// permits what fewer files refuse. The ceilings are checked by a model that shares nothing with the
// evaluator but the texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "policy/env_names.h"
#include "policy/testing.h"
#include "request/environment.h"
#include "support/count_from.h"

namespace cordon::policy {
namespace {

using Words = std::vector<std::string>;

const Words kPaths = {"/srv", "/srv/a", "/srv/a/b", "/srv/ab", "/data", "/data/key", "/home/me"};
const Words kNames = {"PATH", "HOME", "TOKEN", "LC_ALL", "LC_TIME", "LD_PRELOAD", "NODE_OPTIONS"};
const Words kPatterns = {"*", "LC_*", "T*", "LD_*"};
const Words kPrograms = {"/usr/bin/ls", "/usr/bin/sh", "/opt/tool", "/opt/evil"};
const Words kBackends = {"linux", "posix"};
const Words kNetworks = {"none", "loopback", "host"};

// One file, as plain values.
struct Model {
  bool root = true;
  std::map<std::string, std::uint64_t> limits;
  std::map<std::string, Words> lists;  // "read", "pass" …; absent: no word about it
  std::string network;
  bool no_unix = false;
  bool clean = false;
};

class Chance {
 public:
  explicit Chance(unsigned seed) : engine_(seed) {}
  std::size_t below(std::size_t n) { return engine_() % n; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  const std::string& of(const Words& words) { return words[below(words.size())]; }
  Words some(const Words& words, std::size_t most) {
    Words chosen;
    for (std::size_t n = below(most + 1); n > 0; --n) chosen.push_back(of(words));
    return chosen;
  }

 private:
  std::mt19937 engine_;
};

constexpr std::array<const char*, 9> kLimits = {"timeout", "cpu_time",  "cpu",
                                                "memory",  "pids",      "files",
                                                "output",  "file_size", "max_output_buffer"};

Model random_model(Chance& chance, bool root) {
  Model model{.root = root};
  for (const char* const name : kLimits) {
    if (chance.one_in(3)) model.limits[name] = 3 + chance.below(8);
  }
  const auto list = [&](const char* name, const Words& from) {
    if (chance.one_in(3)) model.lists[name] = chance.some(from, 4);
  };
  for (const char* const name : {"read", "write", "cwd", "deny", "deny_write"}) list(name, kPaths);
  Words names = kNames;
  names.insert(names.end(), kPatterns.begin(), kPatterns.end());
  list("pass", names);
  list("settable", names);
  list("allow_dangerous", kNames);
  list("allowed_programs", kPrograms);
  list("denied_programs", kPrograms);
  list("backends", kBackends);
  list("users", {"me", "7", "root"});
  if (chance.one_in(3)) model.network = chance.of(kNetworks);
  model.no_unix = chance.one_in(4);
  model.clean = chance.one_in(8);
  return model;
}

std::string list_text(const Words& words) {
  std::string text = "[";
  for (const std::string& word : words) text += "\"" + word + "\", ";
  return text + "]\n";
}

// As a file, or with a prefix as a profile of one.
std::string text_of(const Model& model, const std::string& prefix = "") {
  std::map<std::string, std::string> tables;
  const std::set<std::string> paths = {"read", "write", "cwd", "deny", "deny_write"};
  const std::set<std::string> env = {"pass", "settable", "allow_dangerous"};
  for (const auto& [name, words] : model.lists) {
    const std::string table = paths.contains(name) ? "paths" : (env.contains(name) ? "env" : "");
    tables[table] += name + " = " + list_text(words);
  }
  for (const auto& [name, value] : model.limits) {
    const bool time = name == "timeout" || name == "cpu_time";
    tables["limits"] +=
        name + " = " + (time ? "\"" + std::to_string(value) + "s\"" : std::to_string(value)) + "\n";
  }
  if (!model.network.empty()) tables[""] += "network = \"" + model.network + "\"\n";
  if (model.no_unix) tables[""] += "unix_sockets = false\n";
  if (model.clean) tables["env"] += "clean = true\n";
  std::string text;
  for (const auto& [table, lines] : tables) {
    const std::string name = prefix.empty() ? table : prefix + (table.empty() ? "" : "." + table);
    if (!name.empty()) text += "[" + name + "]\n";
    text += lines;
  }
  return text;
}

bool below(const std::string& path, const std::string& top) {
  return path == top || path.starts_with(top + "/");
}
bool in(const Words& tops, const std::string& path) {
  return std::ranges::any_of(tops, [&](const auto& top) { return below(path, top); });
}
bool named(const Words& list, const std::string& name) {
  return std::ranges::any_of(list, [&](const auto& one) {
    const std::size_t star = one.find('*');
    return star == std::string::npos ? one == name : name.starts_with(one.substr(0, star));
  });
}

// Everything that would be run, to be held against each file.
struct Permitted {
  const Request& request;
  std::string cwd;
  std::string backend;
  std::string program;
  std::vector<std::string> environment;  // "NAME=value", as the program sees it
};

void expect_paths_within(const Model& file, const Permitted& run) {
  const auto list = [&](const char* name) -> const Words* {
    const auto at = file.lists.find(name);
    return at == file.lists.end() ? nullptr : &at->second;
  };
  const auto readable = [&](const std::string& path) {
    if (const Words* denied = list("deny")) {
      for (const auto& no : *denied) EXPECT_FALSE(below(path, no) || below(no, path)) << path;
    }
  };
  for (const Grant& grant : run.request.grants) {
    readable(grant.source);
    if (grant.kind == Grant::Kind::write) {
      if (list("read") != nullptr || list("write") != nullptr) {
        EXPECT_TRUE(list("write") != nullptr && in(*list("write"), grant.source)) << grant.source;
      }
      if (const Words* denied = list("deny_write")) {
        for (const auto& no : *denied) {
          EXPECT_FALSE(below(grant.source, no) || below(no, grant.source));
        }
      }
    } else if (list("read") != nullptr) {
      EXPECT_TRUE(in(*list("read"), grant.source) ||
                  (list("write") != nullptr && in(*list("write"), grant.source)));
    }
  }
  readable(run.cwd);
  if (const Words* allowed = list("cwd")) {
    EXPECT_TRUE(in(*allowed, run.cwd)) << run.cwd;
  }
}

void expect_environment_within(const Model& file, const Permitted& run, const Request& asked) {
  for (const std::string& entry : run.environment) {
    const std::string name = entry.substr(0, entry.find('='));
    const bool set = entry.ends_with("=set");
    const char* const list = set ? "settable" : "pass";
    if (file.lists.contains(list)) {
      EXPECT_TRUE(named(file.lists.at(list), name)) << entry;
    }
    if (file.clean) {
      EXPECT_TRUE(set) << entry;
    }
    if (!is_dangerous(name)) continue;
    const auto grants = file.lists.find("allow_dangerous");
    if (file.root) {
      EXPECT_NE(grants, file.lists.end()) << entry;
    }
    if (grants != file.lists.end()) {
      EXPECT_NE(std::ranges::find(grants->second, name), grants->second.end());
    }
    EXPECT_TRUE(set || std::ranges::find(asked.env_pass, name) != asked.env_pass.end()) << entry;
  }
}

void expect_limits_within(const Model& file, const Request& request) {
  using std::chrono::seconds;
  const auto most = [&](const char* name, auto value, auto unit) {
    const auto at = file.limits.find(name);
    if (at == file.limits.end()) return;
    ASSERT_TRUE(value) << name << " has to be set where it is limited";
    EXPECT_LE(*value, unit(at->second)) << name;
  };
  const auto number = [](std::uint64_t n) { return n; };
  const auto time = [](std::uint64_t n) { return Duration(seconds(n)); };
  most("timeout", std::optional(request.timeout == Duration{0} ? kDefaultTimeout : request.timeout),
       time);
  most("cpu_time", request.limits.cpu_time, time);
  most("cpu", request.limits.cpu_millicores, number);
  most("memory", request.limits.memory_bytes, number);
  most("pids", request.limits.processes, number);
  most("files", request.limits.open_files, number);
  most("output", request.limits.output_bytes, number);
  most("file_size", request.limits.file_size_bytes, number);
  most("max_output_buffer", std::optional(request.event_buffer), number);
}

void expect_within(const Model& file, const Permitted& run, const Request& asked) {
  expect_limits_within(file, run.request);
  expect_paths_within(file, run);
  expect_environment_within(file, run, asked);
  if (!file.network.empty()) {
    const auto most = std::ranges::find(kNetworks, file.network) - kNetworks.begin();
    EXPECT_LE(static_cast<std::ptrdiff_t>(run.request.network), most);
    if (most < 2) {
      EXPECT_EQ(run.backend, "linux");
    }
  }
  if (file.no_unix) {
    EXPECT_FALSE(run.request.unix_sockets);
  }
  const auto has = [&](const char* list, const std::string& word) {
    return std::ranges::find(file.lists.at(list), word) != file.lists.at(list).end();
  };
  if (file.lists.contains("backends")) {
    EXPECT_TRUE(has("backends", run.backend));
  }
  if (file.lists.contains("allowed_programs")) {
    EXPECT_TRUE(has("allowed_programs", run.program));
  }
  if (file.lists.contains("denied_programs")) {
    EXPECT_FALSE(has("denied_programs", run.program));
  }
  if (file.lists.contains("users")) {
    EXPECT_TRUE(has("users", "me") || has("users", "7"));
  }
}

Request random_request(Chance& chance) {
  Request request;
  const auto maybe = [&](auto& field) {
    if (chance.one_in(4)) field = 3 + static_cast<std::uint32_t>(chance.below(8));
  };
  maybe(request.limits.memory_bytes);
  maybe(request.limits.processes);
  maybe(request.limits.open_files);
  maybe(request.limits.cpu_millicores);
  maybe(request.limits.output_bytes);
  maybe(request.event_buffer);
  if (chance.one_in(4)) request.timeout = std::chrono::seconds(3 + chance.below(8));
  if (chance.one_in(20)) request.timeout = kNoTimeout;
  if (chance.one_in(3)) request.grants.push_back(Grant::read(chance.of(kPaths)));
  if (chance.one_in(4)) request.grants.push_back(Grant::write(chance.of(kPaths)));
  if (chance.one_in(5)) request.env.push_back({chance.of(kNames), "set"});
  if (chance.one_in(5)) request.env_pass.push_back(chance.of(kNames));
  if (chance.one_in(5)) request.env_pass.push_back(chance.of(kPatterns));
  if (chance.one_in(3)) request.network = static_cast<Network>(chance.below(3));
  return request;
}

class Trial {
 public:
  explicit Trial(unsigned seed) : chance_(seed) {
    for (std::size_t n = 1 + chance_.below(3); n > 0; --n) add_file();
    asks_.request = random_request(chance_);
    here_.cwd = chance_.of(kPaths);
    here_.backend = chance_.one_in(8) ? "posix" : "linux";
    here_.isolates = here_.backend == "linux";
    here_.user = UserFacts{7, 7, "me", "me", 7};
    for (const std::string& name : kNames) here_.environment.push_back(name + "=caller");
    program_ = chance_.of(kPrograms);
  }

  // True if it was permitted; then it was within every file.
  bool run() {
    const auto policy = assemble(roots_, profile_, reader_of(files_), {});
    EXPECT_TRUE(policy) << policy.error().message;
    if (!policy) return false;
    const auto [allowed, request] = ask(*policy);
    if (!allowed) return false;
    const std::vector<std::string_view> host(here_.environment.begin(), here_.environment.end());
    const Permitted permitted{request, here_.cwd, here_.backend, program_,
                              request::resolve_environment(request, host)};
    for (const Model& model : models_) expect_within(model, permitted, asks_.request);
    // Whatever is permitted by all is permitted by fewer.
    for (std::size_t fewer = 1; fewer < roots_.size(); ++fewer) {
      const auto some = assemble(std::span(roots_).first(fewer), "", reader_of(files_), {});
      EXPECT_TRUE(some && ask(*some).first) << "a later file has widened an earlier one";
    }
    return true;
  }

  [[nodiscard]] std::string describe() const {
    std::string all;
    for (const auto& [name, text] : files_) all += "--- " + name + "\n" + text;
    return all;
  }

 private:
  void add_file() {
    const std::string name = "/" + std::to_string(roots_.size()) + ".toml";
    std::string text;
    if (chance_.one_in(3)) {
      const std::string other = "inc" + std::to_string(roots_.size()) + ".toml";
      models_.push_back(random_model(chance_, false));
      files_["/" + other] = text_of(models_.back());
      text += "include = [\"" + other + "\"]\n";
    }
    models_.push_back(random_model(chance_, true));
    text += text_of(models_.back());
    if (chance_.one_in(3)) {
      models_.push_back(random_model(chance_, false));
      text += "[profiles.p]\n" + text_of(models_.back(), "profiles.p");
      profile_ = "p";
      // An empty table twice is an error of TOML.
      const std::string twice = "[profiles.p]\n[profiles.p]\n";
      if (const auto at = text.find(twice); at != std::string::npos)
        text.erase(at, twice.size() / 2);
    }
    files_[name] = text;
    roots_.push_back(name);
  }

  std::pair<bool, Request> ask(const Policy& policy) {
    asks_.grants = collect_grants(policy, asks_);
    Evaluation evaluation = evaluate(policy, asks_, here_);
    judge_programs(policy, {{.path = program_, .role = "program"}}, asks_, evaluation);
    return {permitted(evaluation).has_value(), evaluation.request};
  }

  Chance chance_;
  Files files_;
  Words roots_;
  std::string profile_;
  std::vector<Model> models_;
  Asks asks_;
  Surroundings here_;
  std::string program_;
};

TEST(PolicyCeilings, NoCombinationOfAsksLeavesThem) {
  const int count = support::count_from("CORDON_SOAK_POLICIES", 2000);
  int allowed = 0;
  for (int seed = 0; seed < count; ++seed) {
    Trial trial(static_cast<unsigned>(seed));
    allowed += trial.run() ? 1 : 0;
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed << "\n" << trial.describe();
  }
  // Else nothing was tested.
  EXPECT_GT(allowed, count / 50);
  EXPECT_LT(allowed, count);
}

}  // namespace
}  // namespace cordon::policy
