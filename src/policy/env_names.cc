#include "policy/env_names.h"

#include <algorithm>
#include <array>

namespace cordon::policy {
namespace {

// Of the loader and the C library, shells, language runtimes, and tools that run other tools.
constexpr std::array<std::string_view, 9> kPrefixes = {
    "LD_", "DYLD_", "GIT_", "MALLOC_", "BASH_FUNC_", "NPM_CONFIG_", "npm_config_", "PERL5", "LUA_"};

constexpr std::array<std::string_view, 71> kNames = {"GCONV_PATH",
                                                     "LOCPATH",
                                                     "GLIBC_TUNABLES",
                                                     "NLSPATH",
                                                     "RES_OPTIONS",
                                                     "HOSTALIASES",
                                                     "LOCALDOMAIN",
                                                     "GETCONF_DIR",
                                                     "RESOLV_HOST_CONF",
                                                     "TZDIR",
                                                     "BASH_ENV",
                                                     "ENV",
                                                     "IFS",
                                                     "SHELLOPTS",
                                                     "BASHOPTS",
                                                     "PS4",
                                                     "PROMPT_COMMAND",
                                                     "CDPATH",
                                                     "GLOBIGNORE",
                                                     "ZDOTDIR",
                                                     "FPATH",
                                                     "PYTHONPATH",
                                                     "PYTHONSTARTUP",
                                                     "PYTHONHOME",
                                                     "PYTHONUSERBASE",
                                                     "PYTHONBREAKPOINT",
                                                     "PYTHONINSPECT",
                                                     "PYTHONWARNINGS",
                                                     "PYTHONEXECUTABLE",
                                                     "PYTHONPLATLIBDIR",
                                                     "NODE_OPTIONS",
                                                     "NODE_PATH",
                                                     "NODE_EXTRA_CA_CERTS",
                                                     "RUBYOPT",
                                                     "RUBYLIB",
                                                     "RUBYSHELL",
                                                     "GEM_HOME",
                                                     "GEM_PATH",
                                                     "BUNDLE_GEMFILE",
                                                     "PERLLIB",
                                                     "PERL_UNICODE",
                                                     "JAVA_TOOL_OPTIONS",
                                                     "_JAVA_OPTIONS",
                                                     "JDK_JAVA_OPTIONS",
                                                     "CLASSPATH",
                                                     "JAVA_OPTS",
                                                     "MAVEN_OPTS",
                                                     "GRADLE_OPTS",
                                                     "PHPRC",
                                                     "PHP_INI_SCAN_DIR",
                                                     "DOTNET_STARTUP_HOOKS",
                                                     "CORECLR_PROFILER",
                                                     "CORECLR_PROFILER_PATH",
                                                     "R_PROFILE",
                                                     "R_PROFILE_USER",
                                                     "RUSTC",
                                                     "RUSTC_WRAPPER",
                                                     "RUSTFLAGS",
                                                     "CARGO_HOME",
                                                     "GCC_EXEC_PREFIX",
                                                     "COMPILER_PATH",
                                                     "EDITOR",
                                                     "VISUAL",
                                                     "PAGER",
                                                     "LESSOPEN",
                                                     "LESSCLOSE",
                                                     "MAKEFLAGS",
                                                     "OPENSSL_CONF",
                                                     "OPENSSL_ENGINES",
                                                     "OPENSSL_MODULES",
                                                     "SSLKEYLOGFILE"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool is_env_name(std::string_view name) {
  return !name.empty() && is_letter(name.front()) &&
         std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c); });
}

bool is_dangerous(std::string_view name) {
  return std::ranges::any_of(kPrefixes, [&](auto prefix) { return name.starts_with(prefix); }) ||
         std::ranges::find(kNames, name) != kNames.end();
}

}  // namespace cordon::policy
