#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The workloads in Numba, each a CUDA kernel written in Python.

For speed: a thread walks a path in registers, including its generator's state; both normals of every
Box-Muller transform are used, in float32 from the halves of one draw; the numbers of a workload are
constants of its kernel; float32 is compiled with fastmath; the device sums the payoffs, so that two
numbers leave it."""
import functools
import math
import os

import peer

THREADS = 256


def open_numba(arguments):
    if arguments.cpu:
        os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
    import numpy

    for old, new in {"row_stack": "vstack", "in1d": "isin", "trapz": "trapezoid"}.items():
        if not hasattr(numpy, old):  # for names that Numba uses and later NumPy has dropped
            setattr(numpy, old, getattr(numpy, new))
    global cuda  # where the simulator, too, finds it for kernels
    import numba
    from numba import cuda
    import numba.cuda.libdevice
    import numba.cuda.random

    if arguments.cpu:  # the simulator lacks it
        cuda.libdevice.sincospi = lambda x: (math.sin(math.pi * x), math.cos(math.pi * x))
    elif not cuda.is_available():
        raise RuntimeError("Numba sees no GPU")
    return numba_peer(numba, "CPU" if arguments.cpu else cuda.get_current_device().name)


class numba_peer:
    def __init__(self, numba, device):
        import numpy

        self.random, self.np = numba.cuda.random, numpy
        self.version, self.device = numba.__version__, device.decode() if isinstance(device, bytes) else device

    def pricers(self, precision):
        self.real = getattr(self.np, precision)
        self.jit = functools.partial(cuda.jit, fastmath=precision == "float32")
        return {("cuda_jit", name): functools.partial(self.run, getattr(self, name))
                for name in ("asian", "heston", "autocallable")}

    def run(self, walk_of, w):
        kernel = self.kernel(walk_of(w, self.normals()), w["paths"])
        states = self.random.create_xoroshiro128p_states(w["paths"], seed=42)
        zeros = self.np.zeros(2)
        sums = cuda.to_device(zeros)
        blocks = (w["paths"] + THREADS - 1) // THREADS

        def price():
            sums.copy_to_device(zeros)
            kernel[blocks, THREADS](states, sums)
            total, squares = sums.copy_to_host()  # waits for the device
            mean = total / w["paths"]
            return float(mean), math.sqrt(max(squares - total * mean, 0) / (w["paths"] - 1) / w["paths"])
        return price

    def kernel(self, walk, paths):
        """A kernel that adds the payoffs of `walk` and their squares to `sums`, a block at a time."""
        float64, state = self.np.float64, self.random.xoroshiro128p_type

        @self.jit
        def kernel(states, sums):
            mine = cuda.local.array(1, state)
            first = cuda.shared.array(THREADS, float64)
            second = cuda.shared.array(THREADS, float64)
            path, thread = cuda.grid(1), cuda.threadIdx.x
            payoff = float64(0)
            if path < paths:
                mine[0]["s0"], mine[0]["s1"] = states[path]["s0"], states[path]["s1"]
                payoff = float64(walk(mine))
                states[path]["s0"], states[path]["s1"] = mine[0]["s0"], mine[0]["s1"]
            first[thread] = payoff
            second[thread] = payoff * payoff
            half = THREADS // 2
            while half > 0:
                cuda.syncthreads()
                if thread < half:
                    first[thread] += first[thread + half]
                    second[thread] += second[thread + half]
                half //= 2
            if thread == 0:
                cuda.atomic.add(sums, 0, first[0])
                cuda.atomic.add(sums, 1, second[0])
        return kernel

    def normals(self):
        """A device function that draws two normals."""
        uint32, uint64, real = self.np.uint32, self.np.uint64, self.real
        draw, uniform = self.random.xoroshiro128p_next, self.random.xoroshiro128p_uniform_float64
        scale, half = real(2.0**-32), real(2.0**-33)
        one, two, turn, sincospi = real(1), real(2), real(2 * math.pi), cuda.libdevice.sincospi

        @self.jit(device=True)
        def from_one_draw(state):
            bits = draw(state, 0)
            radius = math.sqrt(-two * math.log(real(uint32(bits >> uint64(32))) * scale + half))
            angle = turn * scale * real(uint32(bits & uint64(0xFFFFFFFF)))
            return radius * math.cos(angle), radius * math.sin(angle)

        @self.jit(device=True)
        def from_two_draws(state):
            radius = math.sqrt(-two * math.log(one - uniform(state, 0)))
            sine, cosine = sincospi(two * uniform(state, 0))
            return radius * cosine, radius * sine
        return from_one_draw if real is self.np.float32 else from_two_draws

    def asian(self, w, normals):
        real, pairs = self.real, w["steps"] // 2
        drift, volatility = real(w["drift"]), real(w["step_volatility"])
        scale, strike, discount = real(w["spot"] / w["steps"]), real(w["strike"]), real(w["discount"])

        @self.jit(device=True)
        def walk(state):
            x = real(0)
            total = real(0)
            for _ in range(pairs):
                z, u = normals(state)
                x += drift + volatility * z
                total += math.exp(x)
                x += drift + volatility * u
                total += math.exp(x)
            return discount * max(total * scale - strike, real(0))
        return walk

    def heston(self, w, normals):
        real, steps = self.real, w["steps"]
        dt, rate, half, rho = real(w["dt"]), real(w["rate"]), real(0.5), real(w["correlation"])
        other = real(math.sqrt(1 - w["correlation"] ** 2))
        start, mean, reversion = real(w["variance"]), real(w["mean_variance"]), real(w["reversion"])
        xi, spot, strike, discount = (real(w[name]) for name in ("volatility_of_variance", "spot", "strike",
                                                                 "discount"))

        @self.jit(device=True)
        def walk(state):
            x = real(0)
            v = start
            for _ in range(steps):
                z, u = normals(state)
                positive = max(v, real(0))
                root = math.sqrt(positive * dt)
                x += (rate - half * positive) * dt + root * z
                v += reversion * (mean - positive) * dt + xi * root * (rho * z + other * u)
            return discount * max(spot * math.exp(x) - strike, real(0))
        return walk

    def autocallable(self, w, normals):
        real, pairs = self.real, w["steps"] // 2
        count, two_steps = len(w["drifts"]), 2 * len(w["drifts"])
        level, protection = real(math.log(w["call_level"])), real(w["protection"])
        redemption = real(w["notional"] * w["discount"])
        drifts, root, payments = (self.np.array(w[name], real) for name in ("drifts", "root", "payments"))

        @self.jit(device=True)
        def step(x, z, begin):
            worst = real(0)
            for i in range(count):
                x[i] += drifts[i]
                for j in range(i + 1):
                    x[i] += root[i, j] * z[begin + j]
                worst = min(worst, x[i]) if i > 0 else x[i]
            return worst

        @self.jit(device=True)
        def walk(state):
            x = cuda.local.array(count, real)
            z = cuda.local.array(two_steps, real)  # as normals come in pairs
            for i in range(count):
                x[i] = real(0)
            worst = real(0)
            for k in range(pairs):
                for i in range(count):
                    z[2 * i], z[2 * i + 1] = normals(state)
                if step(x, z, 0) >= level:
                    return payments[2 * k]
                worst = step(x, z, count)
                if worst >= level:
                    return payments[2 * k + 1]
            performance = math.exp(worst)
            return redemption * (real(1) if performance >= protection else performance)
        return walk


if __name__ == "__main__":
    raise SystemExit(peer.main("numba", open_numba))
