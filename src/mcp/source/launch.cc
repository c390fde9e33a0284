#include "mcp/source/launch.h"

#include <algorithm>
#include <charconv>

#include "base/errors.h"
#include "base/printable.h"
#include "base/suggest.h"

namespace cordon::mcp {
namespace {

std::unexpected<Error> wrong(std::string message) {
  return base::fail(ErrorCode::invalid_argument, "settings", std::move(message));
}

std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return value;
}

// Why `value` will not do, or "".
std::string why_not(const Setting& setting, const std::string& value) {
  if (value.contains('\0')) return "has a NUL character in it";
  if (!setting.choices.empty() &&
      std::ranges::find(setting.choices, value) == setting.choices.end()) {
    std::string all;
    for (const std::string& choice : setting.choices) {
      all += (all.empty() ? "" : ", ") + base::printable(choice);
    }
    return "is none of " + all;
  }
  switch (setting.kind) {
    case Setting::Kind::boolean:
      return value == "true" || value == "false" ? "" : "is neither true nor false";
    case Setting::Kind::number: {
      const auto number = number_in(value);
      if (!number) return "is no number";
      if (setting.min && *number < *setting.min) return "is too small";
      if (setting.max && *number > *setting.max) return "is too large";
      return "";
    }
    case Setting::Kind::file:
    case Setting::Kind::directory:
      return value.starts_with('/') ? "" : "is no absolute path";
    case Setting::Kind::text:
      return "";
  }
  return "";
}

Result<void> check_given(const Setting& setting, const std::vector<std::string>& values) {
  const std::string name = "--set " + base::printable(setting.name);
  if (setting.secret) {
    return wrong(name +
                 ": this one is a secret, and a command line can be seen by others: give it "
                 "by --secret " +
                 base::printable(setting.name) + "=file:PATH or =env:NAME");
  }
  if (values.size() > 1 && !setting.multiple) return wrong(name + ": takes one value, not several");
  for (const std::string& value : values) {
    if (const std::string why = why_not(setting, value); !why.empty()) {
      std::string text = name;
      return wrong(text.append(": \"").append(base::printable(value)).append("\" ").append(why));
    }
  }
  return {};
}

Result<void> check_known(const std::vector<Setting>& settings, const Given& given,
                         std::string_view file) {
  std::vector<std::string_view> names;
  std::string known;
  for (const Setting& setting : settings) {
    names.emplace_back(setting.name);
    known += (known.empty() ? "" : ", ") + base::printable(setting.name);
  }
  for (const auto& [name, values] : given.values) {
    if (std::ranges::find(names, name) != names.end()) continue;
    const std::string_view near = base::nearest(name, names);
    return wrong("--set " + base::printable(name) + ": " + base::printable(file) +
                 " has no such setting; " + (known.empty() ? "it has none" : "it has " + known) +
                 (near.empty() ? "" : " (did you mean " + base::printable(near) + "?)"));
  }
  return {};
}

bool has_secret(const Setting& setting, const Given& given,
                const std::map<std::string, std::set<std::string>>& secret_by) {
  if (given.secrets.contains(setting.name)) return true;
  const auto others = secret_by.find(setting.name);
  if (others == secret_by.end()) return false;
  return std::ranges::any_of(others->second,
                             [&](const std::string& name) { return given.secrets.contains(name); });
}

std::string missing_line(const Setting& setting) {
  const std::string name = base::printable(setting.name);
  return "\n  " +
         (setting.secret ? "--secret " + name + "=file:PATH or =env:NAME"
                         : "--set " + name + "=…") +
         (setting.about.empty() ? "" : "  (" + base::printable(setting.about) + ")");
}

}  // namespace

Result<Settled> settle(const std::vector<Setting>& settings, const Given& given,
                       std::string_view file,
                       const std::map<std::string, std::set<std::string>>& secret_by) {
  if (auto known = check_known(settings, given, file); !known) {
    return std::unexpected(std::move(known.error()));
  }
  Settled settled;
  std::string missing;
  for (const Setting& setting : settings) {
    const auto found = given.values.find(setting.name);
    if (found != given.values.end()) {
      if (auto good = check_given(setting, found->second); !good) {
        return std::unexpected(std::move(good.error()));
      }
      settled.values[setting.name] = found->second;
      settled.said.insert(setting.name);
    } else if (setting.secret && has_secret(setting, given, secret_by)) {
      continue;
    } else if (setting.fallback) {
      settled.values[setting.name] = *setting.fallback;
    } else if (setting.required) {
      missing += missing_line(setting);
    }
  }
  if (!missing.empty()) return wrong(base::printable(file) + " needs to be told:" + missing);
  return settled;
}

}  // namespace cordon::mcp
