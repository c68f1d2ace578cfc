"""xPos and axial positions of the rotary-embedding library, and the two axes of ChatGLM-6B;
`python3 rotary_extras.py NAME` serves one."""

import math

import torch

from rope import rotary
from rotary_forms import inverse_frequencies, rotate_half, rotate_neighbours, working
from subject import Unsupported, as_tensor, serve


class XPos:
    """Rotation and a decay per pair from the middle of the sequence; inverse decay for keys."""

    def __init__(self, width, base, scale_base, gamma):
        even = torch.arange(0, width, 2).float()
        self.frequencies = inverse_frequencies(width, base)
        self.decay = (even + gamma * width) / ((1 + gamma) * width)
        self.scale_base = scale_base

    def __call__(self, x, position, role):
        middle = (int(position.max()) + 1) // 2
        power = (position - middle).to(working(x)) / self.scale_base
        scale = self.per_channel(self.decay ** power[..., None])
        angle = (position[..., None].to(working(x)) * self.frequencies).repeat_interleave(2, -1)
        cos, sin, scale = (table[:, None] for table in (angle.cos(), angle.sin(), scale))
        return (x * cos + rotate_neighbours(x) * sin) * self.grown(scale, role)

    def per_channel(self, scale):
        return scale.repeat_interleave(2, -1)

    def grown(self, scale, role):
        return scale if role == "query" else scale**-1


class XPosInHalves(XPos):
    """Wrong, an old version of the library: decays in half order for pairs of neighbours."""

    def per_channel(self, scale):
        return torch.cat((scale, scale), -1)


class XPosKeysAsQueries(XPos):
    """Wrong: keys have the decay of queries, so that scores depend on absolute positions."""

    def grown(self, scale, role):
        return scale


class Axial:
    """A block of channels per axis, each with its own frequencies; pairs of neighbours."""

    pairing = "interleaved"
    rotate = staticmethod(rotate_neighbours)

    def frequencies(self, kind, width, base, max_freq):
        if kind == "lang":
            return inverse_frequencies(width, base)
        if kind == "pixel":
            return torch.linspace(1.0, max_freq / 2, width // 2) * math.pi
        return torch.ones(width // 2)

    def spread(self, angle):
        """Repeats the angle of each pair for its two channels."""
        return angle.repeat_interleave(2, -1)

    def coordinates(self, position):
        return position

    def __call__(self, x, position, kind, base, max_freq):
        blocks = x.chunk(position.shape[1], -1)
        rotated = []
        for block, coordinate in zip(blocks, self.coordinates(position).unbind(1)):
            frequencies = self.frequencies(kind, block.shape[-1], base, max_freq)
            angle = self.spread(coordinate.to(working(x))[..., None] * frequencies)[:, None]
            rotated.append(block * angle.cos() + self.rotate(block) * angle.sin())
        return torch.cat(rotated, -1)


class AxialWithoutPi(Axial):
    """Wrong: pixel frequencies from 1 to max_freq/2, without the factor pi."""

    def frequencies(self, kind, width, base, max_freq):
        return torch.linspace(1.0, max_freq / 2, width // 2)


class AxialReversed(Axial):
    """Wrong: the axes in reverse order."""

    def coordinates(self, position):
        return position.flip(1)


class ChatGlm(Axial):
    """ChatGLM-6B: half of the head rotates by token position, half by block position."""

    pairing = "half"
    rotate = staticmethod(rotate_half)

    def frequencies(self, kind, width, base, max_freq):
        if kind != "lang":
            raise Unsupported("only frequencies=lang")
        return inverse_frequencies(width, base)

    def spread(self, angle):
        return torch.cat((angle, angle), -1)


class ChatGlmOneAxis(ChatGlm):
    """Wrong: ignores block positions; both halves rotate by the token position."""

    def coordinates(self, position):
        return position[:, :1].expand_as(position)


def xpos(form):
    def rotation(x, sign, position, base, role, scale_base, gamma, center, **_):
        position = as_tensor(position)
        if center != (int(position.max()) + 1) // 2:
            raise Unsupported("the center must be the middle of the sequence")
        return form(x.shape[-1], base, scale_base, gamma)(x, position, role).to(x.dtype)

    answer = rotary("interleaved", rotation)
    return {"xpos": lambda **given: answer(**given, direction="forward")}


def rope_axial(form):
    def rotation(x, sign, position, frequencies, arrangement, base, max_freq, **_):
        if arrangement != "blocks":
            raise Unsupported("only arrangement=blocks")
        position = sign * as_tensor(position)
        return form()(x, position, frequencies, base, max_freq).to(x.dtype)

    return {"rope_axial": rotary(form.pairing, rotation)}


SYSTEMS = {
    "library_xpos": xpos(XPos),
    "library_xpos_in_halves": xpos(XPosInHalves),
    "library_xpos_keys_as_queries": xpos(XPosKeysAsQueries),
    "library_axial": rope_axial(Axial),
    "library_axial_without_pi": rope_axial(AxialWithoutPi),
    "library_axial_reversed": rope_axial(AxialReversed),
    "chatglm_6b": rope_axial(ChatGlm),
    "chatglm_6b_one_axis": rope_axial(ChatGlmOneAxis),
}

if __name__ == "__main__":
    serve(SYSTEMS)
