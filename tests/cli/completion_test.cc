// The completion scripts, driven by their shells where these are installed, offer what --help
// lists: no more, no less.
#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "fixture.h"

namespace cordon::cli {
namespace {

using Words = std::set<std::string>;

Words all_matches(const std::string& text, const std::string& pattern) {
  Words words;
  const std::regex regex(pattern);
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it) {
    words.insert((*it)[1]);
  }
  return words;
}

Words options_in_help() { return all_matches(cordon({"run", "--help"}).out, "\n  (--[a-z-]+)"); }

// A plan leaves nothing to report.
Words options_of_plan() {
  Words options = options_in_help();
  options.erase("--report");
  return options;
}

// What a server writes is its client's.
const Words kWrapOptions = {"--name", "--yes", "--dry-run", "--json", "--help"};

Words options_of_mcp_run() {
  Words options = options_in_help();
  for (const char* const other : {"--json", "--redact", "--transport"}) options.erase(other);
  options.insert(
      {"--config", "--name", "--set", "--package", "--srt", "--allow-tool", "--deny-tool"});
  return options;
}

// There is no one outcome, and what the servers keep goes with them.
Words options_of_mcp_serve() {
  Words options = options_in_help();
  for (const char* const other :
       {"--redact", "--transport", "--report", "--log", "--collect", "--into", "--collect-limit"}) {
    options.erase(other);
  }
  options.merge(all_matches(cordon({"mcp", "serve", "--help"}).out, "\n  (--[a-z-]+)"));
  options.insert({"--set", "--package", "--srt", "--allow-tool", "--deny-tool"});
  return options;
}

Words options_of_mcp_inspect() {
  Words options = options_of_mcp_run();
  options.erase("--log");
  options.insert({"--json", "--call", "--arg", "--args", "--wait"});
  return options;
}

Words options_of_batch() { return all_matches(cordon({"batch", "--help"}).out, "\n  (--[a-z-]+)"); }

// Those in the part of the command's help that begins with the verb.
Words options_of(const std::string& command, const std::string& verb) {
  const std::string help = cordon({command, "--help"}).out;
  const std::size_t begin = help.find("\n" + verb + " ");
  const std::size_t end = help.find("\n\n", begin);
  Words options = all_matches(help.substr(begin, end - begin), "\n  (--[a-z-]+)");
  options.insert("--help");
  return options;
}
Words audit_options(const std::string& verb) { return options_of("audit", verb); }
Words pool_options(const std::string& verb) { return options_of("pool", verb); }

Words lines(const std::string& text) {
  Words words;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty()) words.insert(line.substr(0, line.find('\t')));  // fish adds descriptions
  }
  return words;
}

bool installed(const std::string& shell) {
  return Command::program({"sh", "-c", "command -v " + shell}).run().status == 0;
}

class Completion : public CliTest {
 protected:
  // What is offered at the end of these words.
  [[nodiscard]] Words bash(const std::vector<std::string>& words) const {
    std::string command = "source '" + path("bash") + "'; COMP_WORDS=(";
    for (const std::string& word : words) command += "'" + word + "' ";
    command +=
        "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _cordon; printf '%s\\n' \"${COMPREPLY[@]}\"";
    return lines(Command::program({"bash", "--norc", "-c", command}).run().out);
  }
  [[nodiscard]] Words fish(const std::string& line) const {
    return lines(Command::program({"fish", "--no-config", "-c",
                                   "source '" + path("fish") + "'; complete -C '" + line + "'"})
                     .environment("HOME", directory())
                     .run()
                     .out);
  }
  void SetUp() override {
    CliTest::SetUp();
    for (const char* const shell : {"bash", "zsh", "fish"}) {
      const Ended ended = cordon({"completion", shell});
      ASSERT_EQ(ended.status, 0);
      (void)file(shell, ended.out);
    }
  }
};

TEST_F(Completion, ScriptsAreTheInstalledOnes) {
  const std::string source = CORDON_COMPLETIONS;
  EXPECT_EQ(read_file(path("bash")), read_file(source + "/cordon.bash"));
  EXPECT_EQ(read_file(path("zsh")), read_file(source + "/_cordon"));
  EXPECT_EQ(read_file(path("fish")), read_file(source + "/cordon.fish"));
}

TEST_F(Completion, BashOffersTheOptionsOfTheHelp) {
  if (!installed("bash")) CORDON_SKIP("shells", "bash is not installed");
  EXPECT_EQ(bash({"cordon", "run", "--"}), options_in_help());
  EXPECT_EQ(bash({"cordon", "run", "--json", "--timeout", "5s", "--"}), options_in_help());
  EXPECT_EQ(bash({"cordon", "run", "--cp"}), (Words{"--cpu-time", "--cpus"}));
  EXPECT_EQ(bash({"cordon", "run", "--pids-kill", "--no-unix", "--"}), options_in_help());
  EXPECT_EQ(bash({"cordon", "plan", "--"}), options_of_plan());
  EXPECT_EQ(bash({"cordon", "batch", "--"}), options_of_batch());
  EXPECT_EQ(bash({"cordon", "batch", "--resume", "--jobs", "2", "--"}), options_of_batch());
  EXPECT_EQ(bash({"cordon", "batch", "--resume", "--net", ""}),
            (Words{"none", "loopback", "host"}));
  EXPECT_EQ(bash({"cordon", "doctor", ""}), (Words{"--json", "--help"}));
  EXPECT_EQ(bash({"cordon", "run", "--net", ""}), (Words{"none", "loopback", "host"}));
  EXPECT_EQ(bash({"cordon", ""}),
            (Words{"run", "batch", "plan", "policy", "doctor", "audit", "explain", "pool",
                   "sandbox", "mcp", "completion", "help", "--help", "--version"}));
  EXPECT_EQ(bash({"cordon", "mcp", "serve", "--shared", "--"}), options_of_mcp_serve());
  EXPECT_EQ(bash({"cordon", "mcp", ""}),
            (Words{"run", "serve", "inspect", "wrap", "unwrap", "--help"}));
  EXPECT_EQ(bash({"cordon", "mcp", "wrap", "--"}), kWrapOptions);
  EXPECT_EQ(bash({"cordon", "mcp", "unwrap", "--"}), kWrapOptions);
  EXPECT_EQ(bash({"cordon", "mcp", "run", "--"}), options_of_mcp_run());
  EXPECT_EQ(bash({"cordon", "mcp", "inspect", "--"}), options_of_mcp_inspect());
  EXPECT_EQ(bash({"cordon", "pool", ""}), (Words{"start", "status", "stop", "--help"}));
  EXPECT_EQ(bash({"cordon", "pool", "start", "--"}), pool_options("start"));
  EXPECT_EQ(bash({"cordon", "pool", "status", "--"}), pool_options("status"));
  EXPECT_EQ(bash({"cordon", "pool", "stop", "--"}), pool_options("stop"));
  EXPECT_EQ(bash({"cordon", "run", "--pool", ""}), (Words{"auto", "off", "only"}));
  EXPECT_EQ(bash({"cordon", "audit", "show", "--"}), audit_options("show"));
  EXPECT_EQ(bash({"cordon", "audit", "verify", "d", "--"}), audit_options("verify"));
  EXPECT_EQ(bash({"cordon", "audit", "s"}), Words{"show"});
  EXPECT_EQ(bash({"cordon", "policy", ""}), (Words{"check", "explain", "show", "--help"}));
  EXPECT_EQ(bash({"cordon", "policy", "explain", "--json", "--"}), options_of_plan());
  EXPECT_EQ(bash({"cordon", "explain", ""}), (Words{"--audit", "--json", "--help"}));
  EXPECT_EQ(bash({"cordon", "completion", ""}), (Words{"bash", "zsh", "fish"}));
  EXPECT_EQ(bash({"cordon", "run", "--backend", ""}), (Words{"auto", "gvisor", "linux", "posix"}));
  EXPECT_EQ(bash({"cordon", "run", "--require", "memory,net"}), Words{"memory,network"});
  EXPECT_TRUE(bash({"cordon", "run", "--json", "tru"}).contains("true"));
}

TEST_F(Completion, FishOffersTheOptionsOfTheHelp) {
  if (!installed("fish")) CORDON_SKIP("shells", "fish is not installed");
  EXPECT_EQ(fish("cordon run --"), options_in_help());
  EXPECT_EQ(fish("cordon run --json --timeout 5s --"), options_in_help());
  EXPECT_EQ(fish("cordon run --pids-kill --no-unix --"), options_in_help());
  EXPECT_EQ(fish("cordon plan --"), options_of_plan());
  EXPECT_EQ(fish("cordon run --cwd plan --"), options_in_help());
  EXPECT_EQ(fish("cordon batch --"), options_of_batch());
  EXPECT_EQ(fish("cordon batch --resume --jobs 2 --"), options_of_batch());
  EXPECT_EQ(fish("cordon batch --net "), (Words{"none", "loopback", "host"}));
  EXPECT_EQ(fish("cordon doctor --"), (Words{"--json", "--help"}));
  EXPECT_EQ(fish("cordon run --net "), (Words{"none", "loopback", "host"}));
  EXPECT_EQ(fish("cordon "), (Words{"run", "batch", "plan", "policy", "doctor", "audit", "explain",
                                    "pool", "sandbox", "mcp", "completion", "help"}));
  EXPECT_EQ(fish("cordon mcp serve --shared --"), options_of_mcp_serve());
  EXPECT_EQ(fish("cordon mcp "), (Words{"run", "serve", "inspect", "wrap", "unwrap"}));
  EXPECT_EQ(fish("cordon mcp wrap --"), kWrapOptions);
  EXPECT_EQ(fish("cordon mcp unwrap --"), kWrapOptions);
  EXPECT_EQ(fish("cordon mcp run --"), options_of_mcp_run());
  EXPECT_EQ(fish("cordon mcp inspect --"), options_of_mcp_inspect());
  EXPECT_EQ(fish("cordon pool "), (Words{"start", "status", "stop"}));
  EXPECT_EQ(fish("cordon pool start --"), pool_options("start"));
  EXPECT_EQ(fish("cordon pool status --"), pool_options("status"));
  EXPECT_EQ(fish("cordon pool stop --"), pool_options("stop"));
  EXPECT_EQ(fish("cordon run --pool "), (Words{"auto", "off", "only"}));
  EXPECT_EQ(fish("cordon audit show --"), audit_options("show"));
  EXPECT_EQ(fish("cordon audit verify --"), audit_options("verify"));
  EXPECT_EQ(fish("cordon policy "), (Words{"check", "explain", "show"}));
  EXPECT_EQ(fish("cordon policy explain --"), options_of_plan());
  EXPECT_EQ(fish("cordon policy explain --json --"), options_of_plan());
  EXPECT_EQ(fish("cordon explain --"), (Words{"--audit", "--json", "--help"}));
  EXPECT_EQ(fish("cordon run --backend "), (Words{"auto", "gvisor", "linux", "posix"}));
  EXPECT_TRUE(fish("cordon run --require memory,net").contains("memory,network"));
  EXPECT_TRUE(fish("cordon run --json tru").contains("true"));
  EXPECT_FALSE(fish("cordon run ls --js").contains("--json"));
}

// What each verb of `cordon sandbox` takes.
const std::map<std::string, Words>& sandbox_options() {
  static const std::map<std::string, Words> kOptions = {
      {"create",
       {"--timeout",   "--grace",         "--cpu-time",  "--cpus",      "--memory", "--pids",
        "--pids-kill", "--files",         "--file-size", "--output",    "--read",   "--write",
        "--bind",      "--tmpfs",         "--rootfs",    "--user",      "--net",    "--no-unix",
        "--policy",    "--profile",       "--audit",     "--audit-key", "--cwd",    "--env",
        "--env-pass",  "--cgroup-parent", "--require",   "--backend",   "--tty",    "--json",
        "--help"}},
      {"exec", {"--timeout",   "--grace",     "--cpu-time",  "--cpus",   "--memory",   "--pids",
                "--pids-kill", "--files",     "--file-size", "--output", "--policy",   "--profile",
                "--audit",     "--audit-key", "--cwd",       "--env",    "--env-pass", "--report",
                "--tty",       "--detach",    "--json",      "--help"}},
      {"connect", {"--json", "--help"}},
      {"ps", {"--json", "--help"}},
      {"logs", {"--follow", "--json", "--help"}},
      {"cp", {"--json", "--help"}},
      {"checkpoint", {"--leave-running", "--quiet", "--json", "--help"}},
      {"restore", {"--audit", "--audit-key", "--quiet", "--json", "--help"}},
      {"stop", {"--grace", "--json", "--help"}},
      {"rm", {"--json", "--help"}},
      {"ls", {"--json", "--help"}},
  };
  return kOptions;
}

TEST_F(Completion, OffersTheOptionsOfSandboxes) {
  const std::string script = read_file(path("zsh"));
  const std::string zsh = script.substr(script.find("_cordon_sandbox() {"));
  Words all;
  for (const auto& [verb, options] : sandbox_options()) {
    all.insert(options.begin(), options.end());
    for (const std::string& option : options) {  // and it takes them
      if (option == "--help") continue;
      const Ended given = cordon({"sandbox", verb, option + "=x", "--help"});
      EXPECT_EQ(given.err.find("unknown option"), std::string::npos) << verb << ' ' << option;
    }
    if (installed("bash")) {
      EXPECT_EQ(bash({"cordon", "sandbox", verb, "--"}), options) << verb;
    }
    if (installed("fish")) {
      EXPECT_EQ(fish("cordon sandbox " + verb + " --"), options) << verb;
    }
  }
  EXPECT_EQ(all_matches(zsh.substr(0, zsh.find("\n}\n")), "'\\*?(--[a-z-]+)=?\\["), all);
  if (!installed("bash") || !installed("fish")) CORDON_SKIP("shells", "bash or fish is missing");
}

TEST_F(Completion, ZshOffersTheOptionsOfTheHelp) {
  const std::string script = read_file(path("zsh"));
  const std::string run = script.substr(0, script.find("\n}\n"));
  const std::string audit = script.substr(script.find("_cordon_audit() {"));
  const std::string pool = script.substr(script.find("_cordon_pool() {"));
  Words all = pool_options("start");
  all.merge(pool_options("status"));
  all.merge(pool_options("stop"));
  EXPECT_EQ(all_matches(pool.substr(0, pool.find("\n}\n")), "'(--[a-z-]+)=?\\["), all);
  Words both = audit_options("show");
  both.merge(audit_options("verify"));
  EXPECT_EQ(all_matches(audit.substr(0, audit.find("\n}\n")), "'(--[a-z-]+)=?\\["), both);
  const char* const option = "'\\*?(--[a-z-]+)=?\\[";
  const std::string batch = script.substr(script.find("_cordon_batch() {"));
  EXPECT_EQ(all_matches(batch.substr(0, batch.find("\n}\n")), option), options_of_batch());
  EXPECT_EQ(all_matches(run, option), options_of_plan());
  // `run` has them all, and one more.
  EXPECT_EQ(all_matches(script, "\n    run\\) _cordon_run '(--[a-z-]+)=\\["), Words{"--report"});
  EXPECT_EQ(all_matches(script, "\n    (plan)\\) _cordon_run ;;"), Words{"plan"});
  if (!installed("zsh")) CORDON_SKIP("shells", "zsh is not installed");
  const Ended parsed = Command::program({"zsh", "-f", "-n", path("zsh")}).run();
  EXPECT_EQ(parsed.status, 0) << parsed.err;
  const Ended loaded = Command::program({"zsh", "-f", "-c",
                                         "autoload -U compinit; compinit -D; source " +
                                             path("zsh") + "; print $_comps[cordon]"})
                           .run();
  EXPECT_EQ(loaded.out, "_cordon\n") << loaded.err;
}

}  // namespace
}  // namespace cordon::cli
