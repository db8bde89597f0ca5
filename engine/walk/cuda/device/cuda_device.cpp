// SPDX-License-Identifier: Apache-2.0
// The only file that calls the CUDA runtime. The runtime is linked statically and looks for the driver on
// first use, so one binary runs with and without a GPU.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "engine/walk/cuda/device/device.h"

namespace tilewalk::cuda {

namespace {

device_failure failure_of(cudaError_t e) {
    switch (e) {
        case cudaErrorMemoryAllocation:
            return device_failure::out_of_memory;
        // After these errors every later call of the process on this device fails.
        case cudaErrorIllegalAddress:
        case cudaErrorLaunchFailure:
        case cudaErrorLaunchTimeout:
        case cudaErrorMisalignedAddress:
        case cudaErrorInvalidAddressSpace:
        case cudaErrorInvalidPc:
        case cudaErrorIllegalInstruction:
        case cudaErrorHardwareStackError:
        case cudaErrorTensorMemoryLeak:
        case cudaErrorAssert:
        case cudaErrorContextIsDestroyed:
            return device_failure::illegal_address;
        case cudaErrorECCUncorrectable:
        case cudaErrorNvlinkUncorrectable:
        case cudaErrorContained:
        case cudaErrorNoDevice:
        case cudaErrorDeviceUninitialized:
        case cudaErrorDevicesUnavailable:
        case cudaErrorSystemNotReady:
        case cudaErrorSystemDriverMismatch:
        case cudaErrorMpsClientTerminated:
        case cudaErrorMpsRpcFailure:
        case cudaErrorExternalDevice:
        case cudaErrorUnknown:  // reported when a device has left the bus
            return device_failure::lost;
        case cudaErrorInvalidValue:
        case cudaErrorInvalidConfiguration:
        case cudaErrorInvalidDeviceFunction:
        case cudaErrorInvalidKernelImage:
        case cudaErrorInvalidPtx:
        case cudaErrorInvalidSource:
        case cudaErrorInvalidSymbol:
        case cudaErrorInvalidTexture:
        case cudaErrorLaunchOutOfResources:
        case cudaErrorMissingConfiguration:
        case cudaErrorNoKernelImageForDevice:
        case cudaErrorNotSupported:
        case cudaErrorSymbolNotFound:
        case cudaErrorUnsupportedLimit:
        case cudaErrorUnsupportedPtxVersion:
            return device_failure::refused;
        default:
            return device_failure::other;
    }
}

// Clears the runtime's last error, so that a host program that also uses CUDA does not see it.
void forget_error() noexcept {
    static_cast<void>(cudaGetLastError());
}

[[noreturn]] void fail(int index, const char* call, cudaError_t e) {
    forget_error();
    throw device_error(failure_of(e), "GPU " + std::to_string(index) + ": " + call + " failed: " +
                                          cudaGetErrorName(e) + " (" + cudaGetErrorString(e) + ")");
}

std::string version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string uuid_text(const cudaUUID_t& id) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text = "GPU-";
    for (int i = 0; i < 16; ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        const auto byte = static_cast<unsigned char>(id.bytes[i]);
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

int attribute(int index, cudaDeviceAttr which) {
    int value = 0;
    if (cudaDeviceGetAttribute(&value, which, index) != cudaSuccess) forget_error();
    return value;
}

cudaError_t read_properties(int index, device_properties& into) {
    into.index = index;
    cudaDeviceProp p{};
    const cudaError_t e = cudaGetDeviceProperties(&p, index);
    if (e != cudaSuccess) return e;
    into.name = p.name;
    into.uuid = uuid_text(p.uuid);
    int driver = 0;
    if (cudaDriverGetVersion(&driver) == cudaSuccess) into.driver = version_text(driver);
    into.major = p.major;
    into.minor = p.minor;
    into.memory_bytes = p.totalGlobalMem;
    into.multiprocessors = p.multiProcessorCount;
    into.threads_per_multiprocessor = p.maxThreadsPerMultiProcessor;
    into.shared_bytes_per_block = p.sharedMemPerBlockOptin;
    into.shared_bytes_per_multiprocessor = p.sharedMemPerMultiprocessor;
    into.l2_bytes = static_cast<std::size_t>(p.l2CacheSize);
    into.persisting_l2_bytes = static_cast<std::size_t>(p.persistingL2CacheMaxSize);
    into.clock_khz = attribute(index, cudaDevAttrClockRate);
    into.maps_host_memory = p.canMapHostMemory != 0;
    into.reduces_stored = kernels::can_reduce_stored();
    return cudaSuccess;
}

std::string why_not(const device_properties& p) {
    if (p.major * 10 + p.minor < least_compute_capability)
        return "compute capability " + std::to_string(p.major) + "." + std::to_string(p.minor) + ", " +
               std::to_string(least_compute_capability / 10) + "." +
               std::to_string(least_compute_capability % 10) + " is needed";
    if (attribute(p.index, cudaDevAttrComputeMode) == cudaComputeModeProhibited)
        return "its compute mode forbids any use (nvidia-smi --compute-mode tells and changes it)";
    if (attribute(p.index, cudaDevAttrMemoryPoolsSupported) == 0) return "its driver has no memory pools";
    return "";
}

std::string why_no_device(cudaError_t e, int driver_version, const std::string& runtime) {
    if (driver_version == 0) return "no NVIDIA driver";
    if (e == cudaErrorInsufficientDriver)
        return "the NVIDIA driver knows CUDA up to " + version_text(driver_version) + ", this build needs " +
               runtime;
    if (e == cudaSuccess || e == cudaErrorNoDevice) {
        const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
        return visible == nullptr ? "no GPU"
                                  : std::string("no GPU; CUDA_VISIBLE_DEVICES is '") + visible + "'";
    }
    if (e == cudaErrorSystemDriverMismatch)
        return "the NVIDIA driver and its library are of different versions; was it updated since the last "
               "start of the machine?";
    return std::string(cudaGetErrorName(e)) + " (" + cudaGetErrorString(e) + ")";
}

// The survey without its devices. Sets `count` to their number; if that is 0, why_none says why.
device_survey survey_driver(int& count) {
    device_survey out;
    int driver = 0, runtime = 0;
    if (cudaRuntimeGetVersion(&runtime) == cudaSuccess) out.runtime = version_text(runtime);
    if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
    if (driver != 0) out.driver = version_text(driver);
    const cudaError_t counted = cudaGetDeviceCount(&count);
    if (counted != cudaSuccess || count == 0) {
        count = 0;
        out.why_none = why_no_device(counted, driver, out.runtime);
        forget_error();
    }
    return out;
}

device_finding look_at(int index) {
    device_finding found;
    const cudaError_t e = read_properties(index, found.properties);
    found.why_not = e == cudaSuccess ? why_not(found.properties)
                                     : std::string("it does not answer: ") + cudaGetErrorString(e);
    if (e != cudaSuccess) forget_error();
    return found;
}

template <class pointer, class handle>
pointer as_pointer(handle h) {
    return reinterpret_cast<pointer>(static_cast<std::uintptr_t>(h));
}
template <class handle, class pointer>
handle as_handle(pointer p) {
    return static_cast<handle>(reinterpret_cast<std::uintptr_t>(p));
}

cudaStream_t cuda_stream(stream s) {
    return as_pointer<cudaStream_t>(s);
}
cudaEvent_t cuda_event(event e) {
    return as_pointer<cudaEvent_t>(e);
}
cudaLibrary_t cuda_library(module m) {
    return as_pointer<cudaLibrary_t>(m);
}
// As an argument for runtime functions, which take a cudaKernel_t wherever they take a function.
const void* cuda_function(kernel k) {
    return as_pointer<const void*>(k);
}

class cuda_device final : public device {
  public:
    explicit cuda_device(device_properties of) : properties_(std::move(of)) {
        // Creates the context, the most expensive call of a run. Threads that wait for the device sleep, as
        // chunks take milliseconds and the cores have other work.
        check("cudaInitDevice",
              cudaInitDevice(index(), cudaDeviceScheduleBlockingSync, cudaInitDeviceFlagsAreValid));
        use();
        // A pool of our own: keeping released memory in the default pool would affect other libraries.
        cudaMemPoolProps pool{};
        pool.allocType = cudaMemAllocationTypePinned;
        pool.location.type = cudaMemLocationTypeDevice;
        pool.location.id = index();
        check("cudaMemPoolCreate", cudaMemPoolCreate(&pool_, &pool));
        try {
            std::uint64_t keep_all = ~std::uint64_t{0};
            check("cudaMemPoolSetAttribute",
                  cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep_all));
            check("cudaStreamCreateWithFlags",
                  cudaStreamCreateWithFlags(&allocations_, cudaStreamNonBlocking));
        } catch (const device_error&) {
            cudaMemPoolDestroy(pool_);
            throw;
        }
    }

    ~cuda_device() override {
        if (!can_use()) return;
        if (set_aside_) {
            cudaCtxResetPersistingL2Cache();
            cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0);
        }
        cudaStreamDestroy(allocations_);
        cudaMemPoolDestroy(pool_);
        forget_error();
    }

    cuda_device(const cuda_device&) = delete;
    cuda_device& operator=(const cuda_device&) = delete;

    const device_properties& properties() const override { return properties_; }

    // Counts memory that the pool holds for reuse as free.
    std::size_t free_bytes() override {
        use();
        check("cudaStreamSynchronize", cudaStreamSynchronize(allocations_));
        std::size_t free = 0, total = 0;
        check("cudaMemGetInfo", cudaMemGetInfo(&free, &total));
        std::uint64_t reserved = 0, used = 0;
        check("cudaMemPoolGetAttribute",
              cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemCurrent, &reserved));
        check("cudaMemPoolGetAttribute",
              cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemCurrent, &used));
        return free + (reserved > used ? reserved - used : 0);
    }

    void* allocate(std::size_t bytes) override {
        if (bytes == 0) return nullptr;
        use();
        void* memory = nullptr;
        check("cudaMallocFromPoolAsync", cudaMallocFromPoolAsync(&memory, bytes, pool_, allocations_));
        // Waits, so that any stream may use the memory. The stream has no other work, so the wait is short.
        check("cudaStreamSynchronize", cudaStreamSynchronize(allocations_));
        return memory;
    }

    void release(void* memory) noexcept override {
        if (memory == nullptr || !can_use()) return;
        if (cudaFreeAsync(memory, allocations_) != cudaSuccess) forget_error();
    }

    void* allocate_pinned(std::size_t bytes) override {
        if (bytes == 0) return nullptr;
        use();
        void* memory = nullptr;
        // Portable memory is pinned for every device, so several devices may read one cube.
        check("cudaHostAlloc", cudaHostAlloc(&memory, bytes, cudaHostAllocMapped | cudaHostAllocPortable));
        return memory;
    }

    void release_pinned(void* memory) noexcept override {
        if (memory == nullptr || !can_use()) return;
        if (cudaFreeHost(memory) != cudaSuccess) forget_error();
    }

    void* device_address_of(void* pinned) override {
        use();
        void* address = nullptr;
        check("cudaHostGetDevicePointer", cudaHostGetDevicePointer(&address, pinned, 0));
        return address;
    }

    stream open_stream() override {
        use();
        cudaStream_t s = nullptr;
        check("cudaStreamCreateWithFlags", cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
        return as_handle<stream>(s);
    }

    void close_stream(stream s) noexcept override {
        if (s == stream::standard || !can_use()) return;
        if (cudaStreamDestroy(cuda_stream(s)) != cudaSuccess) forget_error();
    }

    void wait(stream s) override {
        use();
        check("cudaStreamSynchronize", cudaStreamSynchronize(cuda_stream(s)));
    }

    event open_event() override {
        use();
        cudaEvent_t e = nullptr;
        check("cudaEventCreateWithFlags", cudaEventCreateWithFlags(&e, cudaEventBlockingSync));
        return as_handle<event>(e);
    }

    void record(event e, stream s) override {
        use();
        check("cudaEventRecord", cudaEventRecord(cuda_event(e), cuda_stream(s)));
    }

    void wait_for(stream s, event e) override {
        use();
        check("cudaStreamWaitEvent", cudaStreamWaitEvent(cuda_stream(s), cuda_event(e), 0));
    }

    bool has_happened(event e) override {
        use();
        const cudaError_t state = cudaEventQuery(cuda_event(e));
        if (state == cudaErrorNotReady) {
            forget_error();
            return false;
        }
        check("cudaEventQuery", state);
        return true;
    }

    double milliseconds_between(event first, event second) override {
        use();
        float milliseconds = 0;
        check("cudaEventElapsedTime",
              cudaEventElapsedTime(&milliseconds, cuda_event(first), cuda_event(second)));
        return static_cast<double>(milliseconds);
    }

    void close_event(event e) noexcept override {
        if (!can_use()) return;
        if (cudaEventDestroy(cuda_event(e)) != cudaSuccess) forget_error();
    }

    void upload(void* to, const void* from, std::size_t bytes, stream s) override {
        copy(to, from, bytes, cudaMemcpyHostToDevice, s);
    }

    void download(void* to, const void* from, std::size_t bytes, stream s) override {
        copy(to, from, bytes, cudaMemcpyDeviceToHost, s);
    }

    void fill(void* memory, int byte, std::size_t bytes, stream s) override {
        if (bytes == 0) return;
        use();
        check("cudaMemsetAsync", cudaMemsetAsync(memory, byte, bytes, cuda_stream(s)));
    }

    module load(std::span<const char> cubin) override {
        use();
        if (cubin.empty()) check("cudaLibraryLoadData", cudaErrorInvalidKernelImage);
        cudaLibrary_t library = nullptr;
        check("cudaLibraryLoadData",
              cudaLibraryLoadData(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
        return as_handle<module>(library);
    }

    void unload(module m) noexcept override {
        if (!can_use()) return;
        if (cudaLibraryUnload(cuda_library(m)) != cudaSuccess) forget_error();
    }

    kernel find(module m, const char* name) override {
        use();
        cudaKernel_t k = nullptr;
        check("cudaLibraryGetKernel", cudaLibraryGetKernel(&k, cuda_library(m), name));
        const auto found = as_handle<kernel>(k);
        // Asking for attributes loads the code, so that errors show here. Then allows all shared memory.
        cudaFuncAttributes a{};
        check("cudaFuncGetAttributes", cudaFuncGetAttributes(&a, cuda_function(found)));
        const auto most =
            static_cast<int>(properties_.shared_bytes_per_block) - static_cast<int>(a.sharedSizeBytes);
        check("cudaFuncSetAttribute",
              cudaFuncSetAttribute(cuda_function(found), cudaFuncAttributeMaxDynamicSharedMemorySize, most));
        return found;
    }

    std::span<std::byte> variable(module m, const char* name) override {
        use();
        void* at = nullptr;
        std::size_t bytes = 0;
        check("cudaLibraryGetGlobal", cudaLibraryGetGlobal(&at, &bytes, cuda_library(m), name));
        return {static_cast<std::byte*>(at), bytes};
    }

    kernel_attributes attributes(kernel k, const launch& at) override {
        use();
        cudaFuncAttributes a{};
        check("cudaFuncGetAttributes", cudaFuncGetAttributes(&a, cuda_function(k)));
        int blocks = 0;
        check("cudaOccupancyMaxActiveBlocksPerMultiprocessor",
              cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, cuda_function(k),
                                                            static_cast<int>(at.threads), at.shared_bytes));
        return {a.numRegs, a.localSizeBytes, a.sharedSizeBytes, blocks};
    }

    texture open_texture(const void* memory, std::size_t bytes, texel kind) override {
        use();
        const cudaChannelFormatDesc format =
            kind == texel::single ? cudaChannelFormatDesc{32, 0, 0, 0, cudaChannelFormatKindFloat}
                                  : cudaChannelFormatDesc{32, 32, 0, 0, cudaChannelFormatKindUnsigned};
        const std::size_t texel_bytes = kind == texel::single ? 4 : 8;
        std::size_t most = 0;
        check("cudaDeviceGetTexture1DLinearMaxWidth",
              cudaDeviceGetTexture1DLinearMaxWidth(&most, &format, index()));
        if (bytes / texel_bytes > most)
            throw device_error(device_failure::refused, "GPU " + std::to_string(index()) + ": a texture of " +
                                                            std::to_string(bytes / texel_bytes) +
                                                            " elements, at most " + std::to_string(most) +
                                                            " are possible");
        cudaResourceDesc what{};
        what.resType = cudaResourceTypeLinear;
        // The runtime's member is a pointer to non-const, but textures only read.
        what.res.linear.devPtr = const_cast<void*>(memory);
        what.res.linear.desc = format;
        what.res.linear.sizeInBytes = bytes;
        cudaTextureDesc how{};
        how.readMode = cudaReadModeElementType;
        cudaTextureObject_t t = 0;
        check("cudaCreateTextureObject", cudaCreateTextureObject(&t, &what, &how, nullptr));
        return static_cast<texture>(t);
    }

    void close_texture(texture t) noexcept override {
        if (!can_use()) return;
        if (cudaDestroyTextureObject(static_cast<cudaTextureObject_t>(t)) != cudaSuccess) forget_error();
    }

    void run(kernel k, const launch& how, std::span<void*> arguments, stream s) override {
        use();
        cudaLaunchConfig_t config{};
        config.gridDim.x = how.blocks;
        config.blockDim.x = how.threads;
        config.dynamicSmemBytes = how.shared_bytes;
        config.stream = cuda_stream(s);
        std::array<cudaLaunchAttribute, 2> attributes{};
        config.attrs = attributes.data();
        if (how.persisting_bytes != 0 && properties_.persisting_l2_bytes != 0)
            attributes[config.numAttrs++] = persisting_window(how);
        if (how.together) {
            cudaLaunchAttribute& all = attributes[config.numAttrs++];
            all.id = cudaLaunchAttributeCooperative;
            all.val.cooperative = 1;
        }
        check("cudaLaunchKernelExC", cudaLaunchKernelExC(&config, cuda_function(k), arguments.data()));
    }

    void reduce_stored(const kernels::stored_payoffs& what, stream s) override {
        use();
        const auto reduce = [&](void* scratch, kernels::word64& bytes) {
            check("cub::DeviceSegmentedReduce",
                  static_cast<cudaError_t>(kernels::reduce_stored(what, scratch, bytes, cuda_stream(s))));
        };
        kernels::word64 bytes = 0;
        reduce(nullptr, bytes);
        // A few bytes of scratch memory, allocated and released in the order of the stream.
        void* scratch = nullptr;
        check("cudaMallocFromPoolAsync", cudaMallocFromPoolAsync(&scratch, bytes, pool_, cuda_stream(s)));
        try {
            reduce(scratch, bytes);
        } catch (const device_error&) {
            cudaFreeAsync(scratch, cuda_stream(s));
            forget_error();
            throw;
        }
        check("cudaFreeAsync", cudaFreeAsync(scratch, cuda_stream(s)));
    }

  private:
    int index() const { return properties_.index; }

    // Selects the device for the calling thread, which may be any, so every function calls this.
    void use() const { check("cudaSetDevice", cudaSetDevice(index())); }

    bool can_use() const noexcept {
        if (cudaSetDevice(index()) == cudaSuccess) return true;
        forget_error();
        return false;
    }

    void check(const char* call, cudaError_t e) const {
        if (e != cudaSuccess) fail(index(), call, e);
    }

    void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind which, stream s) {
        if (bytes == 0) return;
        use();
        check("cudaMemcpyAsync", cudaMemcpyAsync(to, from, bytes, which, cuda_stream(s)));
    }

    cudaLaunchAttribute persisting_window(const launch& how) {
        {
            const std::lock_guard guard(set_aside_lock_);
            if (!set_aside_) {
                check("cudaDeviceSetLimit",
                      cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, properties_.persisting_l2_bytes));
                longest_window_ =
                    static_cast<std::size_t>(attribute(index(), cudaDevAttrMaxAccessPolicyWindowSize));
                set_aside_ = true;
            }
        }
        const std::size_t bytes = std::min(how.persisting_bytes, longest_window_);
        cudaLaunchAttribute a{};
        a.id = cudaLaunchAttributeAccessPolicyWindow;
        auto& window = a.val.accessPolicyWindow;
        window.base_ptr = const_cast<void*>(how.persisting);
        window.num_bytes = bytes;
        // If the window exceeds the cache's part for persisting lines, only that fraction of its lines
        // persists, evenly spread; otherwise they would evict each other.
        window.hitRatio =
            std::min(1.0F, static_cast<float>(properties_.persisting_l2_bytes) / static_cast<float>(bytes));
        window.hitProp = cudaAccessPropertyPersisting;
        window.missProp = cudaAccessPropertyStreaming;
        return a;
    }

    device_properties properties_;
    cudaMemPool_t pool_ = nullptr;
    cudaStream_t allocations_ = nullptr;
    std::mutex set_aside_lock_;
    bool set_aside_ = false;
    std::size_t longest_window_ = 0;
};

}  // namespace

device_survey survey_devices() {
    int count = 0;
    device_survey out = survey_driver(count);
    for (int i = 0; i < count; ++i) out.devices.push_back(look_at(i));
    return out;
}

std::unique_ptr<device> open_device(int index) {
    int count = 0;
    const device_survey all = survey_driver(count);
    const std::string name = "GPU " + std::to_string(index);
    if (!all.why_none.empty()) throw device_error(device_failure::refused, name + ": " + all.why_none);
    if (index < 0 || index >= count)
        throw device_error(device_failure::refused,
                           name + " does not exist; this machine has " +
                               (count == 1 ? "GPU 0 alone" : "GPUs 0 to " + std::to_string(count - 1)));
    device_finding found = look_at(index);
    if (!found.why_not.empty()) throw device_error(device_failure::refused, name + ": " + found.why_not);
    try {
        return std::make_unique<cuda_device>(std::move(found.properties));
    } catch (const device_error& e) {
        if (attribute(index, cudaDevAttrComputeMode) != cudaComputeModeExclusiveProcess) throw;
        throw device_error(e.failure(), std::string(e.what()) +
                                            "; it is in exclusive mode: another process may be using it");
    }
}

}  // namespace tilewalk::cuda
