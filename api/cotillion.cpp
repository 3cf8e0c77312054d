#include "api/cotillion.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>

#include "exchange/correction.hpp"
#include "exchange/exchange_client.hpp"

using cotillion::Correction;
using cotillion::Duration;
using cotillion::ExchangeClient;

// Nothing is thrown through C: what fails is a status and words.
struct cotillion_job {
  explicit cotillion_job(ExchangeClient joined) : client(std::move(joined)) {}

  ExchangeClient client;
  std::string message, description;
  std::vector<std::string> names;
  std::array<cotillion_absence, cotillion::kCorrectionAbsences> absences{};
};

namespace {

Duration duration_of(double seconds) {
  if (!(seconds > 0)) return {0};
  return {std::llround(std::min(seconds, 1e6) * 1e12)};
}

cotillion_status failed(cotillion_job& job, const std::string& message) {
  job.message = message;
  return COTILLION_FAILED;
}

template <class Work>
cotillion_status guarded(cotillion_job& job, Work work) {
  try {
    return work();
  } catch (const std::exception& thrown) {
    return failed(job, thrown.what());
  }
}

cotillion_status ended(cotillion_job& job) {
  job.message = "the job has ended: " + job.client.region().words().reason.read();
  return COTILLION_ENDED;
}

void hand_over(cotillion_job& job, const Correction& from, cotillion_correction& into) {
  into.round = from.account.round;
  into.rounds = from.account.rounds;
  into.members = from.account.members;
  into.first = from.first;
  into.count = from.values.size();
  into.scale = from.account.scale;
  into.values = from.values.data();
  into.absent = std::min<std::uint32_t>(from.account.absent, cotillion::kCorrectionAbsences);
  for (std::uint32_t i = 0; i < into.absent; ++i) {
    const cotillion::Absence& absence = from.account.absences[i];
    job.absences[i] = {absence.contributor, absence.chunks, absence.first_chunk};
  }
  into.absences = job.absences.data();
  into.fragment = from.fragment;
  job.description = job.client.describe(from);
}

}  // namespace

cotillion_job* cotillion_join(const char* socket, uint64_t elements, double seconds, char* message,
                              size_t size) {
  std::string why = "no socket was named";
  try {
    if (socket != nullptr) {
      auto client = ExchangeClient::join(socket, elements, duration_of(seconds));
      if (client) {
        auto job = std::make_unique<cotillion_job>(std::move(*client));
        const cotillion::RegionHeader& words = job->client.region().words();
        for (std::uint32_t i = 0; i < words.islands; ++i)
          job->names.push_back(job->client.region().island(int(i)));
        return job.release();
      }
      why = client.error().message;
    }
  } catch (const std::exception& thrown) {
    why = thrown.what();
  }
  if (message != nullptr && size > 0) {
    const std::size_t length = std::min(why.size(), size - 1);
    std::memcpy(message, why.data(), length);
    message[length] = 0;
  }
  return nullptr;
}

void cotillion_leave(cotillion_job* job) {
  delete job;
}

uint64_t cotillion_elements(const cotillion_job* job) {
  return job->client.elements();
}

uint64_t cotillion_fragment_elements(const cotillion_job* job) {
  std::uint64_t most = 0;
  const cotillion::ExchangeRegion& region = job->client.region();
  for (int f = 0; f < region.fragments(); ++f) most = std::max(most, region.run(f).count);
  return most;
}

uint32_t cotillion_round(const cotillion_job* job) {
  return job->client.region().words().round.load(std::memory_order_acquire);
}

const char* cotillion_island_name(const cotillion_job* job, int island) {
  return island >= 0 && std::size_t(island) < job->names.size()
             ? job->names[std::size_t(island)].c_str()
             : "?";
}

int cotillion_self(const cotillion_job* job) {
  return int(job->client.region().words().self);
}

cotillion_status cotillion_offer(cotillion_job* job, cotillion_source source, void* user) {
  return guarded(*job, [&] {
    if (source == nullptr) return failed(*job, "a source that is NULL");
    const auto offered =
        job->client.offer([source, user](std::uint64_t first, std::span<float> values) {
          source(user, first, values.size(), values.data());
        });
    return offered ? COTILLION_OK : failed(*job, offered.error().message);
  });
}

cotillion_status cotillion_step(cotillion_job* job) {
  return guarded(*job, [&] {
    const auto stepped = job->client.step();
    if (!stepped) return failed(*job, stepped.error().message);
    return job->client.ended() ? ended(*job) : COTILLION_OK;
  });
}

cotillion_status cotillion_poll(cotillion_job* job, cotillion_correction* correction) {
  return guarded(*job, [&] {
    const auto next = job->client.poll();
    if (!next) return failed(*job, next.error().message);
    if (!*next) return job->client.ended() ? ended(*job) : COTILLION_NONE;
    hand_over(*job, **next, *correction);
    return COTILLION_OK;
  });
}

cotillion_status cotillion_wait(cotillion_job* job, double seconds,
                                cotillion_correction* correction) {
  return guarded(*job, [&] {
    const auto next = job->client.wait(duration_of(seconds));
    if (next) {
      hand_over(*job, *next, *correction);
      return COTILLION_OK;
    }
    job->message = next.error().message;
    if (job->client.ended()) return COTILLION_ENDED;
    return job->client.check().has_value() ? COTILLION_LATE : COTILLION_FAILED;
  });
}

void cotillion_apply(const cotillion_correction* correction, float* model) {
  const std::span<float> part(model + correction->first, correction->count);
  cotillion::correct(part, correction->scale, part, {correction->values, correction->count});
}

void cotillion_done(cotillion_job* job, const cotillion_correction* correction) {
  Correction given;
  given.fragment = correction->fragment;
  job->client.done(given);
}

const char* cotillion_message(const cotillion_job* job) {
  return job->message.c_str();
}

const char* cotillion_describe(cotillion_job* job, const cotillion_correction*) {
  return job->description.c_str();
}
