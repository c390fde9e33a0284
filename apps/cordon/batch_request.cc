#include "batch_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/printable.h"
#include "base/sha256.h"
#include "batch_options.h"
#include "concat.h"
#include "policy/read_json.h"
#include "policy/table_reader.h"

namespace cordon::app {
namespace {

using policy::Node;
using policy::TableReader;

enum class Shape : std::uint8_t {
  text,    // a text
  time,    // a text such as "5s"
  number,  // a number, or a text such as "64M"
  texts,   // a list of texts, or one
};

struct Key {
  std::string_view name;
  std::string_view option;  // whose value it is
  Shape shape;
};

constexpr auto kKeys = std::to_array<Key>({
    {"timeout", "--timeout", Shape::time},
    {"grace", "--grace", Shape::time},
    {"cpu_time", "--cpu-time", Shape::time},
    {"cpus", "--cpus", Shape::number},
    {"memory", "--memory", Shape::number},
    {"pids", "--pids", Shape::number},
    {"files", "--files", Shape::number},
    {"file_size", "--file-size", Shape::number},
    {"output", "--output", Shape::number},
    {"read", "--read", Shape::texts},
    {"write", "--write", Shape::texts},
    {"bind", "--bind", Shape::texts},
    {"tmpfs", "--tmpfs", Shape::texts},
    {"user", "--user", Shape::text},
    {"net", "--net", Shape::text},
    {"cwd", "--cwd", Shape::text},
    {"env_pass", "--env-pass", Shape::texts},
});

// What other tools call them.
constexpr auto kOtherNames = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"network", "net"},
    {"cpu", "cpus"},
    {"command", "argv"},
    {"cmd", "argv"},
    {"input", "stdin"},
    {"environment", "env"},
});

std::string_view expected(Shape shape) {
  switch (shape) {
    case Shape::text:
      return "a text";
    case Shape::time:
      return "a duration: a text like \"5s\"";
    case Shape::number:
      return "a number or a text";
    case Shape::texts:
      break;
  }
  return "a list of texts, or one";
}

// The value as the option would be given it.
std::optional<std::string> value_text(const Node& value, Shape shape) {
  if (value.kind == Node::Kind::text) return value.text;
  if (shape != Shape::number) return std::nullopt;
  if (value.kind == Node::Kind::integer) return fmt::to_string(value.integer);
  if (value.kind == Node::Kind::real) return fmt::to_string(value.real);
  return std::nullopt;
}

void apply_one(TableReader& reader, const Key& key, const Node& value, RunOptions& options) {
  const auto text = value_text(value, key.shape);
  if (!text) {
    reader.wrong_type(key.name, value, expected(key.shape));
    return;
  }
  if (text->contains('\0')) {
    reader.wrong(value.place, concat(key.name, " has a NUL byte: remove it"));
    return;
  }
  const auto table = run_option_table();
  const auto option = std::ranges::find(table, key.option, [](auto& o) { return o.spec.name; });
  if (auto applied = option->apply(options, *text); !applied) {
    reader.wrong(value.place, concat(key.name, ": ", base::printable(applied.error().message)));
  }
}

void read_key(TableReader& reader, const Key& key, RunOptions& options) {
  const Node* value = reader.any(key.name);
  if (value == nullptr) return;
  if (key.shape != Shape::texts || value->kind != Node::Kind::array) {
    apply_one(reader, key, *value, options);
    return;
  }
  for (const Node& item : value->items) apply_one(reader, key, item, options);
}

void read_program(TableReader& reader, const policy::Place& place, Request& request) {
  const auto argv = reader.texts("argv");
  const auto program = reader.text("program");
  const auto args = reader.texts("args");
  if (argv && (program || args)) {
    reader.wrong(argv->place, "argv besides program or args: say it one way");
  } else if (argv && argv->value.empty()) {
    reader.wrong(argv->place, "argv is empty: its first item is the program");
  } else if (!argv && !program) {
    reader.wrong(place, R"(no program: give it as "argv":["sh","-c","…"], or as "program")");
  }
  const auto append = [&](const policy::Texts& texts, std::size_t from) {
    for (std::size_t i = from; i < texts.size(); ++i) request.args.push_back(texts[i].value);
  };
  if (argv && !argv->value.empty()) {
    request.program = argv->value.front().value;
    append(argv->value, 1);
  } else if (program) {
    request.program = program->value;
    if (args) append(args->value, 0);
  }
}

void read_env(TableReader& reader, Request& request) {
  const Node* table = reader.table("env");
  if (table == nullptr) return;
  for (const policy::Member& member : table->members) {
    if (member.value.kind != Node::Kind::text) {
      reader.wrong_type(concat("env.", member.name), member.value, "a text");
    }
    request.env.push_back({member.name, member.value.text});
  }
}

bool is_common_option(std::string_view name) {
  const auto named = [&](const auto& option) { return option.spec.name == name; };
  return std::ranges::any_of(batch_run_options(), named) ||
         std::ranges::any_of(batch_option_table(), named);
}

// Says more about a name than that it is not known.
void explain_unknown(TableReader& reader, const Node& table) {
  for (const policy::Member& member : table.members) {
    const auto other = std::ranges::find(kOtherNames, member.name,
                                         &std::pair<std::string_view, std::string_view>::first);
    if (other != kOtherNames.end()) {
      reader.wrong(member.value.place, concat("unknown key \"", member.name, "\": did you mean \"",
                                              other->second, "\"?"));
    }
    std::string option = concat("--", member.name);
    std::ranges::replace(option, '_', '-');
    if (const auto why = not_for_batches(option); !why.empty()) {
      reader.wrong(member.value.place,
                   concat("\"", member.name, "\" is no key of a request: ", why));
    }
    const bool is_key = std::ranges::find(kKeys, option, &Key::option) != kKeys.end();
    constexpr std::array<std::string_view, 3> kOthers = {"--env", "--pids-kill", "--no-unix"};
    if (is_key || std::ranges::find(kOthers, option) != kOthers.end()) continue;
    if (is_common_option(option)) {
      reader.wrong(member.value.place, concat("\"", member.name,
                                              "\" is the same for all requests: "
                                              "give ",
                                              option, " before the file instead"));
    }
  }
}

void read_streams(TableReader& reader, Request& request) {
  request.out = Output::events();
  request.err = Output::events();
  request.in = Input::none();
  const Node* text = reader.any("stdin");  // may have NUL bytes
  if (text == nullptr) return;
  if (text->kind != Node::Kind::text) reader.wrong_type("stdin", *text, "a text");
  request.in = Input::bytes(text->text);
}

std::unexpected<Error> bad_line(const InputLine& line, const std::string& file,
                                std::string_view what) {
  const policy::Place place{.file = file, .line = static_cast<std::uint32_t>(line.number)};
  return base::fail(ErrorCode::invalid_argument, "input", concat(to_string(place), ": ", what));
}

Result<Node> read_line(const InputLine& line, const std::string& file) {
  if (line.too_long) {
    return bad_line(line, file, "a request has at most 1M: give the program a file instead");
  }
  auto node = policy::read_json(line.text, file, static_cast<std::uint32_t>(line.number));
  if (node && node->kind != Node::Kind::table) {
    return bad_line(line, file, R"(a request is an object, such as {"argv":["true"]})");
  }
  return node;
}

}  // namespace

Result<BatchRequest> read_request(const InputLine& line, const std::string& file,
                                  const RunOptions& defaults) {
  auto node = read_line(line, file);
  if (!node) {
    node.error().stage = "input";
    return std::unexpected(std::move(node).error());
  }
  BatchRequest result{.id = {}, .options = defaults};
  Request& request = result.options.request;
  TableReader reader(*node, "");
  if (const Node* const id = reader.any("id"); id != nullptr) {
    if (id->kind != Node::Kind::text) reader.wrong_type("id", *id, "a text");
    result.id = id->text;
  }
  explain_unknown(reader, *node);
  for (const Key& key : kKeys) read_key(reader, key, result.options);
  if (const auto kill = reader.boolean("pids_kill")) request.end_at_process_limit = kill->value;
  if (const auto no_unix = reader.boolean("no_unix")) request.unix_sockets = !no_unix->value;
  read_env(reader, request);
  read_streams(reader, request);
  read_program(reader, node->place, request);
  if (auto finished = reader.finish(); !finished) {
    finished.error().stage = "input";
    return std::unexpected(std::move(finished).error());
  }
  if (auto valid = validate(request); !valid) return bad_line(line, file, valid.error().message);
  return result;
}

std::optional<std::string> find_id(const InputLine& line) {
  const auto node = read_line(line, "");
  if (!node) return std::nullopt;
  const auto id = std::ranges::find(node->members, "id", &policy::Member::name);
  if (id == node->members.end() || id->value.kind != Node::Kind::text) return std::nullopt;
  return id->value.text;
}

std::string request_digest(const InputLine& line, std::string_view options) {
  constexpr std::size_t kDigits = 16;
  base::Sha256 sum;
  sum.add(options);
  sum.add(std::string_view("\0", 1));
  sum.add(line.text);
  return base::to_hex(sum.finish()).substr(0, kDigits);
}

}  // namespace cordon::app
