// SPDX-License-Identifier: Apache-2.0
#include "front/traffic/traffic_findings.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

namespace ferry::traffic {

namespace {

bool crosses_link(const Copy& copy) {
  return copy.way == Way::to_device || copy.way == Way::to_host;
}

std::vector<const Copy*> copies_over_link(const Records& records, std::uint64_t step) {
  std::vector<const Copy*> found;
  for (const Copy& copy : records.copies) {
    if (crosses_link(copy) && records.moment_of(copy).step == step) found.push_back(&copy);
  }
  return found;
}

bool tells_something(const Copy& copy) {
  return copy.contents && !copy.contents->zero && copy.bytes >= kSmallestContents;
}

Bytes smaller_form(const Copy& copy) {
  return copy.contents->widened ? Bytes{copy.bytes.count / 2} : copy.bytes;
}

std::vector<Repeated> find_repeated(const Records& records, std::span<const Copy* const> copies) {
  // Equal digests of different lengths are different contents.
  std::map<std::pair<std::string, std::uint64_t>, std::vector<const Copy*>> by_contents;
  for (const Copy* const copy : copies) {
    if (tells_something(*copy))
      by_contents[{copy->contents->digest, smaller_form(*copy).count}].push_back(copy);
  }
  std::map<std::vector<Stop>, Repeated> routes;
  for (const auto& [contents, same] : by_contents) {
    if (same.size() < 2) continue;
    std::vector<Stop> stops;
    Bytes moved;
    for (const Copy* const copy : same) {
      stops.push_back(
          {records.moment_of(*copy).phase, copy->way, copy->contents->widened, copy->caller});
      moved += copy->bytes;
    }
    Repeated& route = routes[stops];
    route.stops = stops;
    ++route.contents;
    route.moved += moved;
    route.needed += Bytes{contents.second};
  }
  std::vector<Repeated> found;
  for (auto& [stops, route] : routes) found.push_back(std::move(route));
  std::ranges::stable_sort(found, std::ranges::greater(),
                           [](const Repeated& route) { return route.moved - route.needed; });
  return found;
}

std::vector<Widened> find_widened(const Records& records, std::span<const Copy* const> copies) {
  std::map<std::tuple<std::string, Way, Caller>, Widened> by_caller;
  for (const Copy* const copy : copies) {
    if (!tells_something(*copy) || !copy->contents->widened) continue;
    const std::string& phase = records.moment_of(*copy).phase;
    Widened& entry = by_caller[{phase, copy->way, copy->caller}];
    entry.phase = phase;
    entry.way = copy->way;
    entry.caller = copy->caller;
    ++entry.copies;
    entry.moved += copy->bytes;
  }
  std::vector<Widened> found;
  for (auto& [caller, entry] : by_caller) found.push_back(std::move(entry));
  std::ranges::stable_sort(found, std::ranges::greater(), &Widened::moved);
  return found;
}

std::vector<Accumulated> find_accumulated(const Records& records,
                                          std::span<const Copy* const> copies) {
  std::map<std::uint64_t, Bytes> to_host;  // by micro-step
  Bytes moved;
  for (const Copy* const copy : copies) {
    const Moment& moment = records.moment_of(*copy);
    if (moment.phase != "backward") continue;
    moved += copy->bytes;
    if (copy->way == Way::to_host) to_host[moment.micro_step] += copy->bytes;
  }
  std::erase_if(to_host, [](const auto& entry) { return entry.second < kSmallestContents; });
  if (to_host.size() < 2) return {};
  const auto least =
      std::ranges::min_element(to_host, {}, [](const auto& entry) { return entry.second; });
  return {{to_host.size(), moved, least->second}};
}

}  // namespace

Findings look_for_waste(const Records& records, std::uint64_t step) {
  const std::vector<const Copy*> copies = copies_over_link(records, step);
  Findings findings;
  findings.has_contents =
      std::ranges::any_of(copies, [](const Copy* copy) { return tells_something(*copy); });
  findings.repeated = find_repeated(records, copies);
  findings.widened = find_widened(records, copies);
  findings.accumulated = find_accumulated(records, copies);
  return findings;
}

}  // namespace ferry::traffic
