#include "plan/file/planned_streams.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "plan/file/plan_ingress.hpp"
#include "plan/file/plan_numbers.hpp"

namespace cotillion {
namespace {

constexpr const char* kTreeRemedy =
    "a tree is the sender's up lane, then every lane once that leads on to a receiver";

}  // namespace

StreamReader::StreamReader(const PlanNetwork& network, const NetworkModelSettings& settings)
    : map_(network.map),
      ingress_(network.ingress),
      multicast_(settings.technology.multicast),
      payload_((settings.ships_state ? 2 : 1) * network.map.payload),
      reach_(network.map.place_count()) {}

Stream StreamReader::read(const PlanField& field, const std::vector<IslandId>& members,
                          std::size_t sender, MemberReader& names) {
  Stream stream;
  if (!field.is_object()) return stream;
  stream.sender = members[sender];
  const auto named = names.island(field.at("sender"));
  if (named && *named != stream.sender)
    field.at("sender").problem(fmt::format("{} where {} belongs", map_.islands[*named].name,
                                           map_.islands[stream.sender].name),
                               "streams go in the order of the clique's islands");
  stream.offset = RealDuration::from_ps(read_billionth(field, "offset_ms").value_or(0));
  stream.rate = {read_positive_billionth(field, "rate_gbps").value_or(1)};
  stream.payload = payload_;
  const auto bytes = field.at("payload_bytes").integer(1, INT64_MAX);
  if (bytes && *bytes != payload_.count)
    field.at("payload_bytes")
        .problem(fmt::format("{} bytes, not {}", *bytes, payload_.count),
                 "every stream carries the payload_bytes of the plan");
  // Both are read, so that mistakes in both are told.
  const bool tree = read_tree(field.at("tree"), stream);
  const bool receivers = read_receivers(field.at("receivers"), members, names, stream);
  if (tree && receivers) check_tree(field, stream);
  return stream;
}

bool StreamReader::read_tree(const PlanField& field, Stream& stream) {
  const auto size = field.list("lane", 1, map_.place_count());
  if (!size) return false;
  ++tree_;
  reach_[stream.sender] = {tree_, tree_, -1, {}, 0};
  bool sound = true;
  for (std::size_t k = 0; k < *size; ++k) {
    const auto given = field[k].integer(0, map_.lane_count() - 1);
    sound = sound && given;
    if (!given) continue;
    const auto lane = LaneId(*given);
    stream.tree.push_back(lane);
    std::string mistake;
    if (k == 0) {
      if (lane != lane_up(map_, stream.sender))
        mistake = fmt::format("lane {} where {} begins, the up lane of {}", lane,
                              lane_up(map_, stream.sender), map_.islands[stream.sender].name);
    } else if (is_access(map_, lane)) {
      mistake = fmt::format("lane {} is an access lane", lane);
    } else {
      Reach& reach = reach_[lane_end(map_, lane)];
      if (reach.tree == tree_)
        mistake = fmt::format("lane {} leads to {} a second time", lane,
                              place_name(map_, lane_end(map_, lane)));
      else
        reach = {tree_, -1, lane, {}, 0};
    }
    if (!mistake.empty()) field[k].problem(mistake, kTreeRemedy);
    sound = sound && mistake.empty();
  }
  return sound;
}

bool StreamReader::read_receivers(const PlanField& field, const std::vector<IslandId>& members,
                                  MemberReader& names, Stream& stream) {
  const auto size = field.list("receiver", members.size() - 1, members.size() - 1);
  if (!size) return false;
  bool sound = true;
  std::size_t k = 0;
  for (const IslandId member : members) {
    if (member == stream.sender) continue;
    const PlanField receiver = field[k++];
    stream.receivers.push_back({member, {}});
    if (!receiver.is_object()) {
      sound = false;
      continue;
    }
    const PlanField name = receiver.at("island");
    const auto island = names.island(name);
    if (island && *island != member)
      name.problem(
          fmt::format("{} where {} belongs", map_.islands[*island].name, map_.islands[member].name),
          "receivers are the clique's other islands, in their order");
    sound = sound && island == member;
  }
  return sound;
}

// Finds the latency to a place of the tree, and to all places on the way there. Each is visited
// once for a stream, however many receivers lie behind it.
bool StreamReader::settle(PlaceId place) {
  way_.clear();
  while (reach_[place].settled != tree_) {
    // A way as long as the tree and still not at the sender goes round in a circle.
    if (reach_[place].tree != tree_ || way_.size() > reach_.size()) return false;
    way_.push_back(place);
    place = lane_start(map_, reach_[place].lane);
  }
  for (; !way_.empty(); way_.pop_back()) {
    Reach& reach = reach_[way_.back()];
    reach.latency = reach_[lane_start(map_, reach.lane)].latency + lane_latency(map_, reach.lane);
    reach.settled = tree_;
    order_.push_back(way_.back());
  }
  return true;
}

void StreamReader::check_tree(const PlanField& field, Stream& stream) {
  order_.clear();
  bool sound = true;
  for (std::size_t k = 0; k < stream.receivers.size() && !field.full(); ++k) {
    Arrival& arrival = stream.receivers[k];
    const Ingress& ingress = ingress_[arrival.receiver];
    if (!settle(ingress.from)) {
      field.at("tree").problem(
          fmt::format("does not lead to {}, where streams for {} meet",
                      place_name(map_, ingress.from), map_.islands[arrival.receiver].name),
          kTreeRemedy);
      sound = false;
      continue;
    }
    ++reach_[ingress.from].behind;
    arrival.latency = reach_[ingress.from].latency + ingress.latency;
    const PlanField latency = field.at("receivers")[k].at("latency_ms");
    const auto ms = latency.number(0, kLatencySumMax);
    if (ms && *ms != arrival.latency.ms())
      latency.problem(fmt::format("the lanes on its way take {} ms", arrival.latency.ms()));
  }
  if (sound) check_copies(field, stream);
}

void StreamReader::check_copies(const PlanField& field, Stream& stream) {
  for (auto place = order_.rbegin(); place != order_.rend(); ++place)
    reach_[lane_start(map_, reach_[*place].lane)].behind += reach_[*place].behind;
  const PlanField copies = field.at("copies");
  const auto size = copies.list("number", stream.tree.size(), stream.tree.size());
  for (std::size_t k = 0; k < stream.tree.size() && !field.full(); ++k) {
    const Reach& reach = reach_[k == 0 ? stream.sender : lane_end(map_, stream.tree[k])];
    if (reach.settled != tree_)
      field.at("tree")[k].problem(fmt::format("lane {} leads to no receiver", stream.tree[k]),
                                  kTreeRemedy);
    const int expected = multicast_ ? 1 : reach.behind;
    stream.copies.push_back(expected);
    const auto given = size ? copies[k].integer(1, INT64_MAX) : std::nullopt;
    if (given && reach.settled == tree_ && *given != expected)
      copies[k].problem(fmt::format("{} copies where {} belong", *given, expected),
                        multicast_ ? "with multicast a lane carries a stream once"
                                   : "without multicast there is a copy for each receiver behind");
  }
}

}  // namespace cotillion
