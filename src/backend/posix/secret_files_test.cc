#include "backend/posix/secret_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

namespace cordon::posix {
namespace {

using testing::ElementsAre;

SecretValue value(std::string_view bytes) { return SecretValue::copy_of(bytes).value(); }

std::string content(int fd) {
  std::string text(kMostSecretBytes, '\0');
  const ssize_t size = ::read(fd, text.data(), text.size());
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

TEST(SecretFiles, HoldTheirPartsFromTheBeginning) {
  const std::array<std::string_view, 3> parts = {"NAME=", std::string_view("v\0w", 3), "!"};
  const auto file = sealed_file(parts);
  ASSERT_TRUE(file);
  EXPECT_EQ(content(file->get()), std::string("NAME=v\0w!", 9));
}

TEST(SecretFiles, CannotBeChangedByTheProgram) {
  const std::array<std::string_view, 1> parts = {"hush"};
  const auto file = sealed_file(parts);
  ASSERT_TRUE(file);
  EXPECT_EQ(::pwrite(file->get(), "x", 1, 0), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_NE(::ftruncate(file->get(), 0), 0);
  EXPECT_EQ(content(file->get()), "hush");
}

TEST(SecretFiles, VariablesEndWithANul) {
  Request request;
  request.secrets = {{"A", value("one"), Secret::Delivery::env},
                     {"B", value("two"), Secret::Delivery::fd}};
  const auto variables = secret_variables(request);
  ASSERT_TRUE(variables);
  ASSERT_EQ(variables->size(), 1U);
  EXPECT_EQ(variables->front().view(), std::string("A=one\0", 6));
}

TEST(SecretFiles, PlacesTellNumbersInOrder) {
  Request request;
  request.secrets = {{"A", value("1"), Secret::Delivery::fd},
                     {"B", value("2"), Secret::Delivery::env},
                     {"C", value("3"), Secret::Delivery::file},
                     {"D", value("4"), Secret::Delivery::fd}};
  EXPECT_THAT(secret_places(request, 3), ElementsAre("A_FD=3", "C_FILE=/run/secrets/C", "D_FD=4"));
  const auto files = secret_descriptors(request);
  ASSERT_TRUE(files);
  ASSERT_EQ(files->size(), 2U);
  EXPECT_EQ(content(files->back().get()), "4");
}

}  // namespace
}  // namespace cordon::posix
