#include "sandbox/simulated_image.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

#include "audit/request_digest.h"
#include "base/errors.h"
#include "base/printable.h"

namespace cordon::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "sandbox";
constexpr std::string_view kKind = "cordon memory image 1\n";

std::string id_line(const ImageOf& of) { return "sandbox " + of.sandbox_id + "\n"; }
std::string request_line(const ImageOf& of) {
  return "request " + audit::request_digest(of.request) + "\n";
}
constexpr std::string_view kName = "image ";
std::string name_line(const std::string& name) { return std::string(kName) + name + "\n"; }

std::unexpected<Error> refuse(const fs::path& image, const std::string& why) {
  return base::fail(ErrorCode::invalid_argument, "image", base::printable(image.string()) + why);
}
std::unexpected<Error> cannot_write(const fs::path& image, const std::error_code& error) {
  return base::fail_os("image", error.value(),
                       "cannot write the image " + base::printable(image.string()));
}

}  // namespace

Result<void> write_image(const fs::path& image, const ImageOf& of, const std::string& name,
                         const std::function<void(std::uint64_t)>& progress) {
  std::error_code error;
  const bool made = fs::create_directory(image, error);
  if (error) return cannot_write(image, error);
  if (!made && !fs::is_empty(image, error)) {
    return refuse(image, " is not empty: give a directory that is, or that does not exist yet");
  }
  if (error) return cannot_write(image, error);

  const std::string text = std::string(kKind) + id_line(of) + request_line(of) + name_line(name);
  const fs::path file = image / kFile;
  const fs::path unfinished = image / "sandbox.tmp";
  bool written = false;
  {
    std::ofstream out(unfinished, std::ios::binary);
    out << text;
    out.flush();
    written = out.good();
  }
  if (written) fs::rename(unfinished, file, error);
  if (!written || error) {
    if (!error) error = {EIO, std::generic_category()};
    std::error_code ignored;
    fs::remove(unfinished, ignored);
    if (made) fs::remove(image, ignored);
    return cannot_write(image, error);
  }
  if (progress) progress(text.size());
  return {};
}

Result<std::string> read_image(const fs::path& image, const ImageOf& of) {
  std::ifstream in(image / kFile, std::ios::binary);
  if (!in) return refuse(image, " is not an image of a sandbox");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::string_view rest = text;
  if (!rest.starts_with(kKind)) return refuse(image, " is not an image of a sandbox in memory");
  rest.remove_prefix(kKind.size());
  if (!rest.starts_with(id_line(of))) {
    return refuse(image, " is damaged, or the image of another sandbox than " +
                             base::printable(of.sandbox_id));
  }
  rest.remove_prefix(id_line(of).size());
  const bool same_request = rest.starts_with(request_line(of));
  rest.remove_prefix(std::min(rest.size(), request_line(of).size()));
  if (!rest.starts_with(kName)) return refuse(image, " is damaged");
  rest.remove_prefix(kName.size());
  std::string name(rest.substr(0, rest.find('\n')));
  if (rest.size() != name.size() + 1) return refuse(image, " is damaged");
  if (!same_request) {
    return refuse(image, " was made by a sandbox of another request: restore it with that one");
  }
  return name;
}

}  // namespace cordon::sandbox
