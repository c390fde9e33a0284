#include "audit/verify.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "audit/directory.h"
#include "audit/snapshot.h"
#include "base/errors.h"

namespace cordon::audit {
namespace {

constexpr std::size_t kBuffer = std::size_t{256} * 1024;

void check_file(ChainCheck& chain, const Snapshot::File& file, std::string& buffer) {
  chain.begin_file(file.number);
  std::uint64_t done = 0;
  while (done < file.size) {
    const auto wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(kBuffer, file.size - done));
    const ssize_t got = ::pread(file.fd.get(), buffer.data(), wanted, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      chain.defect(file_name(file.number), 0,
                   got == 0 ? "became shorter while it was read"
                            : "cannot be read: " + base::errno_text(errno));
      break;
    }
    chain.add(std::string_view(buffer).substr(0, static_cast<std::size_t>(got)));
    done += static_cast<std::uint64_t>(got);
  }
  chain.end_file();
}

void missing(ChainCheck& chain, std::uint64_t from, std::uint64_t to) {
  if (from > to) return;
  const std::string last = to > from ? " and all up to " + file_name(to) : "";
  chain.defect(file_name(from), 0, "is missing" + last);
}

void check_files(ChainCheck& chain, const Snapshot& snapshot, const Head& head) {
  std::string buffer(kBuffer, '\0');
  std::uint64_t due = 1;
  for (const Snapshot::File& file : snapshot.files) {
    if (file.number > head.file) {
      chain.defect(file_name(file.number), 0, "is unknown to the head");
      continue;
    }
    missing(chain, due, file.number - 1);
    due = file.number + 1;
    if (file.fd) {
      check_file(chain, file, buffer);
    } else {
      chain.defect(file_name(file.number), 0, "cannot be read: " + file.error);
    }
  }
  // The last one is made when the first record goes there.
  missing(chain, due, head.size > 0 ? head.file : head.file - 1);
  for (const std::string& name : snapshot.strange) {
    chain.defect(name, 0, "is called like no file of a log");
  }
}

}  // namespace

Result<Verification> verify(const std::string& path, const Sealer& sealer) {
  const auto directory = Directory::to_read(path);
  if (!directory) return std::unexpected(directory.error());
  const auto snapshot = take_snapshot(*directory);
  if (!snapshot) return std::unexpected(snapshot.error());
  const Head head = snapshot->head.value_or(
      Head{.file = snapshot->files.empty() ? 1 : snapshot->files.back().number,
           .keyed = sealer.keyed()});
  if (head.keyed && !sealer.keyed()) {
    return base::fail(ErrorCode::invalid_argument, "audit",
                      "the audit log in " + path + " is sealed with a key; --key FILE names it");
  }
  ChainCheck chain(head, sealer);
  if (!snapshot->head) {
    chain.defect(kHeadFile, 0,
                 "is missing or damaged, so nobody knows what should be here (" +
                     snapshot->head_error + ")");
  } else if (sealer.keyed() && !head.keyed) {
    chain.defect(kHeadFile, 0, "is of a log without a key");
  }
  check_files(chain, *snapshot, head);
  chain.finish();
  return Verification{.records = chain.records(),
                      .files = snapshot->files.size(),
                      .head = head,
                      .defects = chain.defects(),
                      .defect_count = chain.defect_count(),
                      .unfinished = chain.unfinished()};
}

}  // namespace cordon::audit
