"""Kinds of deviations: which factor of the computation deviates, the words by which a cause names
it rightly, and the figures that the sentence must have. A deviation may have words of its own, as
`words` among its figures.

A cause is right if its name is a listed defect that is this very bug, or if the words are found in
"name: sentence" and every figure is among the numbers of the sentence (as it is, its inverse, or
with the other sign). Doubles have two different factors.
"""

from typing import NamedTuple


class Kind(NamedTuple):
    factor: str
    words: str  # a regular expression, any case
    figures: tuple = ()


POSITION = r"position|token|distance|tokens"
FREQUENCY = r"frequenc|turn|angle|wavelength"
ROWS = r"zero|unwritten|unchanged|not (computed|written|rotated|normal)|lost|missing|copied|still"

KINDS = {
    # rotations
    "position_clamped": Kind("position", r"clamp|act as|at most|above|below", ("limit",)),
    "position_wrapped": Kind("position", r"wrap|modulo|overflow|repeat|bits", ("limit",)),
    "position_offset": Kind("position", r"position.*(offset|shift|off_by|late|early|plus|more|less)"
                            r"|offset|shifted|off by|added", ("shift",)),
    "position_scaled": Kind("position",
                            rf"({POSITION}|{FREQUENCY}).*(scale|times|multipl|divid|ratio"
                            r"|factor|twice|of the right|/)|twice", ("ratio",)),
    "position_rounded": Kind("position", r"position.*(round|cut|truncat|bits|multiple|block|f16)"),
    "position_absolute": Kind("position", r"absolute|sign|negative|positive|backwards"),
    "position_constant": Kind("position",
                              rf"({POSITION}).*(constant|all|same|act as|zero)|position_"
                              r"(zero|constant)", ("value",)),
    "position_is_index": Kind("position", r"index|slot|place|count|0, 1, 2"),
    "position_relative": Kind("position", r"first|relative|counted|start|offset|shift"),
    "position_of_token": Kind("position", rf"({POSITION}|row).*(another|other token|moved)"),
    "position_of_batch": Kind("position", r"batch"),
    "position_restarts": Kind("position", r"restart|reset|counted|from token|start|positions from",
                              ("token",)),
    "position_is_head": Kind("position", r"head"),
    "axis": Kind("position", r"axis|axes|section|order"),
    "base": Kind("frequency", r"base", ("base",)),
    "exponent_width": Kind("frequency", r"width|exponent|base|denominator|head"),
    "exponent_shift": Kind("frequency", r"exponent|index|shift|pair|ratio|multipl|times|factor"),
    "exponent_scaled": Kind("frequency", r"exponent|base"),
    "frequency_order": Kind("frequency", r"order|revers|next|another|other|exchang|shift|swap|roll"
                            r"|shared|same|neighbo|permut"),
    "frequency_one": Kind("frequency", r"all pairs|every pair|one frequency|same frequency|first"),
    "frequency_ratio": Kind("frequency", rf"({FREQUENCY}|position|scal).*(ratio|times|multipl|divid"
                            r"|factor|of the right|/)|scal", ("ratio",)),
    "frequency_plateau": Kind("frequency", rf"pairs?.*({FREQUENCY}|still|not rotat|unchanged)"
                              rf"|({FREQUENCY}).*pairs?"),
    "frequency_of_pair": Kind("frequency", rf"pairs?.*({FREQUENCY}|still|not rotat|unchanged|sign|"
                              rf"backwards)|({FREQUENCY}).*pairs?"),
    "frequency_ramp": Kind("frequency", rf"pairs?.*({FREQUENCY})|({FREQUENCY}).*pairs?"),
    "scaling": Kind("frequency", r"scal|factor|ramp|context|original_max|beta|llama3|yarn|longrope"
                    rf"|({FREQUENCY})"),
    "amplitude": Kind("gain", r"gain|amplitude|factor|times|multipl|twice|missing"),
    "amplitude_one_side": Kind("gain", r"(cos|sin).*(gain|amplitude|factor|times|multipl|more|plus|"
                               r"alone|only|one side|ratio)|amplitude_on"),
    "scale_base": Kind("gain", r"scale_base|decay|growth|gain", ("value",)),
    "gamma": Kind("gain", r"gamma|decay|growth", ("value",)),
    "center": Kind("gain", r"cent(er|re)|growth", ("value",)),
    "role": Kind("gain", r"role|query|key|invers|growth"),
    "growth": Kind("gain", r"growth|decay|gain|factor"),
    "pairing": Kind("layout", r"pair|partner|layout|block|interleav|half|halves|channel"),
    "channel_window": Kind("layout", r"window|offset|pair|partner|channel|width"),
    "pairs_still": Kind("layout", r"pair.*(still|not rotat|unchanged|left|pass|copied|frequency 0"
                        r"|turn| at 0)|left_out|still|channels|unchanged, at D"),
    "direction": Kind("layout", r"direction|transpose|backwards|sign|negat|turn at -1"),
    "sign": Kind("layout", r"sign|minus|subtract|negat|backwards|direction|(by|is) -"),
    "cos_and_sin": Kind("layout", r"cos.*sin|sin.*cos|quarter"),
    "hazard": Kind("layout", r"overwrit|in.place|hazard|already|rotated first|rotated second"),
    "term_missing": Kind("layout", r"missing|only|term|alone|not read|lost|depend"),
    "added": Kind("layout", r"add|plus|accumul|instead"),
    "layout": Kind("layout", r"layout|interleav|concat"),
    "order": Kind("rows", r"order|permut|revers|exchang|roll|shift|moved|transpos|place|swap|evens"
                  r"|another|other|read from"),
    "rest": Kind("layout", r"rest|zero|outside|is 0 at D"),
    # rows of any operation
    "rows_still": Kind("rows", ROWS + r"|position"),  # tokens that act as position 0
    "rows_zero": Kind("rows", ROWS),
    "rows_moved": Kind("rows", r"row|moved|shift|another|other|before|previous|all|first|head|batch"
                       r"|token|repeat|stale|same"),
    "rows_added": Kind("rows", r"add|accumul|reset|sum|twice|cumul"),
    "factor": Kind("gain", r"factor|times|multipl|scale|half|twice|double|not_scaled", ("ratio",)),
    "offset": Kind("gain", r"offset|plus|add|constant|more", ("value",)),
    # attention
    "align": Kind("keys", r"align|offset|top_left|bottom_right|diagonal|keys up to|later|earlier"
                  r"|further|belongs|its own|number of keys"),
    "mask": Kind("keys", r"mask|causal|all keys|sees"),
    "window": Kind("keys", r"window|sees", ("value",)),
    "chunk": Kind("keys", r"chunk|sees", ("value",)),
    "key_length": Kind("keys", r"length|keys|padding"),
    "diagonal": Kind("keys", r"keys|sees|leak|mask|offset|align|diagonal|further|tile|chunk"),
    "keys_lost": Kind("keys", r"keys?.*(missing|lost|not seen|unseen|not read|ignored|never|skip)"
                      r"|lost|missing|newest|first key|number of keys"),
    "sink_tokens": Kind("keys", r"first|keys|sees|window"),
    "key_head": Kind("heads", r"head"),
    "value_head": Kind("heads", r"head"),
    "scale": Kind("scale", r"scale|temperature|multipl|factor|times", ("ratio",)),
    "soft_cap": Kind("cap", r"cap|clip|tanh|limit", ("value",)),
    "mask_value": Kind("keys", r"mask|finite|sentinel", ("value",)),
    "sink": Kind("sink", r"sink"),
    "sum": Kind("sink", r"sum|denominator|divisor|divid|one more|extra|sink|padd|eps|zero|weights"),
    "base_of_exponential": Kind("scale", r"base|2\^|10\^|ln|log|scale|multipl|temperature"),
    "weights": Kind("sink", r"weight|softmax|uniform|mean|largest|scale|argmax|quer"),
    "values": Kind("values", r"value|key|v\b"),
    "slope": Kind("scale", r"slope|times the right|numbers of .*\bH\b"),
    "form": Kind("scale", r"form|symmetric|absolute"),
    "max_bias": Kind("scale", r"max_bias|slope", ("value",)),
    "head_index": Kind("heads", r"head|slope|index"),
    "beta": Kind("function",
                 r"beta|alpha|constant|swish|gelu|multipl|times|scale|sigmoid|tanh|slope",
                 ("value",)),
    "floor_scale": Kind("scale", r"floor_scale|block|length", ("value",)),
    "original_max_position_embeddings": Kind("scale", r"original|length|context|train", ("value",)),
    # norms, activations, layers
    "eps": Kind("eps", r"eps", ("value",)), "eps_place": Kind("eps", r"eps"),
    "divisor": Kind("divisor", r"divi|count|mean|M - 1|sum|padd|width|factor|columns|elements",
                    ("value",)),
    "root": Kind("divisor", r"root|power|square"),
    "shared_rows": Kind("divisor", r"row|column|share"),
    "columns": Kind("columns", r"column|channel|input|missing|lost|twice|remainder|hidden"),
    "columns_of_sum": Kind("divisor", r"column|channel|part|half|first|last|width|elements|count"),
    "groups": Kind("divisor", r"group|part|half|halves|head|block"),
    "mean": Kind("mean", r"mean|center|centre|median"),
    # Half the weight is a fourth of the divisor, but for eps.
    "weight_factor": Kind("gain", r"weight|divided|factor"),
    "weight": Kind("weight", r"weight"), "bias": Kind("bias", r"bias"),
    "residual": Kind("mean", r"residual|sum|added|norm_of|x "),
    "function": Kind("function", r"function|activat|kind="),
    "cubic": Kind("function", r"cubic|coefficient|constant|root|gelu", ("value",)),
    "leak": Kind("function", r"slope|leaky|min\(x, 0\)", ("value",)),
    "clamp": Kind("function", r"clamp|clip|limit|at most|relu", ("value",)),
    "halves": Kind("halves", r"half|halves|gate|up|exchang|pairs|interleav"),
    "product": Kind("product", r"product|both|added|up|activat|missing"),
    "limit": Kind("limit", r"limit|clamp|clip", ("value",)),
    "plus": Kind("plus", r"plus|1|one"),
    "transposed": Kind("columns", r"transpos"), "operand": Kind("columns", r"weight|absolute|sign"),
    # relative positions
    "clip": Kind("position", r"clip|distance|row", ("value",)),
    "table": Kind("values", r"table"),
    # single elements of any operation
    "elements": Kind("rows", r"element|column|row|channel|[A-Z] \d+"),
    "row_read": Kind("rows", r"row|token"),
}
