// SPDX-License-Identifier: Apache-2.0
// Exported: start-up, errors and the look-up of functions. All but cuInit's effect work before
// cuInit.
#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <string>

#include "sim/machine/library.hpp"
#include "sim/machine/proc_address.hpp"
#include "sim/words/cuda_api.hpp"
#include "sim/words/error_text.hpp"

using ferry::sim::Library;
using ferry::sim::Symbol;

CUresult cuInit(unsigned int Flags) {
  Library& library = Library::get();
  if (const CUresult refused = library.note(Symbol::cuInit); refused != CUDA_SUCCESS)
    return refused;
  return library.init(Flags);
}

CUresult cuDriverGetVersion(int* driverVersion) {
  const CUresult refused = Library::get().note(Symbol::cuDriverGetVersion);
  if (refused != CUDA_SUCCESS) return refused;
  if (driverVersion == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *driverVersion = ferry::sim::kDriverVersion;
  return CUDA_SUCCESS;
}

namespace {

CUresult give_text(CUresult error, const char** out, const char* ferry::sim::ErrorText::*field) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const ferry::sim::ErrorText* const text = ferry::sim::error_text(static_cast<int>(error));
  *out = text == nullptr ? nullptr : text->*field;
  return text == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult find_function(const char* symbol, void** pfn, int version, cuuint64_t flags,
                       CUdriverProcAddressQueryResult* status) {
  constexpr cuuint64_t kKnownFlags =
      CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (symbol == nullptr || pfn == nullptr || (flags & ~kKnownFlags) != 0 || flags == kKnownFlags ||
      version < 0 || version > ferry::sim::kDriverVersion) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const bool per_thread = flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  const ferry::sim::ProcAddress found = ferry::sim::proc_address(symbol, version, per_thread);
  *pfn = found.function;
  if (status != nullptr) *status = found.status;
  return CUDA_SUCCESS;
}

void say_no_table(const CUuuid& id) {
  std::string text;
  for (const char byte : id.bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  fmt::print(stderr,
             "ferry-sim: cuGetExportTable was asked for the table {}: the stand-in has none of the "
             "tables that NVIDIA does not document. Programs of the driver API go on; the CUDA "
             "runtime (libcudart, in PyTorch and in what nvcc links) cannot start here, and "
             "its calls fail with an error of initialisation\n",
             text);
}

}  // namespace

CUresult cuGetErrorName(CUresult error, const char** pStr) {
  const CUresult refused = Library::get().note(Symbol::cuGetErrorName);
  return refused != CUDA_SUCCESS ? refused : give_text(error, pStr, &ferry::sim::ErrorText::name);
}

CUresult cuGetErrorString(CUresult error, const char** pStr) {
  const CUresult refused = Library::get().note(Symbol::cuGetErrorString);
  return refused != CUDA_SUCCESS ? refused : give_text(error, pStr, &ferry::sim::ErrorText::phrase);
}

CUresult cuGetProcAddress_v2(const char* symbol, void** pfn, int cudaVersion, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* symbolStatus) {
  const CUresult refused = Library::get().note(Symbol::cuGetProcAddress_v2);
  return refused != CUDA_SUCCESS ? refused
                                 : find_function(symbol, pfn, cudaVersion, flags, symbolStatus);
}

CUresult cuGetProcAddress(const char* symbol, void** pfn, int cudaVersion, cuuint64_t flags) {
  const CUresult refused = Library::get().note(Symbol::cuGetProcAddress);
  if (refused != CUDA_SUCCESS) return refused;
  const CUresult result = find_function(symbol, pfn, cudaVersion, flags, nullptr);
  // The first variant of this function had no status to tell it by.
  return result == CUDA_SUCCESS && *pfn == nullptr ? CUDA_ERROR_NOT_FOUND : result;
}

// Tables of functions that NVIDIA does not document. The CUDA runtime cannot do without them, and
// says nothing of why.
CUresult cuGetExportTable(const void** ppExportTable, const CUuuid* pExportTableId) {
  const CUresult refused = Library::get().note(Symbol::cuGetExportTable);
  if (refused != CUDA_SUCCESS) return refused;
  if (ppExportTable == nullptr || pExportTableId == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *ppExportTable = nullptr;
  static std::atomic<bool> said = false;
  if (!said.exchange(true)) say_no_table(*pExportTableId);
  return CUDA_ERROR_NOT_FOUND;
}
