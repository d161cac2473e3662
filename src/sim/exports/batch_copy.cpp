// SPDX-License-Identifier: Apache-2.0
// Exported: batches of copies. A batch is one operation of its stream; its members run in no
// promised order, which the engine makes use of (StreamEngine::order_of_members).
//
// When a member's source is read: STREAM, in stream order, when the batch runs. DURING_API_CALL,
// before the call returns, and after nothing but what the program has seen complete. ANY, at some
// time between the call and the end of the batch: an operation outside the stream reads it, and the
// batch comes after that.
#include <memory>
#include <span>

#include "sim/exports/copies.hpp"
#include "sim/machine/capture_access.hpp"
#include "sim/machine/peer_access.hpp"

namespace ferry::sim {

namespace {

struct Member {
  std::uint32_t index = 0;  // in the batch as the program states it; empty copies are left out
  Box destination;
  Box source;
  Extent extent;
  CUmemcpySrcAccessOrder order = CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
  std::shared_ptr<std::vector<std::byte>> held;  // the source's bytes, where they were read before
};
using Members = std::vector<Member>;

// Why a batch is refused, and at which copy. kNoCopy: for no copy in particular.
constexpr std::size_t kNoCopy = ~std::size_t{0};
struct Refusal {
  CUresult result = CUDA_SUCCESS;
  std::size_t index = kNoCopy;
};

bool is_order(CUmemcpySrcAccessOrder order) {
  return order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
}

bool are_copy_flags(unsigned flags) {
  return (flags & ~unsigned{CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE}) == 0;
}

bool is_legacy(CUstream stream) {
  return stream == nullptr || stream == CU_STREAM_LEGACY;
}

// Reads a member's source into memory of the stand-in, now or when its turn comes.
CUresult hold(Machine& machine, int device, const Member& member) {
  const auto [width, rows, layers] = member.extent;
  const bool with_data = machine.physical.with_data();
  if (with_data) member.held->resize(width * rows * layers);
  // Without data no byte is written; any address outside device memory will do.
  std::byte nowhere{};
  const Box packed{address_of(with_data ? member.held->data() : &nowhere), width, width * rows};
  const Reach reach = reach_of_copy(machine, device, packed.start, member.source.start);
  return machine.operations.copy_box(reach, packed, member.source, member.extent);
}

CUresult run_member(Machine& machine, int device, const Member& member) {
  const Reach reach = reach_of_copy(machine, device, member.destination.start, member.source.start);
  if (!member.held)
    return machine.operations.copy_box(reach, member.destination, member.source, member.extent);
  const auto [width, rows, layers] = member.extent;
  std::byte nowhere{};
  const Box packed{address_of(member.held->empty() ? &nowhere : member.held->data()), width,
                   width * rows};
  return machine.operations.copy_box(reach, member.destination, packed, member.extent);
}

// Queues the early reading of the sources that are not read in stream order, on streams of its own.
CUresult submit_reads(Call& call, Symbol symbol, CUstream stream, const StreamUse& use,
                      CUmemcpySrcAccessOrder order, const std::shared_ptr<Members>& members,
                      std::vector<Ticket>& reads) {
  Submission submission{symbol, stream, Wait::no, {}, {}};
  submission.in_anothers_time = true;
  if (order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL) submission.wait = Wait::until_done;
  for (Member& member : *members) {
    if (member.order != order) continue;
    member.held = std::make_shared<std::vector<std::byte>>();
    add_touches(submission.touches, AccessKind::read, member.source, member.extent, member.index);
  }
  if (submission.touches.empty()) return CUDA_SUCCESS;
  Machine& machine = call.machine;
  submission.work = [&machine, members, order](int device) {
    for (const Member& member : *members) {
      if (member.order != order) continue;
      if (const CUresult result = hold(machine, device, member); result != CUDA_SUCCESS)
        return result;
    }
    return CUDA_SUCCESS;
  };
  StreamUse aside = use;
  aside.stream = &machine.engine.create_stream(*use.context->streams, false);
  Ticket read;
  const CUresult result = submit_on(call, aside, std::move(submission), &read);
  if (read) reads.push_back(read);
  machine.engine.destroy_stream(*aside.stream);
  return result;
}

// What a member touches when the batch runs.
void add_touches_of(const Member& member, std::vector<Touch>& touches) {
  const std::size_t first = touches.size();
  if (member.order != CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL)
    add_touches(touches, AccessKind::read, member.source, member.extent, member.index);
  if (member.order == CU_MEMCPY_SRC_ACCESS_ORDER_ANY) {
    for (Touch& read : std::span(touches).subspan(first)) read.compared = true;
  }
  add_touches(touches, AccessKind::write, member.destination, member.extent, member.index);
}

CUresult submit_batch(Call& call, Symbol symbol, CUstream stream, Members list) {
  StreamUse use;
  if (const CUresult result = find_stream(call, stream, use); result != CUDA_SUCCESS) return result;
  // Refused, and yet the capture stays valid: the copy is missing from its graph.
  if (capture_of(call, use) != nullptr) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  const std::uint64_t context = use.context->handle;
  const auto members = std::make_shared<Members>(std::move(list));
  Submission submission{symbol, stream, Wait::no, {}, {}};
  for (const CUmemcpySrcAccessOrder order :
       {CU_MEMCPY_SRC_ACCESS_ORDER_ANY, CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL}) {
    const CUresult result =
        submit_reads(call, symbol, stream, use, order, members, submission.after);
    if (result != CUDA_SUCCESS) return result;
    // A host function may have run meanwhile, and the stream may be gone.
    if (const CUresult again = find_stream(call, stream, use); again != CUDA_SUCCESS) return again;
  }
  for (const Member& member : *members) {
    add_touches(submission.moves, AccessKind::read, member.source, member.extent, member.index);
    add_touches(submission.moves, AccessKind::write, member.destination, member.extent,
                member.index);
    add_touches_of(member, submission.touches);
  }
  Machine& machine = call.machine;
  const std::vector<std::size_t> turns = machine.engine.order_of_members(members->size());
  submission.work = [&machine, members, turns](int device) {
    for (const std::size_t turn : turns) {
      const CUresult result = run_member(machine, device, (*members)[turn]);
      if (result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
  };
  const CUresult result = submit_on(call, use, std::move(submission));
  return result == CUDA_SUCCESS ? fault_of(call, context) : result;
}

// Which attributes hold for which copies, as the batch states it.
struct Attributes {
  const CUmemcpyAttributes* list = nullptr;
  const std::size_t* first_copy = nullptr;
  std::size_t count = 0;
};

CUresult check_attributes(const Attributes& attributes, std::size_t copies) {
  if (attributes.count == 0 || attributes.count > copies || attributes.list == nullptr ||
      attributes.first_copy == nullptr || attributes.first_copy[0] != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  for (std::size_t i = 0; i < attributes.count; ++i) {
    if (attributes.first_copy[i] >= copies) return CUDA_ERROR_INVALID_VALUE;
    if (i > 0 && attributes.first_copy[i] <= attributes.first_copy[i - 1])
      return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

struct LinearBatch {
  const CUdeviceptr* destinations = nullptr;
  const CUdeviceptr* sources = nullptr;
  const std::size_t* sizes = nullptr;
  std::size_t count = 0;
  Attributes attributes;
};

Refusal collect(const LinearBatch& batch, Members& members) {
  if (batch.count == 0 || batch.destinations == nullptr || batch.sources == nullptr ||
      batch.sizes == nullptr) {
    return {CUDA_ERROR_INVALID_VALUE, kNoCopy};
  }
  const CUresult attributes = check_attributes(batch.attributes, batch.count);
  if (attributes != CUDA_SUCCESS) return {attributes, kNoCopy};
  std::size_t entry = 0;
  for (std::size_t i = 0; i < batch.count; ++i) {
    const bool next_begins =
        entry + 1 < batch.attributes.count && batch.attributes.first_copy[entry + 1] == i;
    if (next_begins) ++entry;
    const CUmemcpyAttributes& its = batch.attributes.list[entry];
    const std::uint64_t bytes = batch.sizes[i];
    if (!is_order(its.srcAccessOrder) || !are_copy_flags(its.flags))
      return {CUDA_ERROR_INVALID_VALUE, i};
    if (bytes == 0) continue;
    const std::uint64_t to = batch.destinations[i];
    const std::uint64_t from = batch.sources[i];
    if (to == 0 || from == 0 || wraps(to, bytes) || wraps(from, bytes))
      return {CUDA_ERROR_INVALID_VALUE, i};
    members.push_back({static_cast<std::uint32_t>(i),
                       {to, bytes, 0},
                       {from, bytes, 0},
                       {bytes, 1, 1},
                       its.srcAccessOrder,
                       nullptr});
  }
  return {};
}

// Where an operand of a 3D copy begins and how its rows lie; elements are bytes.
CUresult box_of(const CUmemcpy3DOperand& operand, const Extent& extent, Box& out) {
  if (operand.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) return CUDA_ERROR_NOT_SUPPORTED;
  if (operand.type != CU_MEMCPY_OPERAND_TYPE_POINTER) return CUDA_ERROR_INVALID_VALUE;
  const auto& pointer = operand.op.ptr;
  const std::uint64_t pitch = pointer.rowLength == 0 ? extent.width : pointer.rowLength;
  const std::uint64_t height = pointer.layerHeight == 0 ? extent.rows : pointer.layerHeight;
  std::uint64_t layer = 0;
  std::uint64_t all = 0;
  if (pointer.ptr == 0 || pitch < extent.width || height < extent.rows ||
      __builtin_mul_overflow(pitch, height, &layer) ||
      __builtin_mul_overflow(layer, extent.layers, &all) || wraps(pointer.ptr, all)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  out = {pointer.ptr, pitch, layer};
  return CUDA_SUCCESS;
}

Refusal collect(std::span<const CUDA_MEMCPY3D_BATCH_OP> operations, Members& members) {
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const CUDA_MEMCPY3D_BATCH_OP& operation = operations[i];
    Member member;
    member.index = static_cast<std::uint32_t>(i);
    member.extent = {operation.extent.width, operation.extent.height, operation.extent.depth};
    member.order = operation.srcAccessOrder;
    if (member.extent.width == 0 || member.extent.rows == 0 || member.extent.layers == 0 ||
        !is_order(member.order) || !are_copy_flags(operation.flags)) {
      return {CUDA_ERROR_INVALID_VALUE, i};
    }
    CUresult result = box_of(operation.src, member.extent, member.source);
    if (result == CUDA_SUCCESS) result = box_of(operation.dst, member.extent, member.destination);
    if (result != CUDA_SUCCESS) return {result, i};
    members.push_back(std::move(member));
  }
  return {};
}

// Tells a caller of the older variants which copy it was.
CUresult answer(const Refusal& refusal, std::size_t* failed) {
  if (failed != nullptr && refusal.result != CUDA_SUCCESS) *failed = refusal.index;
  return refusal.result;
}

CUresult copy_batch(Symbol symbol, const LinearBatch& batch, std::size_t* failed, CUstream stream) {
  return Library::get().call(symbol, Need::context, [&](Call& call) {
    if (is_legacy(stream)) return answer({CUDA_ERROR_INVALID_VALUE, kNoCopy}, failed);
    Members members;
    const Refusal refusal = collect(batch, members);
    if (refusal.result != CUDA_SUCCESS) return answer(refusal, failed);
    return answer({submit_batch(call, symbol, stream, std::move(members)), kNoCopy}, failed);
  });
}

CUresult copy_batch_3d(Symbol symbol, std::span<const CUDA_MEMCPY3D_BATCH_OP> operations,
                       unsigned long long flags, std::size_t* failed, CUstream stream) {
  return Library::get().call(symbol, Need::context, [&](Call& call) {
    if (is_legacy(stream) || flags != 0 || operations.empty() || operations.data() == nullptr)
      return answer({CUDA_ERROR_INVALID_VALUE, kNoCopy}, failed);
    Members members;
    const Refusal refusal = collect(operations, members);
    if (refusal.result != CUDA_SUCCESS) return answer(refusal, failed);
    return answer({submit_batch(call, symbol, stream, std::move(members)), kNoCopy}, failed);
  });
}

}  // namespace

}  // namespace ferry::sim

using ferry::sim::copy_batch;
using ferry::sim::copy_batch_3d;
using ferry::sim::Symbol;

CUresult cuMemcpyBatchAsync(CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes, size_t count,
                            CUmemcpyAttributes* attrs, size_t* attrIdxs, size_t numAttrs,
                            size_t* failIdx, CUstream hStream) {
  return copy_batch(Symbol::cuMemcpyBatchAsync,
                    {dsts, srcs, sizes, count, {attrs, attrIdxs, numAttrs}}, failIdx, hStream);
}

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes, size_t count,
                               CUmemcpyAttributes* attrs, size_t* attrIdxs, size_t numAttrs,
                               CUstream hStream) {
  return copy_batch(Symbol::cuMemcpyBatchAsync_v2,
                    {dsts, srcs, sizes, count, {attrs, attrIdxs, numAttrs}}, nullptr, hStream);
}

CUresult cuMemcpy3DBatchAsync(size_t numOps, CUDA_MEMCPY3D_BATCH_OP* opList, size_t* failIdx,
                              unsigned long long flags, CUstream hStream) {
  return copy_batch_3d(Symbol::cuMemcpy3DBatchAsync, {opList, numOps}, flags, failIdx, hStream);
}

CUresult cuMemcpy3DBatchAsync_v2(size_t numOps, CUDA_MEMCPY3D_BATCH_OP* opList,
                                 unsigned long long flags, CUstream hStream) {
  return copy_batch_3d(Symbol::cuMemcpy3DBatchAsync_v2, {opList, numOps}, flags, nullptr, hStream);
}
