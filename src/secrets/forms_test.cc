#include "secrets/forms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cordon::secrets {
namespace {

using testing::Contains;
using testing::Not;
using testing::SizeIs;

std::vector<std::string> forms_of(std::string_view value) {
  const auto forms = Forms::of(value);
  EXPECT_TRUE(forms);
  return {forms->all().begin(), forms->all().end()};
}

TEST(Forms, AreWhatProgramsPrint) {
  // As by xxd -p, python's urllib.parse.quote and json.dumps, and base64.
  const auto forms = forms_of("p@ss\"w\xC3\xB6rd/1\n");
  EXPECT_THAT(forms, Contains("p@ss\"w\xC3\xB6rd/1\n"));
  EXPECT_THAT(forms, Contains("p@ss\"w\xC3\xB6rd/1\r\n"));
  EXPECT_THAT(forms, Contains("7040737322"
                              "77c3b672642f310a"));
  EXPECT_THAT(forms, Contains("7040737322"
                              "77C3B672642F310A"));
  EXPECT_THAT(forms, Contains("p%40ss%22w%C3%B6rd%2F1%0A"));
  EXPECT_THAT(forms, Contains("p%40ss%22w%c3%b6rd%2f1%0a"));
  EXPECT_THAT(forms, Contains("p@ss\\\"w\xC3\xB6rd/1\\n"));
  EXPECT_THAT(forms, Contains("p@ss\\\"w\\u00f6rd/1\\n"));
}

TEST(Forms, CharactersBeyondThePlaneArePairs) {
  EXPECT_THAT(forms_of("key \xF0\x9F\x94\x91 \xE2\x82\xAC"),
              Contains("key \\ud83d\\udd11 \\u20ac"));
}

TEST(Forms, Base64IsFoundAtEachPlace) {
  // base64 of "hunter2?>", of "xhunter2?>" and of "xyhunter2?>", without shared digits.
  const auto forms = forms_of("hunter2?>");
  EXPECT_THAT(forms, Contains("aHVudGVyMj8+"));
  EXPECT_THAT(forms, Contains("aHVudGVyMj8-"));
  EXPECT_THAT(forms, Contains("h1bnRlcjI/P"));
  EXPECT_THAT(forms, Contains("h1bnRlcjI_P"));
  EXPECT_THAT(forms, Contains("odW50ZXIyPz"));
}

TEST(Forms, AreThereOnce) {
  // Nothing to escape: as it is, hexadecimal (digits only, so once) and base64 at three places.
  EXPECT_THAT(forms_of("0123"), SizeIs(1 + 1 + 3));
}

TEST(Forms, BytesThatAreNoTextHaveNoTextForm) {
  const auto forms = forms_of("\xFF\xFE\xFD\xFC");
  EXPECT_THAT(forms, Contains("fffefdfc"));
  EXPECT_THAT(forms, Not(Contains(testing::HasSubstr("\\u"))));
}

TEST(Forms, TheLongestAndWorstValueFits) {
  EXPECT_THAT(forms_of(std::string(65536, '\x01')), Not(testing::IsEmpty()));
  EXPECT_THAT(forms_of(std::string(65536, '\n')), Not(testing::IsEmpty()));
  EXPECT_THAT(forms_of(std::string(4, '\x01')), Not(testing::IsEmpty()));
}

}  // namespace
}  // namespace cordon::secrets
