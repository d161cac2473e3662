// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/sealed_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <vector>

namespace ferry::sim {
namespace {

constexpr std::uint64_t kBytes = 3 * 4096;

SharedDescription description() {
  SharedDescription described;
  described.kind = SharedKind::pool;
  described.device = 5;
  described.size = 1234;
  return described;
}

std::shared_ptr<SealedFile> make() {
  return SealedFile::create(description(), kBytes);
}

TEST(SealedFile, IsUnderstoodWhereItIsOpened) {
  const auto made = make();
  ASSERT_TRUE(made);
  const int given = made->give_descriptor();
  const auto opened = SealedFile::open(given, SharedKind::pool);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->id(), made->id());
  EXPECT_EQ(opened->bytes(), kBytes);
  EXPECT_EQ(opened->description().device, 5);
  EXPECT_EQ(opened->description().size, 1234U);
  EXPECT_EQ(close(given), 0) << "the caller's descriptor stays the caller's";
  MappedPart one = made->map(4096, 4096);
  MappedPart other = opened->map(0, kBytes);
  ASSERT_NE(one.data(), nullptr);
  ASSERT_NE(other.data(), nullptr);
  one.data()[7] = std::byte{42};
  EXPECT_EQ(other.data()[4096 + 7], std::byte{42});
}

TEST(SealedFile, TwoAreNotTheSame) {
  EXPECT_NE(make()->id(), make()->id());
}

TEST(SealedFile, ALargerOneThanFilesMayBeIsRefused) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{2 * kBytes, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_TRUE(make());
  EXPECT_FALSE(SealedFile::create(description(), 2 * kBytes)) << "and the process lives on";
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
}

TEST(SealedFile, NobodyChangesItsSize) {
  const auto made = make();
  EXPECT_NE(ftruncate(made->descriptor(), 0), 0);
  EXPECT_NE(ftruncate(made->descriptor(), 1 << 20), 0);
}

TEST(SealedFile, GivesDescriptorsThatEndWithTheProgram) {
  const int given = make()->give_descriptor();
  EXPECT_EQ(fcntl(given, F_GETFD), FD_CLOEXEC);
  close(given);
}

TEST(SealedFile, ItsOwnDescriptorsEndWithTheProgramToo) {
  const auto made = make();
  EXPECT_EQ(fcntl(made->descriptor(), F_GETFD), FD_CLOEXEC);
  const auto opened = SealedFile::open(made->descriptor(), SharedKind::pool);
  EXPECT_EQ(fcntl(opened->descriptor(), F_GETFD), FD_CLOEXEC);
}

TEST(SealedFile, AMappingEndsWithItsObject) {
  const auto made = make();
  MappedPart part = made->map(0, 4096);
  void* const at = part.data();
  ASSERT_EQ(msync(at, 4096, MS_ASYNC), 0);
  part = {};
  EXPECT_NE(msync(at, 4096, MS_ASYNC), 0);
}

TEST(SealedFile, RefusesWhatIsNotOne) {
  EXPECT_FALSE(SealedFile::open(-1, SharedKind::pool));
  EXPECT_FALSE(SealedFile::open(1 << 20, SharedKind::pool));
  const int gone = make()->descriptor();
  EXPECT_FALSE(SealedFile::open(gone, SharedKind::pool));
  const auto made = make();
  EXPECT_FALSE(SealedFile::open(made->descriptor(), SharedKind::event)) << "of another kind";
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_FALSE(SealedFile::open(ends[0], SharedKind::pool));
  close(ends[0]);
  close(ends[1]);
  const int folder = open("/tmp", O_RDONLY);
  EXPECT_FALSE(SealedFile::open(folder, SharedKind::pool));
  close(folder);
}

// A file with the right words whose owner can still shrink it would be a trap for who maps it.
TEST(SealedFile, RefusesForgeries) {
  const auto made = make();
  std::vector<char> contents(4096 + kBytes);
  ASSERT_GT(pread(made->descriptor(), contents.data(), contents.size(), 0), 0);
  const int forged = memfd_create("forged", MFD_ALLOW_SEALING);
  ASSERT_EQ(write(forged, contents.data(), contents.size()), static_cast<ssize_t>(contents.size()));
  EXPECT_FALSE(SealedFile::open(forged, SharedKind::pool)) << "not sealed";
  auto what = SealedFile::Opening::done;
  struct stat known {};
  ASSERT_EQ(fstat(forged, &known), 0);
  EXPECT_FALSE(
      SealedFile::open_of(getpid(), forged, {known.st_dev, known.st_ino}, SharedKind::pool, what))
      << "not sealed, in another process";
  ASSERT_EQ(ftruncate(forged, 100), 0);
  ASSERT_EQ(fcntl(forged, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
  EXPECT_FALSE(SealedFile::open(forged, SharedKind::pool)) << "too short";
  close(forged);
  const int empty = memfd_create("empty", MFD_ALLOW_SEALING);
  ASSERT_EQ(ftruncate(empty, static_cast<off_t>(contents.size())), 0);
  ASSERT_EQ(fcntl(empty, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
  EXPECT_FALSE(SealedFile::open(empty, SharedKind::pool)) << "says nothing of itself";
  close(empty);
  contents[0] = 'F';
  const int other = memfd_create("other", MFD_ALLOW_SEALING);
  ASSERT_EQ(write(other, contents.data(), contents.size()), static_cast<ssize_t>(contents.size()));
  ASSERT_EQ(fcntl(other, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
  EXPECT_FALSE(SealedFile::open(other, SharedKind::pool)) << "another program's";
  close(other);
}

TEST(SealedFile, IsOpenedOfAProcessByWhatItIs) {
  const auto made = make();
  auto what = SealedFile::Opening::refused;
  const auto opened =
      SealedFile::open_of(getpid(), made->descriptor(), made->id(), SharedKind::pool, what);
  EXPECT_TRUE(opened);
  EXPECT_EQ(what, SealedFile::Opening::done);
  const auto gone = [&](pid_t process, int descriptor, const FileId& id, SharedKind kind) {
    what = SealedFile::Opening::done;
    return !SealedFile::open_of(process, descriptor, id, kind, what) &&
           what == SealedFile::Opening::gone;
  };
  const auto other = make();
  EXPECT_TRUE(gone(getpid(), other->descriptor(), made->id(), SharedKind::pool));
  EXPECT_TRUE(gone(getpid(), made->descriptor(), made->id(), SharedKind::event));
  EXPECT_TRUE(gone(getpid(), 1 << 20, made->id(), SharedKind::pool));
  EXPECT_TRUE(gone(0x7FFFFFFF, made->descriptor(), made->id(), SharedKind::pool));
  const int folder = open("/tmp", O_RDONLY);
  EXPECT_TRUE(gone(getpid(), folder, made->id(), SharedKind::pool)) << "not even opened";
  close(folder);
}

// A process that lets nobody look: one that cannot be traced, and for the system's administrator,
// who may look all the same, one of another user.
TEST(SealedFile, SaysWhereTheSystemForbidsToLook) {
  const auto made = make();
  const pid_t holder = getpid();
  const int traceable = prctl(PR_GET_DUMPABLE);
  ASSERT_EQ(prctl(PR_SET_DUMPABLE, 0), 0);
  const pid_t looker = fork();
  ASSERT_GE(looker, 0);
  if (looker == 0) {
    if (getuid() == 0 && setuid(65534) != 0) _exit(77);
    auto what = SealedFile::Opening::done;
    const auto opened =
        SealedFile::open_of(holder, made->descriptor(), made->id(), SharedKind::pool, what);
    _exit(opened == nullptr && what == SealedFile::Opening::refused ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(looker, &status, 0), looker);
  EXPECT_EQ(prctl(PR_SET_DUMPABLE, traceable), 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "no other user to be had";
  EXPECT_EQ(status, 0);
}

// Another process, which has the lock of the file's first 4096 bytes and keeps it while `stay`
// runs.
template <typename Stay>
pid_t start_holder(const SealedFile& file, Stay&& stay) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t holder = fork();
  EXPECT_GE(holder, 0);
  if (holder == 0) {
    const auto own = SealedFile::open(file.descriptor(), SharedKind::pool);
    const bool locked = own && own->lock(0, 4096);
    static_cast<void>(!write(ends[1], &locked, sizeof locked));
    stay();
    _exit(0);
  }
  bool locked = false;
  EXPECT_EQ(read(ends[0], &locked, sizeof locked), static_cast<ssize_t>(sizeof locked));
  EXPECT_TRUE(locked);
  close(ends[0]);
  close(ends[1]);
  return holder;
}

TEST(SealedFile, ALockKeepsAnotherProcessOutUntilItsHolderIsGone) {
  const auto made = make();
  const pid_t holder = start_holder(*made, [] { pause(); });
  struct flock wanted {};
  wanted.l_type = F_WRLCK;
  wanted.l_whence = SEEK_SET;
  wanted.l_start = 4096;  // after the description
  wanted.l_len = 4096;
  EXPECT_NE(fcntl(made->descriptor(), F_OFD_SETLK, &wanted), 0) << "another process has it";
  EXPECT_TRUE(made->lock(4096, 4096)) << "the next stretch is free";
  made->unlock(4096, 4096);
  const auto other = SealedFile::open(made->descriptor(), SharedKind::pool);
  wanted.l_start = 2 * 4096;
  EXPECT_EQ(fcntl(other->descriptor(), F_OFD_SETLK, &wanted), 0) << "and free again";
  ASSERT_EQ(kill(holder, SIGKILL), 0);
  ASSERT_EQ(waitpid(holder, nullptr, 0), holder);
  EXPECT_TRUE(made->lock(0, 4096));
}

TEST(SealedFile, ASignalDoesNotEndTheWaitForALock) {
  const auto made = make();
  const pid_t holder = start_holder(*made, [] { usleep(100'000); });
  struct sigaction interrupt {};
  struct sigaction before {};
  interrupt.sa_handler = [](int) {};
  ASSERT_EQ(sigaction(SIGALRM, &interrupt, &before), 0);
  const itimerval soon{{0, 10'000}, {0, 10'000}};
  const itimerval never{};
  ASSERT_EQ(setitimer(ITIMER_REAL, &soon, nullptr), 0);
  EXPECT_TRUE(made->lock(0, 4096));
  ASSERT_EQ(setitimer(ITIMER_REAL, &never, nullptr), 0);
  ASSERT_EQ(sigaction(SIGALRM, &before, nullptr), 0);
  ASSERT_EQ(waitpid(holder, nullptr, 0), holder);
}

TEST(SealedFile, ASignOfLifeEndsWithItsObject) {
  const auto made = make();
  auto other = SealedFile::open(made->descriptor(), SharedKind::pool);
  ASSERT_TRUE(other);
  EXPECT_FALSE(made->is_held(3));
  ASSERT_TRUE(other->hold(3));
  EXPECT_TRUE(made->is_held(3));
  EXPECT_FALSE(made->hold(3)) << "it is another one's";
  EXPECT_FALSE(made->is_held(4));
  EXPECT_TRUE(other->is_held(3));
  EXPECT_TRUE(made->lock(0, made->bytes())) << "the bytes are free";
  made->unlock(0, made->bytes());
  other.reset();
  EXPECT_FALSE(made->is_held(3));
  EXPECT_TRUE(made->hold(3));
}

TEST(SealedFile, WhoLeavesHoldsNothing) {
  const auto made = make();
  const auto other = SealedFile::open(made->descriptor(), SharedKind::pool);
  ASSERT_TRUE(other && other->hold(1));
  other->leave();
  EXPECT_FALSE(made->is_held(1));
  EXPECT_TRUE(other->hold(1)) << "it may come back";
}

}  // namespace
}  // namespace ferry::sim
