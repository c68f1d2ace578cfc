"""Transformers and LLaMA in PyTorch against the papers' formulas: `python3 transformer_test.py`."""

import math
import unittest

import numpy

import llama
import transformer

S, T, M, H, D, F = 3, 4, 6, 2, 3, 5
DRAW = numpy.random.default_rng(1).standard_normal


def drawn(**shapes):
    return {name: DRAW(shape) for name, shape in shapes.items()}


def heads_weights(key_heads=H, width=D, heads=H, biased=True):
    query, key = heads * width, key_heads * width
    weights = drawn(wq=(query, M), wk=(key, M), wv=(key, M), wo=(M, query))
    return weights | (drawn(bq=query, bk=key, bv=key, bo=M) if biased else {})


def attended(q, k, v, width, sees):
    """The concatenated means of all heads, [S,H*D]; sees(s, t) is true if s attends to t."""
    shared = q.shape[1] // k.shape[1]
    mean = numpy.zeros_like(q)
    for s in range(len(q)):
        for h in range(q.shape[1] // width):
            own, read = (slice(g * width, (g + 1) * width) for g in (h, h // shared))
            terms = {t: math.exp(q[s, own] @ k[t, read] / math.sqrt(width))
                     for t in range(len(k)) if sees(s, t)}  # fmt: skip
            mean[s, own] = sum(term * v[t, read] for t, term in terms.items()) / sum(terms.values())
    return mean


def multi_head(w, x, memory, sees):
    q, k, v = (z @ w["w" + n].T + w["b" + n] for z, n in ((x, "q"), (memory, "k"), (memory, "v")))
    return attended(q, k, v, D, sees) @ w["wo"].T + w["bo"]


class Original(unittest.TestCase):
    SIZES = {"dtype": "f64", "M": M, "H": H, "K": H, "D": D}

    def test_cross_attention_ignores_padding(self):
        w, tokens = heads_weights(), drawn(x=(S, M), memory=(T, M))
        for length in (None, 2):
            got = transformer.SYSTEMS["multihead_attention"]["cross_attention"](
                **self.SIZES, **w, **tokens, scale=None, soft_cap=None,
                key_length=length and [length],
            )  # fmt: skip
            y = multi_head(w, tokens["x"], tokens["memory"], lambda s, t: t < (length or T))
            self.assertLess(numpy.abs(got["y"].numpy() - y).max(), 1e-13)

    def block(self, system, placement, mask, w, tokens):
        return transformer.SYSTEMS[system]["encoder_block"](
            **self.SIZES, **w, **tokens, F=F, placement=placement, kind="relu", eps=0.5,
            mask=mask, key_length=None,
        )["y"].numpy()  # fmt: skip

    def test_encoder_layer_matches_the_paper(self):
        norms = {f"norm{i}_{part}": M for i in (1, 2) for part in ("weight", "bias")}
        w = heads_weights() | drawn(w1=(F, M), b1=F, w2=(M, F), b2=M, **norms)
        tokens = drawn(x=(S, M), position_table=(S, M))

        def norm(x, i):
            mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
            return (x - mean) / numpy.sqrt(variance + 0.5) * w[f"norm{i}_weight"] + w[
                f"norm{i}_bias"]  # fmt: skip

        def feed(x):
            return numpy.maximum(x @ w["w1"].T + w["b1"], 0) @ w["w2"].T + w["b2"]

        for mask in ("none", "causal"):
            def attend(x):
                return multi_head(w, x, x, lambda s, t: mask == "none" or t <= s)  # noqa: B023

            u = tokens["x"] + tokens["position_table"]
            h = norm(u + attend(u), 1)
            post = norm(h + feed(h), 2)
            h = u + attend(norm(u, 1))
            pre = h + feed(norm(h, 2))
            for placement, y in (("post", post), ("pre", pre)):
                got = self.block("encoder_layer", placement, mask, w, tokens)
                self.assertLess(numpy.abs(got - y).max(), 1e-13)
        for system in ("encoder_layer_without_positions", "encoder_layer_batch_second"):
            wrong = self.block(system, "pre", "none", w, tokens)
            self.assertGreater(numpy.abs(wrong - pre).max(), 0.01)


class Llama(unittest.TestCase):
    K, WIDTH, HEADS, POSITION = 2, 4, 4, numpy.array([0, 2, 9])

    def given(self, **more):
        return dict(dtype="f64", position=self.POSITION, M=M, H=self.HEADS, K=self.K, D=self.WIDTH,
                    R=self.WIDTH, F=F, base=100.0, pairing="half", eps=0.5, **more)  # fmt: skip

    def rotated(self, x):
        """Rotates pairs (k, k + 2) of each head, as complex numbers, by position / 10^k."""
        x = x.reshape(len(x), -1, self.WIDTH)
        factor = numpy.exp(1j * numpy.outer(self.POSITION, [1, 0.1]))[:, None]
        pairs = (x[..., :2] + 1j * x[..., 2:]) * factor
        return numpy.concatenate([pairs.real, pairs.imag], -1).reshape(len(x), -1)

    def norm(self, x, weight):
        return x / numpy.sqrt((x * x).mean(-1, keepdims=True) + 0.5) * weight

    def block(self, x, w, length=S):
        read = self.norm(x, w["attn_norm"])
        q, k, v = (read @ w[name].T for name in ("wq", "wk", "wv"))
        mean = attended(self.rotated(q), self.rotated(k), v, self.WIDTH,
                        lambda s, t: t <= s and t < length)
        h = x + mean @ w["wo"].T
        read = self.norm(h, w["mlp_norm"])
        gate = read @ w["gate"].T
        return h + (gate / (1 + numpy.exp(-gate)) * (read @ w["up"].T)) @ w["down"].T

    def weights(self):
        return heads_weights(self.K, self.WIDTH, self.HEADS, biased=False) | drawn(
            attn_norm=M, mlp_norm=M, gate=(F, M), up=(F, M), down=(M, F))  # fmt: skip

    def test_block(self):
        w, x = self.weights(), DRAW((S, M))
        y = self.block(x, w)
        for name, system in llama.SYSTEMS.items():
            if "decoder_block" in system:
                got = system["decoder_block"](x=x, **w, **self.given())["y"].numpy()
                error = numpy.abs(got - y).max()
                if name == "llama_block":
                    self.assertLess(error, 1e-12)
                else:
                    self.assertGreater(error, 0.01)

    def test_block_does_not_read_padding(self):
        w, x = self.weights(), DRAW((S, M))
        got = llama.SYSTEMS["llama_block"]["decoder_block"](
            x=x, **w, **self.given(key_length=[2]))["y"].numpy()  # fmt: skip
        self.assertLess(numpy.abs(got - self.block(x, w, 2)).max(), 1e-12)
        self.assertGreater(numpy.abs(got - self.block(x, w)).max(), 0.001)

    def test_model(self):
        first, second = self.weights(), self.weights()
        rest = drawn(table=(7, M), last_norm=M, head=(7, M))
        token = numpy.array([3, 0, 6])
        state = self.block(self.block(rest["table"][token], first), second)
        logits = self.norm(state, rest["last_norm"]) @ rest["head"].T
        got = llama.SYSTEMS["llama_model"]["decoder"](
            token=token, **rest, **{name: numpy.stack([first[name], second[name]]) for name in first},
            **self.given(V=7, L=2),
        )  # fmt: skip
        self.assertLess(numpy.abs(got["logits"].numpy() - logits).max(), 1e-12)


if __name__ == "__main__":
    unittest.main()
