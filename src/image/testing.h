// Archives, layers and layouts for tests.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/sha256.h"
#include "image/tar.h"

namespace cordon::image::testing {

namespace fs = std::filesystem;

struct Item {
  TarEntry entry{};
  std::string content{};
};

inline Item file(std::string path, std::string content = "x", std::uint32_t mode = 0644) {
  Item item;
  item.entry = {.path = std::move(path), .mode = mode, .size = content.size()};
  item.content = std::move(content);
  return item;
}
inline Item of_type(TarEntry::Type type, std::string path, std::string target = {}) {
  return {{.type = type, .path = std::move(path), .target = std::move(target), .mode = 0755}, {}};
}
inline Item directory(std::string path) {
  return of_type(TarEntry::Type::directory, std::move(path));
}
inline Item link(std::string path, std::string to) {
  return of_type(TarEntry::Type::link, std::move(path), std::move(to));
}
inline Item hard_link(std::string path, std::string to) {
  return of_type(TarEntry::Type::hard_link, std::move(path), std::move(to));
}

inline std::string archive(const std::vector<Item>& items) {
  std::string bytes;
  for (const Item& item : items) {
    bytes += tar_header(item.entry) + item.content + tar_padding(item.content.size());
  }
  return bytes + tar_end();
}

inline std::string gzip(const std::string& bytes) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::vector<unsigned char> in(bytes.begin(), bytes.end());
  std::vector<unsigned char> out(deflateBound(&stream, in.size()) + 64);
  stream.next_in = in.data();
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  const auto size = static_cast<std::ptrdiff_t>(stream.total_out);
  (void)deflateEnd(&stream);
  return {out.begin(), out.begin() + size};
}

inline std::string digest(const std::string& bytes) { return base::to_hex(base::sha256(bytes)); }

inline std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// A directory of the test's own.
class Folder {
 public:
  Folder() {
    char name[] = "/tmp/cordon-image-XXXXXX";
    path_ = fs::canonical(::mkdtemp(name));
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// An OCI layout in the making: by name, the bytes of each file.
struct Layout {
  std::vector<std::pair<std::string, std::string>> files{};
  std::vector<std::string> layers{};    // digests
  std::vector<std::string> unpacked{};  // likewise, of what is in them
  std::string told = R"("Env":["PATH=/bin","A=b"],"Cmd":["/bin/x"],"WorkingDir":"/work")";
  std::string tag = "latest";
  std::string system = R"("platform":{"os":"linux","architecture":"amd64"},)";

  std::string blob(const std::string& bytes) {
    const std::string name = digest(bytes);
    files.emplace_back("blobs/sha256/" + name, bytes);
    return name;
  }
  void layer(const std::string& tar, bool packed = false) {
    layers.push_back(blob(packed ? gzip(tar) : tar));
    unpacked.push_back(digest(tar));
  }
  static std::string list(const std::vector<std::string>& digests, const std::string& before,
                          const std::string& after) {
    std::string text;
    for (const std::string& one : digests) {
      text += (text.empty() ? "" : ",") + before + "sha256:" + one + after;
    }
    return "[" + text + "]";
  }
  // Adds the documents.
  void finish() {
    const std::string config = blob(
        "{\"config\":{" + told + "},\"rootfs\":{\"diff_ids\":" + list(unpacked, "\"", "\"") + "}}");
    const std::string manifest =
        blob(R"({"config":{"digest":"sha256:)" + config +
             "\"},\"layers\":" + list(layers, R"({"digest":")", "\"}") + "}");
    files.emplace_back("index.json",
                       "{\"manifests\":[{" + system + R"("digest":"sha256:)" + manifest +
                           R"(","annotations":{"org.opencontainers.image.ref.name":")" + tag +
                           "\"}}]}");
  }
  void write(const fs::path& to) const {
    for (const auto& [name, bytes] : files) {
      fs::create_directories((to / name).parent_path());
      std::ofstream(to / name, std::ios::binary) << bytes;
    }
  }
  [[nodiscard]] std::string packed() const {
    std::vector<Item> items;
    for (const auto& [name, bytes] : files) items.push_back(file(name, bytes));
    return archive(items);
  }
};

}  // namespace cordon::image::testing
