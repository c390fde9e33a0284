#include "command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <utility>

#include "base/errors.h"
#include "base/suggest.h"
#include "concat.h"

namespace cordon::app {
namespace {

std::unexpected<Error> bad_usage(std::string message) {
  return base::fail(ErrorCode::invalid_argument, "usage", std::move(message));
}

std::unexpected<Error> unknown_option(std::span<const OptionSpec> specs, std::string_view given) {
  const std::string_view name = given.substr(0, given.find('='));
  std::vector<std::string_view> known;
  std::ranges::transform(specs, std::back_inserter(known), &OptionSpec::name);
  const std::string_view near = base::nearest(name, known);
  if (near.empty()) return bad_usage(concat("unknown option ", name));
  return bad_usage(concat("unknown option ", name, " (did you mean ", near, "?)"));
}

// Whether an argument may be this option: to make one for the parser costs more than to look.
bool may_be_given(const OptionSpec& spec, std::span<const std::string> arguments) {
  return std::ranges::any_of(arguments, [&](std::string_view argument) {
    return argument.starts_with(spec.name) &&
           (argument.size() == spec.name.size() || argument[spec.name.size()] == '=');
  });
}

}  // namespace

Result<CommandLine> parse_command_line(std::span<const OptionSpec> specs,
                                       std::vector<std::string> arguments) try {
  CLI::App parser;
  parser.set_help_flag();
  parser.prefix_command();  // everything from the first operand on is left alone

  std::vector<CLI::Option*> options(specs.size(), nullptr);
  std::vector<std::vector<std::string>> values(specs.size());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (!may_be_given(specs[i], arguments)) continue;
    const std::string name(specs[i].name);
    options[i] = specs[i].value.empty()
                     ? parser.add_flag(name)
                     : parser.add_option(name, values[i])->allow_extra_args(false);
  }

  std::ranges::reverse(arguments);  // as parse() wants them
  parser.parse(std::move(arguments));

  CommandLine result;
  std::vector<std::size_t> taken(specs.size(), 0);
  for (const CLI::Option* const given : parser.parse_order()) {
    const auto at = std::ranges::find(options, given);
    if (at == options.end()) continue;
    const auto i = static_cast<std::size_t>(at - options.begin());
    const std::size_t nth = taken[i]++;
    if (specs[i].value.empty()) {
      result.options.push_back({i, ""});
    } else if (nth < values[i].size()) {
      result.options.push_back({i, std::move(values[i][nth])});
    }
  }
  result.operands = parser.remaining();
  if (!result.operands.empty()) {
    const std::string& first = result.operands.front();
    if (first == "--") {
      result.operands.erase(result.operands.begin());
    } else if (first.size() > 1 && first.starts_with('-')) {
      return unknown_option(specs, first);
    }
  }
  return result;
} catch (const CLI::ArgumentMismatch& mismatch) {
  // "--timeout: 1 required TEXT missing"
  const std::string_view what = mismatch.what();
  return bad_usage(concat(what.substr(0, what.find(':')), " needs a value"));
} catch (const CLI::Error& error) {
  return bad_usage(error.what());
}

}  // namespace cordon::app
