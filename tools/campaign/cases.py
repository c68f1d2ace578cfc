"""The case lines in which deviations can show: operation -> name -> line."""

FAR = "0,1,2,3,7,100,255..258,511,1000,2047..2050,4096,9000,20000,32766..32770,40000,65535,65537"
LONG = "short_factor=[1,1,1.05,1.1,1.2,1.3,1.4,1.5],long_factor=[1,1.5,2.5,4,8,16,24,40]"

ROPE = {
    "far": f"rope pairing=half H=2 D=64 @position={FAR}",
    "far_bf16": f"rope pairing=half H=2 D=64 dtype=bf16 @position={FAR}",
    "near": "rope pairing=half H=3 S=40 D=32",
    "near_f16": "rope pairing=interleaved H=2 S=24 D=32 dtype=f16",
    "inter": "rope pairing=interleaved base=500000 H=2 S=32 D=64 @position=random_positions(8192)",
    "inter_bf16": "rope pairing=interleaved base=500000 H=4 S=48 D=64 dtype=bf16"
                  " @position=random_positions(8192)",
    "f64": "rope pairing=half H=2 S=16 D=32 dtype=f64 @position=random_positions(3000)",
    "partial": "rope pairing=half H=3 S=20 D=48 R=32 @position=random_positions(2000)",
    "window": "rope pairing=half H=2 S=20 D=48 R=24 offset=16 @position=random_positions(2000)",
    "batch": "rope pairing=half B=3 H=2 S=16 D=32 @position=random_positions(500)",
    "negative": "rope pairing=half H=2 D=32 @position=-300..-290,-40..-30,-3..6,77,300",
    "llama3": "rope pairing=half base=500000 scaling=llama3(factor=8) H=2 S=24 D=128"
              " @position=random_positions(20000)",
    "llama3_bf16": "rope pairing=half base=500000 scaling=llama3(factor=8) H=4 S=32 D=64"
                   " dtype=bf16 @position=random_positions(60000)",
    "yarn": "rope pairing=half scaling=yarn(factor=4,original_max_position_embeddings=4096) H=2"
            " S=24 D=64 @position=random_positions(16000)",
    "yarn_bf16": "rope pairing=interleaved base=150000 scaling=yarn(factor=32,"
                 "original_max_position_embeddings=4096,truncate=false) H=2 S=32 D=64 dtype=bf16"
                 " @position=random_positions(30000)",
    "linear": "rope pairing=half scaling=linear(factor=8) H=2 S=24 D=64"
              " @position=random_positions(8000)",
    "longrope": f"rope pairing=half scaling=longrope({LONG},original_max_position_embeddings=4096,"
                "factor=32) seq_len=9000 H=2 S=24 D=16 @position=random_positions(9000)",
    "medium": "rope pairing=half base=500000 H=8 S=128 D=128 dtype=bf16 @position=sequence(900)",
}
SECTIONS = {
    "sections": "rope_sections sections=[8,12,12] order=contiguous pairing=half H=2 S=20 D=64"
                " @position=random_positions(200)",
    "dealt": "rope_sections sections=[12,10,10] order=interleaved pairing=half H=2 S=20 D=64"
             " dtype=bf16 @position=random_positions(200)",
}
XPOS = {
    "xpos": "xpos pairing=half role=query H=2 S=24 D=32 @position=random_positions(1500)",
    "xpos_key": "xpos pairing=interleaved role=key center=64 H=2 S=24 D=32"
                " @position=random_positions(900)",
    "xpos_bf16": "xpos pairing=half role=key H=2 S=32 D=64 dtype=bf16"
                 " @position=random_positions(1500)",
}
TABLES = {
    "rope_frequencies": {
        "plain": "rope_frequencies R=64",
        "plain_f64": "rope_frequencies base=500000 R=128 dtype=f64",
        "llama3": "rope_frequencies base=500000 scaling=llama3(factor=8) R=128",
        "yarn": "rope_frequencies scaling=yarn(factor=4,original_max_position_embeddings=4096)"
                " R=64",
    },
    "rope_cos_sin": {
        "halves": "rope_cos_sin layout=halves R=64 S=32 @position=random_positions(4000)",
        "half_width": "rope_cos_sin layout=half_width R=64 S=32 base=500000 dtype=bf16"
                      " @position=random_positions(4000)",
        "yarn": "rope_cos_sin layout=interleaved R=64 S=32 scaling=yarn(factor=4,"
                "original_max_position_embeddings=4096) @position=random_positions(9000)",
    },
    "sinusoidal": {
        "paper": "sinusoidal S=40 M=64",
        "tensor2tensor": "sinusoidal S=48 M=64 layout=concatenated denominator=tensor2tensor"
                         " dtype=bf16 @position=random_positions(3000)",
    },
}
ATTENTION = {
    "plain": "attention H=6 K=2 S=10 T=14 D=16 E=16",
    "causal": "attention H=6 K=2 S=24 T=24 D=16 E=32 mask=causal",
    "cached": "attention H=8 K=2 S=7 T=29 D=16 E=32 mask=causal",
    "cached_bf16": "attention H=8 K=2 S=9 T=40 D=32 E=64 mask=causal dtype=bf16",
    "long": "attention H=2 K=1 S=8 T=150 D=16 E=32",
    "window": "attention H=4 K=2 S=40 T=40 D=16 E=48 mask=causal window=[12,0]",
    "window_bf16": "attention H=4 K=2 S=30 T=48 D=16 E=48 mask=causal window=[15,0] dtype=bf16",
    "both": "attention H=2 K=1 S=24 T=24 D=16 E=32 window=[3,5]",
    "chunk": "attention H=4 K=2 S=36 T=36 D=16 E=48 mask=causal chunk=8",
    "lengths": "attention B=3 H=4 K=2 S=4 T=20 D=16 E=24 mask=causal key_length=[9,20,14]",
    "top_left": "attention H=4 K=2 S=9 T=21 D=16 E=24 mask=causal align=top_left",
    "cap": "attention H=4 K=2 S=12 T=18 D=16 E=24 soft_cap=5 @q=normal(4)",
    "cap_bf16": "attention H=4 K=2 S=12 T=18 D=32 E=24 soft_cap=30 mask=causal dtype=bf16"
                " @q=normal(20)",
    "scaled": "attention H=4 K=4 S=12 T=18 D=16 E=24 scale=0.0625 @q=normal(4)",
    "f16": "attention H=6 K=2 S=12 T=20 D=24 E=24 mask=causal dtype=f16",
    "f64": "attention H=6 K=2 S=8 T=12 D=16 E=12 mask=causal dtype=f64",
    "medium": "attention H=8 K=2 S=64 T=128 D=64 E=128 mask=causal dtype=bf16",
    "cap_causal": "attention H=4 K=2 S=16 T=20 D=16 E=24 mask=causal soft_cap=5 @q=normal(4)",
    "padded": "attention B=3 H=4 K=2 S=6 T=20 D=16 E=24 key_length=[9,20,14]",
}
SINK = {
    "sink": "attention with=sink H=6 K=2 S=12 T=16 D=16 E=24 mask=causal",
    "sink_bf16": "attention with=sink H=4 K=2 S=12 T=24 D=32 E=32 mask=causal window=[7,0] dtype=bf16",
}
BIAS = {
    "bias": "attention with=bias H=6 K=2 S=12 T=16 D=16 E=24",
    "bias_bf16": "attention with=bias H=4 K=2 S=12 T=12 D=32 E=32 mask=causal dtype=bf16",
    "bias_scaled": "attention with=bias add_bias=before_scale H=4 K=2 S=9 T=14 D=16 E=24",
}
COMPOSED = {
    "attention_scores": {
        "scores": "attention_scores H=6 K=2 S=10 T=14 D=16",
        "scores_bf16": "attention_scores B=2 H=4 K=2 S=12 T=12 D=32 dtype=bf16",
    },
    "relative_attention": {
        "relative": "relative_attention clip=4 H=3 S=12 T=16 D=16",
        "relative_bf16": "relative_attention clip=6 H=2 S=14 T=14 D=32 dtype=bf16",
        "relative_cached": "relative_attention clip=5 H=2 S=6 T=20 D=16"
                           " @query_position=sequence(14)",
    },
    "cross_attention": {
        "cross": "cross_attention S=8 T=11 M=20 H=4 K=2 D=6",
        "cross_square": "cross_attention S=9 T=9 M=24 H=4 D=6 @wq=normal(0.3) @wk=normal(0.3)",
        "cross_bf16": "cross_attention S=8 T=12 M=16 H=2 D=8 dtype=bf16 @wq=normal(0.3)"
                      " @wk=normal(0.3)",
        "cross_lengths": "cross_attention S=8 T=12 M=16 H=2 D=8 key_length=[7]",
    },
    "attention_merge": {
        "merge": "attention_merge N=24 E=16",
        "merge_bf16": "attention_merge N=32 E=24 dtype=bf16",
    },
}
POSITION = {
    "alibi": {
        "distance": "alibi H=8 S=20 T=24 @query_position=sequence(4)",
        "key": "alibi form=key H=8 S=12 T=24",
        "distance_bf16": "alibi H=12 S=16 T=300 dtype=bf16 @query_position=sequence(284)",
    },
    "alibi_slopes": {"twelve": "alibi_slopes H=12", "eight": "alibi_slopes H=8",
                     "forty": "alibi_slopes H=40 dtype=f64"},
    "temperature_scale": {
        "temperature": "temperature_scale H=2 S=40 D=8",
        "temperature_bf16": "temperature_scale beta=0.5 floor_scale=1000 H=2 S=40 D=8 dtype=bf16",
    },
    "log_n_scale": {
        "log_n": "log_n_scale original_max_position_embeddings=2048 H=2 S=40 D=8",
        "log_n_bf16": "log_n_scale original_max_position_embeddings=16 H=2 S=40 D=8 dtype=bf16"
                      " @q=normal @position=sequence",
    },
}
SOFTMAX = {
    "softmax": {
        "rows": "softmax N=12 M=37",
        "rows_bf16": "softmax N=12 M=48 dtype=bf16",
        "large": "softmax N=8 M=20 @x=normal(60)",
        "wide": "softmax N=4 M=300",
        "rows_f16": "softmax N=8 M=40 dtype=f16",
    },
    "soft_cap": {
        "fifty": "soft_cap cap=50 N=8 M=40 @x=normal(40)",
        "thirty": "soft_cap cap=30 N=8 M=40 dtype=bf16 @x=normal(30)",
    },
}
NORM = {
    "rms_norm": {
        "rows": "rms_norm N=12 M=48",
        "rows_bf16": "rms_norm N=12 M=64 dtype=bf16",
        "rows_f16": "rms_norm N=8 M=64 dtype=f16",
        "rows_f64": "rms_norm N=8 M=40 dtype=f64",
        "small": "rms_norm N=16 M=48 eps=1e-05 @x=normal(0.005)",
        "small_bf16": "rms_norm N=16 M=48 eps=1e-05 dtype=bf16 @x=normal(0.003)",
        "offset": "rms_norm N=12 M=48 unit_offset=true @weight=normal(0.3)",
        "shifted": "rms_norm N=12 M=48 @x=uniform(0.5,2)",
        "wide": "rms_norm N=4 M=1024 dtype=bf16",
    },
    "layer_norm": {
        "rows": "layer_norm N=12 M=48",
        "rows_bf16": "layer_norm N=12 M=64 dtype=bf16",
        "rows_f64": "layer_norm N=8 M=40 dtype=f64",
        "small": "layer_norm N=16 M=48 @x=normal(0.005)",
        "shifted": "layer_norm N=12 M=48 @x=uniform(0.5,2)",
    },
    "add_rms_norm": {
        "rows": "add_rms_norm N=12 M=48",
        "rows_bf16": "add_rms_norm N=12 M=64 dtype=bf16",
        "small": "add_rms_norm N=16 M=48 @x=normal(0.005) @residual=normal(0.005)",
    },
}
ACTIVATION = {
    "activation": {
        "swish": "activation kind=swish N=8 F=48",
        "swish_bf16": "activation kind=swish N=8 F=64 dtype=bf16",
        "beta": "activation kind=swish beta=1.702 N=8 F=48",
        "gelu": "activation kind=gelu N=8 F=48",
        "gelu_bf16": "activation kind=gelu N=8 F=64 dtype=bf16",
        "gelu_tanh": "activation kind=gelu_tanh N=8 F=48",
        "gelu_tanh_f16": "activation kind=gelu_tanh N=8 F=64 dtype=f16",
        "sigmoid": "activation kind=sigmoid N=8 F=48",
        "relu": "activation kind=relu N=8 F=48",
        "relu2": "activation kind=relu2 N=8 F=48",
        "tanh": "activation kind=tanh N=8 F=48",
        "swish_f64": "activation kind=swish N=8 F=48 dtype=f64",
    },
    "gated": {
        "swiglu": "gated N=8 F=48",
        "swiglu_bf16": "gated N=8 F=64 dtype=bf16",
        "geglu": "gated kind=geglu N=8 F=48",
        "geglu_tanh": "gated kind=geglu_tanh N=8 F=64 dtype=f16",
        "glu": "gated kind=glu N=8 F=48",
        "reglu": "gated kind=reglu N=8 F=48",
        "oss": "gated limit=7 alpha=1.702 plus_one=true N=8 F=48 @gate=normal(6) @up=normal(6)",
        "oss_bf16": "gated limit=7 alpha=1.702 plus_one=true N=8 F=64 dtype=bf16"
                    " @gate=normal(6) @up=normal(6)",
    },
}
LINEAR = {
    "linear": {
        "narrow": "linear N=9 F=12 M=20",
        "square": "linear N=9 F=24 M=24",
        "wide": "linear N=6 F=10 M=150",
        "wide_bf16": "linear N=8 F=20 M=96 dtype=bf16",
        "bias": "linear with=bias N=9 F=12 M=20",
        "bias_bf16": "linear with=bias N=12 F=12 M=48 dtype=bf16",
        "bias_f16": "linear with=bias N=8 F=16 M=40 dtype=f16",
    },
    "feed_forward": {
        "swiglu": "feed_forward N=6 M=16 F=24",
        "geglu": "feed_forward kind=geglu_tanh N=6 M=20 F=20",
        "swiglu_bf16": "feed_forward N=6 M=16 F=40 dtype=bf16",
    },
    "embedding": {
        "rows": "embedding S=20 V=50 M=8",
        "scaled": "embedding S=20 V=300 M=16 scale=55.5 dtype=bf16",
        "square": "embedding S=24 V=16 M=16",
    },
}
CASES = {"rope": ROPE, "rope_sections": SECTIONS, "xpos": XPOS, "attention": ATTENTION,
         "attention:sink": SINK, "attention:bias": BIAS,
         **COMPOSED, **TABLES, **POSITION, **SOFTMAX, **NORM, **ACTIVATION, **LINEAR}
