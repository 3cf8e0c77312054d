// Text to train on: every island has its own, and all are judged by the same held-out part. Bytes
// are the tokens. Nothing is downloaded: a seeded generator makes text with words, habits of speech
// and several sources, or a folder of files is read (text_folder.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace cotillion {

struct Document {
  std::string source;  // those of one source speak alike
  std::string text;
};

enum class Split : std::uint8_t {
  kAlike,     // documents are dealt out at random: IID
  kBySource,  // each island has as few sources as possible: non-IID
};

struct Corpus {
  std::string name;                  // what it is and how it is split, for people
  std::vector<std::string> islands;  // what each trains on
  std::string held_out;
  double unigram_entropy = 0;  // of the held-out bytes, nats: what a model without context can do
};

// Of every byte given the one before it, as often as they follow each other in this text, nats: no
// model that knows one byte of context can do better on it.
[[nodiscard]] double bigram_entropy(const std::string& text);

// Every sixteenth document is held out. Refuses where an island would have less than `least` bytes.
[[nodiscard]] Result<Corpus> make_corpus(std::vector<Document> documents, int islands, Split split,
                                         std::uint64_t seed, std::size_t least);

// A language of its own for each seed; sources share its words and differ in what follows what.
[[nodiscard]] std::vector<Document> synthetic_documents(std::uint64_t seed, std::size_t bytes,
                                                        int sources);

// Tokens of one step: island by island, `batch` windows of context + 1 bytes from random places.
// The same seed and step give the same windows, whatever the policy.
[[nodiscard]] std::vector<std::uint8_t> draw_batch(const Corpus& corpus, std::uint64_t seed,
                                                   std::int64_t step, int batch, int context);

// The same for everybody: `windows` windows spread evenly over what was held out.
[[nodiscard]] std::vector<std::uint8_t> held_out_batch(const Corpus& corpus, int windows,
                                                       int context);

}  // namespace cotillion
