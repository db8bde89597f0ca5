#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The workloads in JAX, each one function through jit, loops over steps inside.

For speed: the generator is XLA's own (rbg), not JAX's Threefry; the normals of a chunk of steps are drawn at once, and
its steps are unrolled, so that XLA makes few kernels of them; assets are arrays of their own; the put's regressions are
sums over paths in double and a solution written out, which XLA fuses, instead of calls of libraries; two numbers leave
the device, in one transfer."""
import functools
import math
import os

import peer

# Steps unrolled: as many as have normals for about the cache of a large GPU, 50 MB in float32.
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

    def pricers(self, precision):
        self.dtype = getattr(self.np, precision)
        return {("jit", name): functools.partial(self.run, getattr(self, name))
                for name in ("asian", "heston", "autocallable", "bermudan_put")}

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
        """The state after all steps; `step` gives the next state of a state and a row of normals a shock."""
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
    raise SystemExit(peer.main("jax", open_jax))
