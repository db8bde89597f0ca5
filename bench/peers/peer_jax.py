#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The workloads in JAX, each one function through jit, loops over steps inside.

For speed: the generator is XLA's own (rbg), not JAX's Threefry; the normals of a chunk of steps are drawn
at once, and its steps are unrolled, so that XLA makes few kernels of them; assets are separate arrays; the
put's regressions are sums over paths in double and a written-out solution, which XLA fuses, instead of
library calls; two numbers leave the device, in one transfer.

Gradients are those of value_and_grad of the mean payoff, to all numbers at once, through a scan over
chunks of steps: `checkpoint` keeps the states before a chunk and walks it again on the way back, normals
and all; `scan` keeps what the way back reads."""
import functools
import math
import os

import peer

# Steps in each unrolled chunk, by workload: their normals fill about the L2 cache of a large GPU, 50 MB in float32.
CHUNKS = {"asian": 12, "heston": 6, "autocallable": 12}


def open_jax(arguments):
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_default_prng_impl", arguments.random or "rbg")
    device = jax.devices()[0]
    if not arguments.cpu and device.platform not in ("gpu", "cuda"):
        raise RuntimeError("JAX sees no GPU")
    return jax_peer(jax, device, arguments.chunk)


class jax_peer:
    def __init__(self, jax, device, chunk):
        self.jax, self.np, self.lax, self.chunk = jax, jax.numpy, jax.lax, chunk
        self.version, self.device = jax.__version__, getattr(device, "device_kind", device.platform)
        self.runs = 0
        self.peak_before = 0

    def pricers(self, precision):
        self.dtype = getattr(self.np, precision)
        gradients = {(style, name + "_greeks"): functools.partial(self.gradient, getattr(self, name + "_by_numbers"), keeps)
                     for name in ("asian", "heston")
                     for style, keeps in (("checkpoint", self.jax.checkpoint), ("scan", lambda body: body))}
        return gradients | {("jit", name): functools.partial(self.run, getattr(self, name))
                            for name in ("asian", "heston", "autocallable", "bermudan_put")}

    def bytes_at_once(self):
        known = self.jax.devices()[0].memory_stats() or {}
        return known.get("peak_bytes_in_use", 0)

    def start_peak(self):
        self.peak_before = self.bytes_at_once()

    def peak_bytes(self):
        """The peak of the process; None unless this workload raised it."""
        peak = self.bytes_at_once()
        return peak if peak > self.peak_before else None

    def gradient(self, payoffs_of, keeps, w):
        """The estimate and the derivatives of the mean; `keeps` selects what of a chunk is kept for the
        way back."""
        np, dtype = self.np, self.dtype  # this pricer's, even if later ones differ
        of = {"volatilities": "volatility", "rates": "rate"}
        numbers = tuple(np.full(count, w[of.get(name, name)], dtype) for name, count in w["gradient"].items())

        def mean(numbers, key):
            paid = payoffs_of(w, key, dtype, keeps, *numbers)
            return paid.mean(), paid

        @self.jax.jit
        def run(seed, numbers):
            (_, paid), found = self.jax.value_and_grad(mean, has_aux=True)(numbers, self.jax.random.key(seed))
            paid = paid.astype(np.float64)
            estimate = np.stack((paid.mean(), paid.std(ddof=1) / math.sqrt(w["paths"])))
            return np.concatenate((estimate, *(g.astype(np.float64) for g in found)))

        def price():
            self.runs += 1
            return tuple(run(42 + self.runs, numbers).tolist())  # waits for the device
        return price

    def scan(self, w, key, dtype, shocks, step, keeps, start, by_step=()):
        """The state after all steps. `step` maps a state, a row of normals for each shock, and the step's
        numbers to the next state. Chunks are those of prices."""
        chunk = self.chunk or CHUNKS[w["name"].removesuffix("_greeks")]
        if w["steps"] % chunk:
            raise ValueError(f"{w['steps']} steps are no chunks of {chunk}")

        def steps(state, of):
            i, numbers = of
            z = self.normals(key, i, (chunk, shocks, w["paths"]), dtype)
            for k in range(chunk):
                state = step(state, z[k], [n[k] for n in numbers])
            return state, None
        count = w["steps"] // chunk
        of_chunks = self.np.arange(count), [n.reshape(count, chunk) for n in by_step]
        return self.lax.scan(keeps(steps), start, of_chunks)[0]

    def asian_by_numbers(self, w, key, dtype, keeps, spot, volatilities, rates):
        np, dt = self.np, w["dt"]

        def step(state, z, of):
            x, total = state
            drift, volatility = of
            x = x + drift + volatility * z[0]
            return x, total + np.exp(x)
        zero = np.zeros(w["paths"], dtype)
        by_step = ((rates - 0.5 * volatilities ** 2) * dt, volatilities * math.sqrt(dt))
        _, total = self.scan(w, key, dtype, 1, step, keeps, (zero, zero), by_step)
        discount = np.exp(-dt * rates.sum())
        return discount * np.maximum(total * (spot[0] / w["steps"]) - w["strike"], 0)

    def heston_by_numbers(self, w, key, dtype, keeps, *numbers):
        np, dt = self.np, w["dt"]
        spot, variance, reversion, mean_variance, volatility, rho = (n[0] for n in numbers)

        def step(state, z, _):
            x, v = state
            # Guards the derivative, infinite for a root of 0: the root is taken of 1 there, and replaced by 0.
            is_positive = v > 0
            positive = np.where(is_positive, v, 0)
            root = np.where(is_positive, np.sqrt(np.where(is_positive, v, 1) * dt), 0)
            x = x + (w["rate"] - 0.5 * positive) * dt + root * z[0]
            v = v + reversion * (mean_variance - positive) * dt + \
                volatility * root * (rho * z[0] + np.sqrt(1 - rho * rho) * z[1])
            return x, v
        zero = np.zeros(w["paths"], dtype)
        x, _ = self.scan(w, key, dtype, 2, step, keeps, (zero, zero + variance))
        return w["discount"] * np.maximum(spot * np.exp(x) - w["strike"], 0)

    def run(self, payoffs_of, w):
        dtype = self.dtype  # this pricer's, even if later ones differ

        @self.jax.jit
        def estimate(seed):
            payoffs = payoffs_of(w, self.jax.random.key(seed), dtype).astype(self.np.float64)
            return self.np.stack((payoffs.mean(), payoffs.std(ddof=1) / math.sqrt(w["paths"])))

        def price():
            self.runs += 1
            return tuple(estimate(42 + self.runs).tolist())  # waits for the device
        return price

    def normals(self, key, of, shape, dtype):
        return self.jax.random.normal(self.jax.random.fold_in(key, of), shape, dtype)

    def walk(self, w, key, dtype, shocks, step, start):
        """The state after all steps; `step` maps a state and a row of normals for each shock to the next
        state."""
        chunk = self.chunk or CHUNKS[w["name"]]
        if w["steps"] % chunk:
            raise ValueError(f"{w['steps']} steps are no chunks of {chunk}")

        def steps(i, state):
            z = self.normals(key, i, (chunk, shocks, w["paths"]), dtype)
            for k in range(chunk):
                state = step(state, z[k])
            return state
        return self.lax.fori_loop(0, w["steps"] // chunk, steps, start)

    def asian(self, w, key, dtype):
        def step(state, z):
            x, total = state
            x = x + w["drift"] + w["step_volatility"] * z[0]
            return x, total + self.np.exp(x)
        zero = self.np.zeros(w["paths"], dtype)
        _, total = self.walk(w, key, dtype, 1, step, (zero, zero))
        return w["discount"] * self.np.maximum(total * (w["spot"] / w["steps"]) - w["strike"], 0)

    def heston(self, w, key, dtype):
        dt, rho = w["dt"], w["correlation"]

        def step(state, z):
            x, v = state
            positive = self.np.maximum(v, 0)
            root = self.np.sqrt(positive * dt)
            x = x + (w["rate"] - 0.5 * positive) * dt + root * z[0]
            v = v + w["reversion"] * (w["mean_variance"] - positive) * dt + \
                w["volatility_of_variance"] * root * (rho * z[0] + math.sqrt(1 - rho * rho) * z[1])
            return x, v
        start = self.np.zeros(w["paths"], dtype), self.np.full(w["paths"], w["variance"], dtype)
        x, _ = self.walk(w, key, dtype, 2, step, start)
        return w["discount"] * self.np.maximum(w["spot"] * self.np.exp(x) - w["strike"], 0)

    def autocallable(self, w, key, dtype):
        np, count, level = self.np, len(w["drifts"]), math.log(w["call_level"])

        def step(state, z):
            x, alive, first = state  # first: the step of the call
            x = [x[i] + w["drifts"][i] + sum(w["root"][i][j] * z[j] for j in range(i + 1)) for i in range(count)]
            alive = alive & (functools.reduce(np.minimum, x) < level)
            return x, alive, first + alive
        start = ([np.zeros(w["paths"], dtype)] * count, np.ones(w["paths"], bool), np.zeros(w["paths"], np.int32))
        x, alive, first = self.walk(w, key, dtype, count, step, start)
        performance = np.exp(functools.reduce(np.minimum, x))
        at_the_end = np.where(performance >= w["protection"], np.ones_like(performance), performance)
        paid = np.array(w["payments"], dtype)[np.minimum(first, w["steps"] - 1)]
        return np.where(alive, w["notional"] * w["discount"] * at_the_end, paid)

    def bermudan_put(self, w, key, dtype):
        """Longstaff and Schwartz: the rule from one set of paths, the price from another."""
        np, lax, strike, unroll = self.np, self.lax, w["strike"], self.chunk or 10
        discount = math.exp(-w["rate"] * w["dt"])
        zero = np.zeros(w["paths"], dtype)

        def normals(of):
            return self.normals(key, of, (w["steps"], w["paths"]), dtype)

        def variable(s):
            return (s - strike) / (0.2 * strike)

        def exercised(s, rule):
            x = variable(s)
            return (s < strike) & (strike - s > rule[0] + x * (rule[1] + x * (rule[2] + x * rule[3])))

        def move(x, z):
            x = x + w["drift"] + w["step_volatility"] * z
            return x, w["spot"] * np.exp(x)

        def back(later, s):
            later = discount * later
            x = variable(s).astype(np.float64)
            powers = [(s < strike).astype(np.float64)]
            while len(powers) < 7:
                powers.append(powers[-1] * x)
            sums = [p.sum() for p in powers] + [(p * later).sum() for p in powers[:4]]
            rule = [c.astype(dtype) for c in peer.fitted_cubic(sums)]
            return np.where(exercised(s, rule), strike - s, later), np.stack(rule)

        def forward(state, of_date):
            x, paid, alive = state
            z, rule, discounted = of_date
            x, s = move(x, z)
            now = alive & exercised(s, rule)
            return (x, np.where(now, discounted * (strike - s), paid), alive & ~now), None

        _, s = lax.scan(move, zero, normals(0), unroll=unroll)
        _, rule = lax.scan(back, np.maximum(strike - s[-1], 0), s[:-1], reverse=True, unroll=unroll)
        always = np.array([[-1, 0, 0, 0]], dtype)  # at the last date: to wait is worth less than anything
        of_dates = (normals(1), np.concatenate((rule, always)),
                    np.array([discount ** (k + 1) for k in range(w["steps"])], dtype))
        (_, paid, _), _ = lax.scan(forward, (zero, zero, np.ones(w["paths"], bool)), of_dates, unroll=unroll)
        return paid


if __name__ == "__main__":
    raise SystemExit(peer.main("jax", open_jax, has_gradients=True))
