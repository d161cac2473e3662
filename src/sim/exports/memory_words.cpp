// SPDX-License-Identifier: Apache-2.0
// Exported: operations that write a word of memory in stream order, or hold a stream until a word
// has a value.
//
// A wait holds its stream here as on a device, and what follows it comes after the operation that
// wrote the word; which one is known only when the wait ends. (That cuda.h asks for events besides
// is against deadlocks, which do not arise here.) What a wait reads is not noted, for the same
// reason that it exists: the word changes while it looks.
#include "sim/exports/copies.hpp"

namespace ferry::sim {

namespace {

// The old variants know one flag more, the new ones one operation more.
enum class Edition : std::uint8_t { v1, v2 };

struct WordRequest {
  CUdeviceptr address = 0;
  std::uint64_t value = 0;
  std::uint64_t bytes = 0;  // 4 or 8
  unsigned flags = 0;
};

// Words lie in memory that a device may be given, but not in managed memory.
CUresult check_word(const Machine& machine, const WordRequest& word) {
  if (word.address == 0 || word.address % word.bytes != 0 || wraps(word.address, word.bytes) ||
      !is_device_side(machine, word.address, word.bytes)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const HostRange* const host = machine.host.find(word.address);
  return host != nullptr && host->managed ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult check_wait(const Machine& machine, const WordRequest& word) {
  // CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES says that there is no such flush.
  if ((word.flags & CU_STREAM_WAIT_VALUE_FLUSH) != 0) return CUDA_ERROR_NOT_SUPPORTED;
  if (word.flags > CU_STREAM_WAIT_VALUE_NOR) return CUDA_ERROR_INVALID_VALUE;
  return check_word(machine, word);
}

CUresult check_write(const Machine& machine, const WordRequest& word, Edition edition) {
  const unsigned known =
      edition == Edition::v1 ? unsigned{CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER} : 0;
  if ((word.flags & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
  return check_word(machine, word);
}

bool satisfies(std::uint64_t current, const WordRequest& word) {
  const std::uint64_t all = word.bytes == 4 ? 0xFFFFFFFFU : ~std::uint64_t{0};
  switch (word.flags) {
    case CU_STREAM_WAIT_VALUE_EQ:
      return current == word.value;
    case CU_STREAM_WAIT_VALUE_AND:
      return (current & word.value) != 0;
    case CU_STREAM_WAIT_VALUE_NOR:
      return (~(current | word.value) & all) != 0;
    default: {  // a cyclic greater-or-equal
      const std::uint64_t sign = (all >> 1) + 1;
      return ((current - word.value) & sign) == 0;
    }
  }
}

// The word as a graph describes it.
WordNode node_of(const WordRequest& word, bool waits) {
  CUstreamBatchMemOpParams params{};
  if (waits) {
    params.operation =
        word.bytes == 4 ? CU_STREAM_MEM_OP_WAIT_VALUE_32 : CU_STREAM_MEM_OP_WAIT_VALUE_64;
    params.waitValue.address = word.address;
    params.waitValue.value64 = word.value;
    params.waitValue.flags = word.flags;
  } else {
    params.operation =
        word.bytes == 4 ? CU_STREAM_MEM_OP_WRITE_VALUE_32 : CU_STREAM_MEM_OP_WRITE_VALUE_64;
    params.writeValue.address = word.address;
    params.writeValue.value64 = word.value;
    params.writeValue.flags = word.flags;
  }
  return {params};
}

CUresult submit_wait(Call& call, Symbol symbol, const WordRequest& word, CUstream stream) {
  Machine& machine = call.machine;
  Submission submission{symbol, stream, Wait::no, {}, {}};
  // A word that cannot be read any more ends the wait; the work then says so.
  const auto read = [&machine, word](int device) {
    return machine.host.covers(word.address, word.bytes) || machine.addresses.contains(word.address)
               ? machine.operations.load_word(device, word.address, word.bytes)
               : std::nullopt;
  };
  submission.word = {word.address, true, false};
  submission.may_begin = [&machine, read, word](int device) {
    if (!machine.physical.with_data()) return true;  // there is no value to wait for
    const std::optional<std::uint64_t> current = read(device);
    return !current || satisfies(*current, word);
  };
  submission.reason = [&machine, read, word](int device) -> const Clock* {
    const auto written = machine.words.find(word.address);
    const bool is_its = written != machine.words.end() && machine.physical.with_data() &&
                        read(device) == written->second.value;
    return is_its ? &written->second.clock : nullptr;
  };
  submission.work = [read](int device) {
    return read(device) ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS;
  };
  submission.node = node_of(word, true);
  return submit(call, std::move(submission));
}

CUresult submit_write(Call& call, Symbol symbol, const WordRequest& word, CUstream stream) {
  Machine& machine = call.machine;
  Submission submission{symbol, stream, Wait::no, {}, {}};
  submission.touches = {{word.address, word.bytes, AccessKind::write}};
  submission.word = {word.address, false, true};
  submission.work = [&machine, word](int device) {
    machine.words[word.address] = {word.value, machine.engine.clock_of_running()};
    return machine.operations.store_word(device, word.address, word.value, word.bytes);
  };
  submission.node = node_of(word, false);
  return submit(call, std::move(submission));
}

CUresult wait_value(Symbol symbol, CUstream stream, const WordRequest& word) {
  return Library::get().call(symbol, Need::initialised, [&](Call& call) {
    const CUresult result = check_wait(call.machine, word);
    return result == CUDA_SUCCESS ? submit_wait(call, symbol, word, stream) : result;
  });
}

CUresult write_value(Symbol symbol, Edition edition, CUstream stream, const WordRequest& word) {
  return Library::get().call(symbol, Need::initialised, [&](Call& call) {
    const CUresult result = check_write(call.machine, word, edition);
    return result == CUDA_SUCCESS ? submit_write(call, symbol, word, stream) : result;
  });
}

WordRequest word_of(const CUstreamBatchMemOpParams& operation) {
  switch (operation.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      return {operation.waitValue.address, operation.waitValue.value, 4, operation.waitValue.flags};
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      return {operation.waitValue.address, operation.waitValue.value64, 8,
              operation.waitValue.flags};
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      return {operation.writeValue.address, operation.writeValue.value, 4,
              operation.writeValue.flags};
    default:
      return {operation.writeValue.address, operation.writeValue.value64, 8,
              operation.writeValue.flags};
  }
}

bool is_wait(const CUstreamBatchMemOpParams& operation) {
  return operation.operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
         operation.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
}

CUresult check_operation(const Machine& machine, const CUstreamBatchMemOpParams& operation,
                         Edition edition) {
  switch (operation.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      return check_wait(machine, word_of(operation));
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      return check_write(machine, word_of(operation), edition);
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
      return CUDA_ERROR_NOT_SUPPORTED;
    case CU_STREAM_MEM_OP_BARRIER:
      if (edition == Edition::v1) return CUDA_ERROR_INVALID_VALUE;
      return operation.memoryBarrier.flags <= CU_STREAM_MEMORY_BARRIER_TYPE_GPU
                 ? CUDA_SUCCESS
                 : CUDA_ERROR_INVALID_VALUE;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult batch(Symbol symbol, Edition edition, CUstream stream, unsigned count,
               const CUstreamBatchMemOpParams* operations, unsigned flags) {
  constexpr unsigned kMost = 256;
  return Library::get().call(symbol, Need::initialised, [&](Call& call) {
    if (count >= kMost || (count > 0 && operations == nullptr) || flags != 0)
      return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; ++i) {
      const CUresult result = check_operation(call.machine, operations[i], edition);
      if (result != CUDA_SUCCESS) return result;
    }
    for (unsigned i = 0; i < count; ++i) {
      if (operations[i].operation == CU_STREAM_MEM_OP_BARRIER) continue;  // streams are in order
      const WordRequest word = word_of(operations[i]);
      const CUresult result = is_wait(operations[i]) ? submit_wait(call, symbol, word, stream)
                                                     : submit_write(call, symbol, word, stream);
      if (result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
  });
}

}  // namespace

}  // namespace ferry::sim

using ferry::sim::Edition;
using ferry::sim::Symbol;
using ferry::sim::wait_value;
using ferry::sim::write_value;

CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr addr, cuuint32_t value,
                             unsigned int flags) {
  return wait_value(Symbol::cuStreamWaitValue32, stream, {addr, value, 4, flags});
}

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value,
                                unsigned int flags) {
  return wait_value(Symbol::cuStreamWaitValue32_v2, stream, {addr, value, 4, flags});
}

CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr addr, cuuint64_t value,
                             unsigned int flags) {
  return wait_value(Symbol::cuStreamWaitValue64, stream, {addr, value, 8, flags});
}

CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value,
                                unsigned int flags) {
  return wait_value(Symbol::cuStreamWaitValue64_v2, stream, {addr, value, 8, flags});
}

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr addr, cuuint32_t value,
                              unsigned int flags) {
  return write_value(Symbol::cuStreamWriteValue32, Edition::v1, stream, {addr, value, 4, flags});
}

CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value,
                                 unsigned int flags) {
  return write_value(Symbol::cuStreamWriteValue32_v2, Edition::v2, stream, {addr, value, 4, flags});
}

CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr addr, cuuint64_t value,
                              unsigned int flags) {
  return write_value(Symbol::cuStreamWriteValue64, Edition::v1, stream, {addr, value, 8, flags});
}

CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value,
                                 unsigned int flags) {
  return write_value(Symbol::cuStreamWriteValue64_v2, Edition::v2, stream, {addr, value, 8, flags});
}

CUresult cuStreamBatchMemOp(CUstream stream, unsigned int count,
                            CUstreamBatchMemOpParams* paramArray, unsigned int flags) {
  return ferry::sim::batch(Symbol::cuStreamBatchMemOp, Edition::v1, stream, count, paramArray,
                           flags);
}

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count,
                               CUstreamBatchMemOpParams* paramArray, unsigned int flags) {
  return ferry::sim::batch(Symbol::cuStreamBatchMemOp_v2, Edition::v2, stream, count, paramArray,
                           flags);
}
