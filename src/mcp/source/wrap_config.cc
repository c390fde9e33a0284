#include "mcp/source/wrap_config.h"

#include <algorithm>

#include "base/errors.h"
#include "base/json_text.h"
#include "base/printable.h"
#include "base/suggest.h"
#include "mcp/source/jsonc.h"

namespace cordon::mcp {
namespace {

constexpr std::string_view kMark = "--wrapped";
constexpr std::string_view kBar = "--";
constexpr std::string_view kHadArgs = "args";
constexpr std::string_view kHadNone = "alone";

std::unexpected<Error> wrong(std::string_view file, const std::string& what,
                             ErrorCode code = ErrorCode::invalid_argument) {
  return base::fail(code, "client config", base::printable(file) + " " + what);
}

bool is_text(const JsoncNode& node) { return node.kind == JsoncNode::Kind::string; }

struct Server {
  std::string name;
  const JsoncNode* entry;
};

Result<std::vector<Server>> chosen_servers(const JsoncNode& top, std::string_view file,
                                           const std::vector<std::string>& names) {
  const JsoncMember* servers = top.member("mcpServers");
  if (servers == nullptr) servers = top.member("servers");
  if (servers == nullptr || servers->value.kind != JsoncNode::Kind::object) {
    return wrong(file, "has neither an object \"mcpServers\" nor an object \"servers\"");
  }
  std::vector<Server> chosen;
  std::vector<std::string_view> known;
  std::string all;
  for (const JsoncMember& member : servers->value.members) {
    known.emplace_back(member.name);
    all += (all.empty() ? "" : ", ") + base::printable(member.name);
    if (names.empty() || std::ranges::find(names, member.name) != names.end()) {
      chosen.push_back({.name = member.name, .entry = &member.value});
    }
  }
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::string_view near = base::nearest(name, known);
    return wrong(file,
                 "has no server \"" + base::printable(name) + "\"; " +
                     (all.empty() ? "it has none" : "it has " + all) +
                     (near.empty() ? "" : " (did you mean " + base::printable(near) + "?)"),
                 ErrorCode::not_found);
  }
  return chosen;
}

// Of an entry that says what to run.
struct Parts {
  const JsoncNode* command = nullptr;
  const JsoncMember* args = nullptr;  // null: there are none

  [[nodiscard]] std::string_view arg(std::size_t index) const {
    if (args == nullptr || index >= args->value.elements.size()) return "";
    return args->value.elements[index].text;
  }
  [[nodiscard]] bool under_cordon() const {
    const std::string_view name = std::string_view(command->text);
    const bool own = name.substr(name.rfind('/') + 1) == "cordon" || arg(2) == kMark;
    return own && arg(0) == "mcp" && arg(1) == "run";
  }
};

// Nothing but a note if there is nothing to be rewritten.
Result<Parts> parts_of(const Server& server, std::string_view file, ServerChange& change) {
  const auto bad = [&](std::string_view what) {
    return wrong(
        file, "says of the server \"" + base::printable(server.name) + "\" " + std::string(what));
  };
  change.kind = ServerChange::Kind::unfit;
  if (server.entry->kind != JsoncNode::Kind::object) return bad("something that is not an object");
  const JsoncMember* const command = server.entry->member("command");
  if (command == nullptr) {
    change.note =
        server.entry->member("url") != nullptr || server.entry->member("serverUrl") != nullptr
            ? "reached by a URL: there is nothing to be run"
            : "has no \"command\"";
    return Parts{};
  }
  if (!is_text(command->value) || command->value.text.empty()) {
    return bad("a \"command\" that is no string, or empty");
  }
  Parts parts{.command = &command->value, .args = server.entry->member("args")};
  if (parts.args != nullptr) {
    const JsoncNode& args = parts.args->value;
    if (args.kind != JsoncNode::Kind::array || !std::ranges::all_of(args.elements, is_text)) {
      return bad("\"args\" that are no array of strings");
    }
  }
  change.kind = ServerChange::Kind::changed;
  return parts;
}

// "mcp", "run", …, "--": what comes before the server's own command. None of the words in between
// is a "--" of its own, whatever the file says: the first one is the way back.
std::string before_command(const Server& server, bool has_args, const WrapAsk& ask,
                           ServerChange& change) {
  std::vector<std::string> words = {"mcp", "run", std::string(kMark),
                                    std::string(has_args ? kHadArgs : kHadNone)};
  // The client sets these variables for us; by name alone their values stay out of the arguments.
  const JsoncMember* const env = server.entry->member("env");
  if (env != nullptr) {
    for (const JsoncMember& variable : env->value.members) {
      words.push_back("--env=" + variable.name);
    }
  }
  const JsoncMember* const cwd = server.entry->member("cwd");
  if (cwd != nullptr && is_text(cwd->value) && !cwd->value.text.empty()) {
    words.push_back("--cwd=" + cwd->value.text);
  }
  if (server.entry->member("envFile") != nullptr) {
    change.note = "has an \"envFile\": pass on what is in it by --env NAME behind --";
  }
  words.insert(words.end(), ask.run_options.begin(), ask.run_options.end());
  words.emplace_back(kBar);
  std::string text;
  for (const std::string& word : words) text += base::json_text(word) + ", ";
  return text;
}

void wrap_one(std::string_view text, const Server& server, const Parts& parts, const WrapAsk& ask,
              Rewritten& result, ServerChange& change) {
  const JsoncNode& command = *parts.command;
  const std::string own(text.substr(command.begin, command.end - command.begin));
  const std::string before = before_command(server, parts.args != nullptr, ask, change) + own;
  const std::string cordon = base::json_text(ask.cordon);
  if (parts.args == nullptr) {
    result.edits.push_back({command.begin, command.end, cordon + ", \"args\": [" + before + "]"});
    return;
  }
  const JsoncNode& args = parts.args->value;
  result.edits.push_back({command.begin, command.end, cordon});
  result.edits.push_back(
      {args.begin + 1, args.begin + 1, before + (args.elements.empty() ? "" : ", ")});
}

// Where the next element begins, as far as one can tell without changing what is between: behind
// the comma and what we put there.
std::size_t behind_comma(std::string_view text, std::size_t at) {
  const std::size_t comma = text.find(',', at);  // a comment in front of it would be the user's own
  const std::size_t next = comma + 1;
  return text.substr(next).starts_with(' ') ? next + 1 : next;
}

void unwrap_one(std::string_view text, const Parts& parts, Rewritten& result,
                ServerChange& change) {
  if (!parts.under_cordon() || parts.arg(2) != kMark) {
    change.kind = ServerChange::Kind::already;
    change.note = parts.under_cordon() ? "runs under Cordon, but not by wrap" : "is not wrapped";
    return;
  }
  const JsoncNode& args = parts.args->value;
  const auto& elements = args.elements;
  const auto bar = std::ranges::find(elements.begin() + 3, elements.end(), kBar, &JsoncNode::text);
  if (bar == elements.end() || bar + 1 == elements.end()) {
    change.kind = ServerChange::Kind::unfit;
    change.note = "has been changed since: there is no command behind its \"--\"";
    return;
  }
  const JsoncNode& own = *(bar + 1);
  const JsoncNode& command = *parts.command;
  const std::string original(text.substr(own.begin, own.end - own.begin));
  const bool more = bar + 2 != elements.end();
  const bool ours = parts.arg(3) == kHadNone && !more && parts.args->begin == command.end + 2 &&
                    text.substr(command.end, 2) == ", ";
  if (ours) {
    result.edits.push_back({command.begin, args.end, original});
    return;
  }
  result.edits.push_back({command.begin, command.end, original});
  result.edits.push_back({args.begin + 1, more ? behind_comma(text, own.end) : own.end, ""});
}

template <typename Rewrite>
Result<Rewritten> rewrite(std::string_view text, std::string_view file,
                          const std::vector<std::string>& names, const Rewrite& one) {
  const auto top = parse_jsonc(text);
  if (!top) return wrong(file, "is not JSON: " + top.error());
  const auto servers = chosen_servers(*top, file, names);
  if (!servers) return std::unexpected(servers.error());
  Rewritten result;
  for (const Server& server : *servers) {
    ServerChange change{.name = server.name};
    const auto parts = parts_of(server, file, change);
    if (!parts) return std::unexpected(parts.error());
    if (parts->command != nullptr) one(server, *parts, result, change);
    result.servers.push_back(std::move(change));
  }
  std::ranges::sort(result.edits, {}, &TextEdit::begin);
  return result;
}

}  // namespace

Result<Rewritten> wrap_config(std::string_view text, std::string_view file, const WrapAsk& ask) {
  if (std::ranges::find(ask.run_options, kBar) != ask.run_options.end()) {
    return base::fail(ErrorCode::invalid_argument, "wrap",
                      "\"--\" cannot be one of the options for `cordon mcp run`: the server's own "
                      "command comes behind it. A value that is \"--\" is written as --OPTION=--");
  }
  return rewrite(
      text, file, ask.names,
      [&](const Server& server, const Parts& parts, Rewritten& result, ServerChange& change) {
        if (!parts.under_cordon()) {
          return wrap_one(text, server, parts, ask, result, change);
        }
        change.kind = ServerChange::Kind::already;
        change.note = "runs under Cordon already";
      });
}

Result<Rewritten> unwrap_config(std::string_view text, std::string_view file,
                                const std::vector<std::string>& names) {
  return rewrite(text, file, names,
                 [&](const Server&, const Parts& parts, Rewritten& result, ServerChange& change) {
                   unwrap_one(text, parts, result, change);
                 });
}

std::string apply_edits(std::string_view text, const std::vector<TextEdit>& edits) {
  std::string result;
  std::size_t at = 0;
  for (const TextEdit& edit : edits) {
    result += text.substr(at, edit.begin - at);
    result += edit.text;
    at = edit.end;
  }
  result += text.substr(at);
  return result;
}

std::string diff_of(std::string_view text, const std::vector<TextEdit>& edits,
                    std::string_view file) {
  std::string result = "--- " + base::printable(file) + "\n+++ " + base::printable(file) + "\n";
  const auto line_begin = [&](std::size_t at) {
    const std::size_t found = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
    return found == std::string_view::npos ? 0 : found + 1;
  };
  const auto line_end = [&](std::size_t at) { return std::min(text.find('\n', at), text.size()); };
  const auto add = [&](char sign, std::string_view lines) {
    for (std::size_t at = 0; at <= lines.size();) {
      const std::size_t end = std::min(lines.find('\n', at), lines.size());
      result += sign + base::printable(lines.substr(at, end - at)) + "\n";
      at = end + 1;
    }
  };
  std::ptrdiff_t shift = 0;  // lines that were added so far
  for (std::size_t i = 0; i < edits.size();) {
    const std::size_t begin = line_begin(edits[i].begin);
    std::size_t end = line_end(edits[i].end);
    std::size_t last = i + 1;
    while (last < edits.size() && line_begin(edits[last].begin) <= end + 1) {
      end = line_end(edits[last++].end);
    }
    std::vector<TextEdit> inner(edits.begin() + static_cast<std::ptrdiff_t>(i),
                                edits.begin() + static_cast<std::ptrdiff_t>(last));
    for (TextEdit& edit : inner) {
      edit.begin -= begin;
      edit.end -= begin;
    }
    const std::string_view before = text.substr(begin, end - begin);
    const std::string after = apply_edits(before, inner);
    const auto line = std::ranges::count(text.substr(0, begin), '\n') + 1;
    const auto old_lines = std::ranges::count(before, '\n') + 1;
    const auto new_lines = std::ranges::count(after, '\n') + 1;
    result += "@@ -" + std::to_string(line) + "," + std::to_string(old_lines) + " +" +
              std::to_string(line + shift) + "," + std::to_string(new_lines) + " @@\n";
    shift += new_lines - old_lines;
    add('-', before);
    add('+', after);
    i = last;
  }
  return result;
}

}  // namespace cordon::mcp
