#include "sandbox_image.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/errors.h"
#include "base/fd.h"
#include "concat.h"
#include "cordon/version.h"
#include "write_all.h"

namespace cordon::app::sandbox {
namespace {

constexpr const char* kStage = "image";
constexpr const char* kFile = "cordon-request";
constexpr const char* kNew = "cordon-request.new";
constexpr std::size_t kLongest = std::size_t{4} * 1024 * 1024;

std::unexpected<Error> damaged(const std::string& image) {
  return base::fail(ErrorCode::invalid_argument, kStage,
                    concat(image, "/", kFile,
                           " is missing or damaged: this is not a whole image of 'cordon sandbox "
                           "checkpoint'"));
}

base::Fd open_image(const std::string& image) {
  return base::Fd(::open(image.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

}  // namespace

Result<void> write_image_request(const std::string& image, ImageRequest request) {
  const base::Fd directory = open_image(image);
  if (!directory) return base::fail_os(kStage, errno, concat("opening ", image));
  request.version = version();
  const base::Fd file(
      ::openat(directory.get(), kNew, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return base::fail_os(kStage, errno, concat("writing ", image, "/", kFile));
  auto written = write_all(file.get(), to_bytes(std::move(request)));
  if (written && ::fsync(file.get()) != 0) {
    written = base::fail_os(kStage, errno, concat("writing ", image, "/", kFile));
  }
  if (written && ::renameat(directory.get(), kNew, directory.get(), kFile) == 0) return {};
  if (written) written = base::fail_os(kStage, errno, concat("writing ", image, "/", kFile));
  (void)::unlinkat(directory.get(), kNew, 0);
  return written;
}

Result<ImageRequest> read_image_request(const std::string& image) {
  const base::Fd directory = open_image(image);
  if (!directory) return base::fail_os(kStage, errno, concat("opening ", image));
  const base::Fd file(::openat(directory.get(), kFile, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file) return damaged(image);
  std::string bytes;
  std::array<char, 64 * 1024> buffer;  // NOLINT(*-member-init): filled by the call
  while (bytes.size() <= kLongest) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::fail_os(kStage, errno, concat("reading ", image, "/", kFile));
    if (got == 0) break;
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
  }
  auto request = from_bytes<ImageRequest>(bytes);
  if (!request) return damaged(image);
  if (request->version != version()) {
    return base::fail(ErrorCode::invalid_argument, kStage,
                      concat(image, " was written by cordon ", request->version, ", and this is ",
                             version(), ": restore it by that one"));
  }
  return *std::move(request);
}

Exec main_of(const Request& request) {
  Exec main{.request = request,
            .timeout = request.timeout,
            .grace = request.grace,
            .relayed = request.in.kind == Input::Kind::pipe};
  main.request.pins.clear();  // their descriptors stay behind
  if (request.terminal) {
    main.terminal = Size{.rows = request.terminal->rows, .columns = request.terminal->columns};
  }
  return main;
}

Request request_of(Exec main) {
  Request request = std::move(main.request);
  request.timeout = main.timeout;
  request.grace = main.grace;
  if (main.terminal) {
    request.terminal = {.rows = main.terminal->rows, .columns = main.terminal->columns};
  }
  if (main.relayed) request.in = Input::pipe();
  return request;
}

}  // namespace cordon::app::sandbox
