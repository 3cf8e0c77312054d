#include "train/corpus.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include <filesystem>
#include <fstream>

#include "train/text_folder.hpp"

namespace cotillion {
namespace {

TEST(Corpus, TheSameSeedMakesTheSameText) {
  const auto once = synthetic_documents(3, 20'000, 2), again = synthetic_documents(3, 20'000, 2);
  ASSERT_EQ(once.size(), again.size());
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_EQ(once[i].text, again[i].text);
  EXPECT_NE(synthetic_documents(4, 20'000, 2)[0].text, once[0].text);
}

TEST(Corpus, IslandsHaveEqualSharesAndNobodyHasWhatIsHeldOut) {
  const auto corpus = make_corpus(synthetic_documents(1, 400'000, 4), 4, Split::kAlike, 1, 100);
  ASSERT_TRUE(corpus.has_value());
  for (const std::string& text : corpus->islands) {
    EXPECT_NEAR(double(text.size()), double(corpus->islands[0].size()), 2000);
    EXPECT_EQ(text.find(corpus->held_out.substr(0, 200)), std::string::npos);
  }
  EXPECT_NEAR(double(corpus->held_out.size()), 400'000 / 16.0, 5000);
  EXPECT_GT(corpus->unigram_entropy, 2);
  EXPECT_LT(corpus->unigram_entropy, 3.3);
}

TEST(Corpus, BySourceIslandsHaveFewSources) {
  std::vector<Document> documents;
  for (int i = 0; i < 64; ++i)
    documents.push_back({i % 2 == 0 ? "a" : "b", std::string(100, i % 2 == 0 ? 'a' : 'b')});
  const auto apart = make_corpus(documents, 2, Split::kBySource, 1, 100);
  ASSERT_TRUE(apart.has_value());
  const auto share = [](const std::string& text, char c) {
    return double(std::count(text.begin(), text.end(), c)) / double(text.size());
  };
  EXPECT_GT(share(apart->islands[0], 'a'), 0.85);
  EXPECT_GT(share(apart->islands[1], 'b'), 0.85);
  const auto alike = make_corpus(documents, 2, Split::kAlike, 1, 100);
  EXPECT_NEAR(share(alike->islands[0], 'a'), 0.5, 0.2);
}

TEST(Corpus, TooLittleTextIsRefused) {
  const auto corpus = make_corpus({{"a", "short"}}, 3, Split::kAlike, 1, 100);
  ASSERT_FALSE(corpus.has_value());
  EXPECT_THAT(corpus.error().message, ::testing::HasSubstr("too little text"));
}

TEST(Corpus, BatchesFollowFromSeedAndStepAndAreTheIslandsOwn) {
  Corpus corpus;
  corpus.islands = {std::string(500, 'x'), std::string(500, 'y')};
  corpus.held_out = "0123456789";
  const auto tokens = draw_batch(corpus, 1, 7, 3, 16);
  ASSERT_EQ(tokens.size(), 2u * 3 * 17);
  EXPECT_EQ(tokens.front(), 'x');
  EXPECT_EQ(tokens.back(), 'y');
  corpus.islands[0] = synthetic_documents(1, 2000, 1)[0].text;
  EXPECT_EQ(draw_batch(corpus, 1, 7, 3, 16), draw_batch(corpus, 1, 7, 3, 16));
  EXPECT_NE(draw_batch(corpus, 1, 7, 3, 16), draw_batch(corpus, 1, 8, 3, 16));
  EXPECT_NE(draw_batch(corpus, 2, 7, 3, 16), draw_batch(corpus, 1, 7, 3, 16));
  EXPECT_EQ(held_out_batch(corpus, 2, 3),
            (std::vector<std::uint8_t>{'0', '1', '2', '3', '6', '7', '8', '9'}));
}

TEST(Corpus, AFoldersFirstFoldersAreItsSources) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "texts";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "b" / "deep");
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(folder / name) << text;
  };
  write("b/deep/one", std::string(80, 'b'));
  write("a.txt", std::string(80, 'a'));
  write("short", "too short");
  write("binary", std::string(80, 'x') + '\0');
  const auto documents = read_folder(folder.string());
  ASSERT_TRUE(documents.has_value());
  ASSERT_EQ(documents->size(), 2u);
  EXPECT_EQ((*documents)[0].source, "a.txt");
  EXPECT_EQ((*documents)[1].source, "b");
  EXPECT_FALSE(read_folder((folder / "nowhere").string()).has_value());
  std::filesystem::remove_all(folder);
}

TEST(Corpus, ABigramModelKnowsTheByteBefore) {
  EXPECT_NEAR(bigram_entropy("abababab"), 0, 1e-12);
  // After an a comes a or b, after a b always a.
  EXPECT_NEAR(bigram_entropy("aabaabaaba"), std::log(2.0) * 6 / 9, 1e-12);
  EXPECT_EQ(bigram_entropy("a"), 0);
  const Corpus corpus = *make_corpus(synthetic_documents(1, 200'000, 3), 3, Split::kAlike, 1, 4096);
  EXPECT_LT(bigram_entropy(corpus.held_out), corpus.unigram_entropy - 0.5);
}

}  // namespace
}  // namespace cotillion
