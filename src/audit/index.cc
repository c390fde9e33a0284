#include "audit/index.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "audit/database.h"
#include "audit/index_update.h"
#include "base/errors.h"
#include "base/trust.h"

namespace cordon::audit {
namespace {

constexpr const char* kInMemory = ":memory:";

// Ours alone, so that nobody else can have put lies into it.
bool may_keep_index(const Directory& directory) {
  struct stat info{};
  if (::fstat(directory.fd(), &info) != 0) return false;
  if (info.st_uid != ::geteuid() || base::others_may_write(info)) return false;
  const auto file = directory.open(kIndexFile, O_RDWR | O_CREAT);
  return file && ::fstat(file->get(), &info) == 0 && info.st_uid == ::geteuid();
}

// `ask` gets an index that is up to date. One that fails is thrown away and made anew; should that
// fail, too, there is one in memory.
template <typename Ask>
auto with_index(const Directory& directory, const Ask& ask)
    -> decltype(ask(std::declval<const Database&>())) {
  const auto attempt = [&](const std::string& path) -> decltype(ask(std::declval<Database&>())) {
    auto database = Database::open(path);
    if (!database) return std::unexpected(std::move(database).error());
    if (auto updated = update_index(*database, directory); !updated) {
      return std::unexpected(std::move(updated).error());
    }
    return ask(*database);
  };
  // By the open directory: the path may lead elsewhere by now.
  const std::string path = "/proc/self/fd/" + std::to_string(directory.fd()) + "/" + kIndexFile;
  for (int tries = 0; tries < 2 && may_keep_index(directory); ++tries) {
    auto answer = attempt(path);
    if (answer || answer.error().stage != "index") return answer;
    for (const char* const suffix : {"", "-journal", "-wal", "-shm"}) {
      (void)::unlinkat(directory.fd(), (std::string(kIndexFile) + suffix).c_str(), 0);
    }
  }
  return attempt(kInMemory);
}

// "%", "_" and the escape itself stand for themselves.
std::string begins_with(const std::string& prefix) {
  std::string pattern;
  for (const char c : prefix) {
    if (c == '%' || c == '_' || c == '\\') pattern += '\\';
    pattern += c;
  }
  return pattern + '%';
}

Result<std::vector<Position>> ask_for_records(const Database& database, const Filter& filter,
                                              std::uint64_t most) {
  std::string sql = "SELECT file, offset FROM records WHERE 1";
  std::vector<std::string> values;
  const auto add = [&](const std::string& value, const char* condition) {
    if (value.empty()) return;
    sql.append(" AND ").append(condition);
    values.push_back(value);
  };
  add(filter.run.empty() ? "" : begins_with(filter.run), "run LIKE ? ESCAPE '\\'");
  add(filter.verdict, "verdict = ?");
  add(filter.operation, "operation = ?");
  add(filter.since, "time >= ?");
  add(filter.until, "time < ?");
  add(filter.program, "glob_matches(?, program)");
  sql += " ORDER BY id DESC";
  if (most > 0) sql += " LIMIT " + std::to_string(most);

  auto statement = database.prepare(sql);
  if (!statement) return std::unexpected(std::move(statement).error());
  for (std::size_t i = 0; i < values.size(); ++i) {
    statement->bind(static_cast<int>(i + 1), values[i]);
  }
  std::vector<Position> found;
  while (true) {
    const auto row = statement->step();
    if (!row) return std::unexpected(row.error());
    if (!*row) break;
    found.push_back({.file = static_cast<std::uint64_t>(statement->number(0)),
                     .offset = static_cast<std::uint64_t>(statement->number(1))});
  }
  std::ranges::reverse(found);
  return found;
}

}  // namespace

Result<std::vector<Position>> find_records(const Directory& directory, const Filter& filter,
                                           std::uint64_t most) {
  return with_index(
      directory, [&](const Database& database) { return ask_for_records(database, filter, most); });
}

Result<std::vector<std::string>> find_runs(const Directory& directory, const std::string& prefix) {
  return with_index(directory, [&](const Database& database) -> Result<std::vector<std::string>> {
    auto statement = database.prepare(
        "SELECT DISTINCT run FROM records WHERE run LIKE ? ESCAPE '\\' AND run <> '' LIMIT 2");
    if (!statement) return std::unexpected(std::move(statement).error());
    const std::string pattern = begins_with(prefix);
    statement->bind(1, pattern);
    std::vector<std::string> runs;
    while (true) {
      const auto row = statement->step();
      if (!row) return std::unexpected(row.error());
      if (!*row) return runs;
      runs.push_back(statement->text(0));
    }
  });
}

}  // namespace cordon::audit
