#include "train/corpus.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/random.hpp"

namespace cotillion {
namespace {

constexpr std::size_t kHeldOutEvery = 16;
constexpr int kWords = 320;
constexpr int kFollowers = 6;

void shuffle(std::vector<Document>& documents, Random& random) {
  for (std::size_t i = documents.size(); i > 1; --i)
    std::swap(documents[i - 1], documents[std::size_t(random.between(0, std::int64_t(i) - 1))]);
}

double entropy_of(const std::string& text) {
  std::array<double, 256> counts{};
  for (const char c : text) ++counts[static_cast<unsigned char>(c)];
  double entropy = 0;
  for (const double count : counts)
    if (count > 0) entropy -= count / double(text.size()) * std::log(count / double(text.size()));
  return entropy;
}

std::string made_up_word(Random& random) {
  static constexpr std::string_view kConsonants = "bdfghklmnprstvz";
  static constexpr std::string_view kVowels = "aeiou";
  std::string word;
  for (std::int64_t syllables = random.between(1, 3); syllables > 0; --syllables) {
    word += kConsonants[std::size_t(random.between(0, std::int64_t(kConsonants.size()) - 1))];
    word += kVowels[std::size_t(random.between(0, std::int64_t(kVowels.size()) - 1))];
  }
  return word;
}

// Which words may follow each word; the first is the likeliest.
using Habits = std::vector<std::array<int, kFollowers>>;

Habits habits_of(Random& random) {
  Habits habits(kWords);
  for (auto& followers : habits)
    for (int& word : followers) word = int(random.between(0, kWords - 1));
  return habits;
}

int follower(const std::array<int, kFollowers>& followers, Random& random) {
  // Halves: the first comes half of the time.
  for (std::size_t i = 0; i + 1 < followers.size(); ++i)
    if (random.unit() < 0.5) return followers[i];
  return followers.back();
}

}  // namespace

double bigram_entropy(const std::string& text) {
  std::vector<double> pairs(256 * 256, 0.0), firsts(256, 0.0);
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    ++pairs[std::size_t(std::uint8_t(text[i])) * 256 + std::uint8_t(text[i + 1])];
    ++firsts[std::uint8_t(text[i])];
  }
  double sum = 0;
  for (std::size_t pair = 0; pair < pairs.size(); ++pair)
    if (pairs[pair] > 0) sum -= pairs[pair] * std::log(pairs[pair] / firsts[pair / 256]);
  return text.size() < 2 ? 0 : sum / double(text.size() - 1);
}

Result<Corpus> make_corpus(std::vector<Document> documents, int islands, Split split,
                           std::uint64_t seed, std::size_t least) {
  Random random(seed);
  shuffle(documents, random);
  Corpus corpus;
  corpus.islands.resize(std::size_t(islands));
  std::vector<Document> kept;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    if (i % kHeldOutEvery == 0)
      corpus.held_out += documents[i].text + "\n";
    else
      kept.push_back(std::move(documents[i]));
  }
  std::size_t total = 0;
  for (const Document& document : kept) total += document.text.size();
  if (split == Split::kBySource)
    std::stable_sort(kept.begin(), kept.end(),
                     [](const Document& a, const Document& b) { return a.source < b.source; });
  std::size_t dealt = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    // By source: an equal share of the bytes in order of sources. Alike: to whom has least.
    const auto island =
        split == Split::kBySource
            ? corpus.islands.begin() + std::ptrdiff_t(dealt * std::size_t(islands) / (total + 1))
            : std::min_element(
                  corpus.islands.begin(), corpus.islands.end(),
                  [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
    dealt += kept[i].text.size();
    *island += kept[i].text + "\n";
  }
  for (const std::string& text : corpus.islands)
    if (text.size() < least || corpus.held_out.size() < least)
      return failure("too little text: " + std::to_string(total + corpus.held_out.size()) +
                     " bytes in " + std::to_string(documents.size()) +
                     " documents leave an island " + std::to_string(text.size()) +
                     " and the held-out part " + std::to_string(corpus.held_out.size()) +
                     "; each needs " + std::to_string(least));
  corpus.unigram_entropy = entropy_of(corpus.held_out);
  return corpus;
}

std::vector<Document> synthetic_documents(std::uint64_t seed, std::size_t bytes, int sources) {
  Random random(seed * 2 + 1);
  std::vector<std::string> words;
  for (int i = 0; i < kWords; ++i) words.push_back(made_up_word(random));
  const Habits common = habits_of(random);
  std::vector<Habits> habits;
  for (int source = 0; source < sources; ++source) {
    habits.push_back(habits_of(random));
    for (std::size_t word = 0; word < kWords; word += 2) habits.back()[word] = common[word];
  }
  std::vector<Document> documents;
  for (std::size_t made = 0; made < bytes;) {
    const auto source = std::size_t(random.between(0, sources - 1));
    Document document{"source " + std::to_string(source), ""};
    int word = int(random.between(0, kWords - 1));
    while (document.text.size() < 1500) {
      for (std::int64_t left = random.between(3, 11); left >= 0; --left) {
        document.text += words[std::size_t(word)] + (left > 0 ? " " : ".\n");
        word = follower(habits[source][std::size_t(word)], random);
      }
    }
    made += document.text.size();
    documents.push_back(std::move(document));
  }
  return documents;
}

std::vector<std::uint8_t> draw_batch(const Corpus& corpus, std::uint64_t seed, std::int64_t step,
                                     int batch, int context) {
  std::vector<std::uint8_t> tokens;
  tokens.reserve(corpus.islands.size() * std::size_t(batch) * std::size_t(context + 1));
  for (std::size_t i = 0; i < corpus.islands.size(); ++i) {
    const std::string& text = corpus.islands[i];
    Random random(Random(seed ^ (std::uint64_t(step) << 16u)).next() + i);
    for (int b = 0; b < batch; ++b) {
      const auto first = text.begin() + random.between(0, std::int64_t(text.size()) - context - 1);
      tokens.insert(tokens.end(), first, first + context + 1);
    }
  }
  return tokens;
}

std::vector<std::uint8_t> held_out_batch(const Corpus& corpus, int windows, int context) {
  std::vector<std::uint8_t> tokens;
  const std::size_t room = corpus.held_out.size() - std::size_t(context) - 1;
  for (int w = 0; w < windows; ++w) {
    const auto first =
        corpus.held_out.begin() +
        std::ptrdiff_t(room * std::size_t(w) / std::size_t(std::max(windows - 1, 1)));
    tokens.insert(tokens.end(), first, first + context + 1);
  }
  return tokens;
}

}  // namespace cotillion
