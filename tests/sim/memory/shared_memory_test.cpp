// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/shared_memory.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "sim/memory/physical_memory.hpp"

namespace ferry::sim {
namespace {

SharedDescription description(std::uint64_t size) {
  SharedDescription described;
  described.kind = SharedKind::created;
  described.with_data = 1;
  described.size = size;
  return described;
}

std::shared_ptr<SharedMemory> make(std::uint64_t size = kFrameBytes) {
  return SharedMemory::create(description(size));
}

// As another process sees it.
std::shared_ptr<SharedMemory> again(const SharedMemory& memory) {
  return SharedMemory::open(SealedFile::open(memory.file().descriptor(), SharedKind::created));
}

TEST(SharedMemory, UnwrittenPagesAreKnownToAll) {
  const auto memory = make();
  const auto other = again(*memory);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->size(), kFrameBytes);
  memory->mark_written(70);
  EXPECT_TRUE(other->is_written(70));
  EXPECT_FALSE(other->is_written(69));
  EXPECT_FALSE(other->is_written(71));
}

TEST(SharedMemory, SizesThatDoNotFitTheFileAreRefused) {
  for (const std::uint64_t size : {std::uint64_t{0}, kFrameBytes + 1, kFrameBytes / 2,
                                   2 * kFrameBytes, std::uint64_t{1} << 47, ~std::uint64_t{0}}) {
    const auto honest = make();
    const auto file = SealedFile::create(description(size), honest->file().bytes());
    EXPECT_FALSE(SharedMemory::open(file)) << size;
  }
  EXPECT_FALSE(SharedMemory::open(nullptr));
}

TEST(SharedMemory, OddSizesAreRefusedWhereTheFileFitsThem) {
  const std::uint64_t fitting = make(kPageBytes)->file().bytes();
  ASSERT_TRUE(SharedMemory::open(SealedFile::create(description(kPageBytes), fitting)));
  EXPECT_FALSE(SharedMemory::open(SealedFile::create(description(kPageBytes + 1), fitting + 1)));
  const std::uint64_t nothing =
      fitting - 2 * kPageBytes;  // without the page and what says it is written
  EXPECT_FALSE(SharedMemory::open(SealedFile::create(description(0), nothing)));
}

TEST(SharedMemory, OffersAreFoundUntilTheyAreWithdrawn) {
  const auto memory = make(4 * kFrameBytes);
  const auto other = again(*memory);
  const auto id = memory->offer({kFrameBytes, 2 * kFrameBytes, 512, 1000});
  ASSERT_TRUE(id);
  const auto found = other->find(*id);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->block_start, kFrameBytes);
  EXPECT_EQ(found->block_size, 2 * kFrameBytes);
  EXPECT_EQ(found->offset, 512U);
  EXPECT_EQ(found->size, 1000U);
  EXPECT_FALSE(other->find({id->place, id->generation + 1}));
  EXPECT_FALSE(other->find({SharedMemory::kMostOffers, id->generation}));
  EXPECT_FALSE(other->find({~std::uint32_t{0}, id->generation})) << "beyond the file";
  EXPECT_FALSE(other->find({id->place + 1, 0})) << "an empty place";
  memory->withdraw(*id);
  EXPECT_FALSE(other->find(*id));
  EXPECT_FALSE(other->find({id->place, 0})) << "what it left behind";
}

TEST(SharedMemory, PlacesAreUsedAgainAndOldOffersStayGone) {
  const auto memory = make();
  std::vector<OfferId> ids;
  for (std::uint32_t i = 0; i < SharedMemory::kMostOffers; ++i)
    ids.push_back(memory->offer({0, kFrameBytes, 0, 1}).value());
  EXPECT_FALSE(memory->offer({0, kFrameBytes, 0, 1}));
  memory->withdraw(ids[17]);
  const auto next = memory->offer({0, kFrameBytes, 0, 2});
  ASSERT_TRUE(next);
  EXPECT_EQ(next->place, ids[17].place);
  EXPECT_FALSE(memory->find(ids[17]));
  EXPECT_EQ(memory->find(*next)->size, 2U);
}

TEST(SharedMemory, NonsenseOfOthersIsNotFound) {
  const auto memory = make(2 * kFrameBytes);
  for (const Offer& wrong :
       {Offer{0, 4 * kFrameBytes, 0, 1}, Offer{0, kFrameBytes, kFrameBytes, 1},
        Offer{0, kFrameBytes, 0, kFrameBytes + 1}, Offer{2 * kFrameBytes, kFrameBytes, 0, 1},
        Offer{0, kFrameBytes, 0, 0}, Offer{1, kFrameBytes, 0, 1}, Offer{0, kFrameBytes, ~0UL, 2},
        Offer{0, kPageBytes + 1, 0, 1}}) {
    EXPECT_FALSE(memory->find(memory->offer(wrong).value()))
        << wrong.block_start << ' ' << wrong.block_size << ' ' << wrong.offset;
  }
}

TEST(SharedRange, BytesOfOneAreBytesOfTheOther) {
  const auto memory = make(2 * kFrameBytes);
  SharedRange here(memory, kFrameBytes, kFrameBytes);
  SharedRange there(again(*memory), kFrameBytes, kFrameBytes);
  EXPECT_EQ(there.peek(5000), nullptr) << "never written";
  std::byte* const room = here.open_for_write(5000, 100);
  ASSERT_NE(room, nullptr);
  std::memset(room, 1, 100);
  const std::byte* const seen = there.peek(4096);
  ASSERT_NE(seen, nullptr);
  EXPECT_EQ(seen[0], std::byte{kPoison}) << "the rest of a page written in part";
  EXPECT_EQ(seen[5000 - 4096 + 99], std::byte{1});
  EXPECT_EQ(seen[5000 - 4096 + 100], std::byte{kPoison});
  EXPECT_EQ(there.peek(0), nullptr);
  EXPECT_EQ(there.peek(8192), nullptr);
}

// Two processes that write parts of the same fresh pages, in no order: neither may lose a byte.
TEST(SharedRange, NoByteIsLostWhenTwoProcessesBegin) {
  constexpr std::uint64_t kHalf = kPageBytes / 2;
  const auto memory = make(4 * kFrameBytes);
  const auto write_halves = [&](std::uint64_t start, int value) {
    SharedRange range(again(*memory), 0, memory->size());
    for (std::uint64_t page = 0; page < memory->size() / kPageBytes; ++page)
      std::memset(range.open_for_write(page * kPageBytes + start, kHalf), value, kHalf);
  };
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    write_halves(0, 1);
    _exit(0);
  }
  write_halves(kHalf, 2);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  SharedRange range(memory, 0, memory->size());
  for (std::uint64_t page = 0; page < memory->size() / kPageBytes; ++page) {
    const std::byte* const bytes = range.peek(page * kPageBytes);
    ASSERT_EQ(bytes[0], std::byte{1}) << page;
    ASSERT_EQ(bytes[kHalf - 1], std::byte{1}) << page;
    ASSERT_EQ(bytes[kHalf], std::byte{2}) << page;
    ASSERT_EQ(bytes[kPageBytes - 1], std::byte{2}) << page;
  }
}

// The other process has the page for itself, and writes a byte; who waits meanwhile must not fill
// the page once more.
TEST(SharedRange, WhoComesSecondFillsNothing) {
  const auto memory = make();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto own = again(*memory);
    const bool locked = own->lock_page(0);
    static_cast<void>(!write(ends[1], &locked, sizeof locked));
    usleep(50'000);
    *own->map(0, kPageBytes).data() = std::byte{1};
    own->mark_written(0);
    own->unlock_page(0);
    _exit(0);
  }
  bool locked = false;
  ASSERT_EQ(read(ends[0], &locked, sizeof locked), static_cast<ssize_t>(sizeof locked));
  ASSERT_TRUE(locked);
  SharedRange range(memory, 0, kFrameBytes);
  *range.open_for_write(1, 1) = std::byte{2};
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(range.peek(0)[0], std::byte{1});
  EXPECT_EQ(range.peek(0)[1], std::byte{2});
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace ferry::sim
