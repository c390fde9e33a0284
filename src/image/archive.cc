// Where each file of an archive is in it.
#include <sys/stat.h>

#include <map>
#include <optional>
#include <utility>

#include "base/errors.h"
#include "base/printable.h"
#include "image/blobs.h"
#include "image/tar.h"

namespace cordon::image {
namespace {

constexpr const char* kStage = "image";
constexpr std::size_t kMostFiles = 10'000;

struct Part {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

class Archive final : public Blobs {
 public:
  Archive(base::Fd file, std::map<std::string, Part> parts)
      : file_(std::move(file)), parts_(std::move(parts)) {}

  [[nodiscard]] Result<Region> open(const std::string& name) const override {
    const auto found = parts_.find(name);
    if (found == parts_.end()) {
      return base::fail(ErrorCode::not_found, kStage, "the image has no " + base::printable(name));
    }
    Region region;
    region.file = file_.get();
    region.offset = found->second.offset;
    region.size = found->second.size;
    return region;
  }

 private:
  base::Fd file_;
  std::map<std::string, Part> parts_;
};

}  // namespace

Result<std::unique_ptr<Blobs>> index_archive(base::Fd file, const std::string& path) {
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) return base::fail_os(kStage, errno, "looking at " + path);
  Region all;
  all.file = file.get();
  all.size = static_cast<std::uint64_t>(info.st_size);
  std::map<std::string, Part> parts;
  std::uint64_t fed = 0;
  TarReader reader({.entry = [&](const TarEntry& entry) -> Result<void> {
                      if (entry.type != TarEntry::Type::file) return {};
                      if (parts.size() >= kMostFiles) {
                        return base::fail(ErrorCode::resource_exhausted, kStage,
                                          "the archive has more than " +
                                              std::to_string(kMostFiles) +
                                              " files: it is no image");
                      }
                      std::string name = entry.path;
                      while (name.starts_with("./")) name.erase(0, 2);
                      // The first of a name is it: else what was looked at could change.
                      parts.emplace(std::move(name), Part{fed, entry.size});
                      return {};
                    },
                    .content = [](std::string_view) -> Result<void> { return {}; },
                    .end = []() -> Result<void> { return {}; }});
  auto read = read_parts(all, path, [&](std::string_view bytes) -> Result<void> {
    // A header at a time, so that it is known where each is. What is read comes in whole blocks.
    while (!bytes.empty()) {
      const std::string_view block = bytes.substr(0, kTarBlock);
      fed += block.size();
      if (auto taken = reader.feed(block); !taken) return taken;
      bytes.remove_prefix(block.size());
    }
    return {};
  });
  if (!read) {
    Error error = std::move(read.error());
    error.message = base::printable(path) + ": " + error.message;
    return std::unexpected(std::move(error));
  }
  if (parts.empty() || !reader.complete()) {
    return base::fail(ErrorCode::invalid_argument, kStage,
                      base::printable(path) + " is no whole archive: get the image again");
  }
  return std::make_unique<Archive>(std::move(file), std::move(parts));
}

}  // namespace cordon::image
