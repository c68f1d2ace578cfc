// A kernel in Rust that Sextant judges as a subject in a shared library, without crates:
//
//   rustc --crate-type cdylib -O tools/c/example.rs -o example_rs.so
//   sextant check fixtures/cases/rms_norm.cases --subject lib:./example_rs.so
//
// The structs are those of sextant_subject.h and dlpack.h.
use std::ffi::CString;
use std::os::raw::{c_char, c_int, c_void};

#[repr(C)]
pub struct DLTensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    ndim: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

type Getter<T> = extern "C" fn(*const SextantQuestion, *const c_char, *mut T) -> c_int;

#[repr(C)]
pub struct SextantQuestion {
    struct_size: usize,
    operation: *const c_char,
    case_line: *const c_char,
    dtype: *const c_char,
    kind: extern "C" fn(*const SextantQuestion, *const c_char) -> c_int, // `type` in C
    number: Getter<f64>,
    integer: Getter<i64>,
    boolean: Getter<c_int>,
    text: Getter<*const c_char>,
    list: extern "C" fn(
        *const SextantQuestion,
        *const c_char,
        *mut *const f64,
        *mut usize,
    ) -> c_int,
    input: extern "C" fn(*const SextantQuestion, *const c_char) -> *const DLTensor,
    output: extern "C" fn(*const SextantQuestion, *const c_char) -> *mut DLTensor,
    answered: extern "C" fn(*const SextantQuestion, *const c_char) -> c_int,
    fail: extern "C" fn(*const SextantQuestion, c_int, *const c_char) -> c_int,
}

#[repr(C)]
pub struct SextantSubject {
    struct_size: usize,
    name: *const c_char,
    version: *const c_char,
    recipe: *const c_char,
    operations: *const *const c_char,
    answer: extern "C" fn(*const SextantQuestion) -> c_int,
}
struct Shared<T>(T);
unsafe impl<T> Sync for Shared<T> {} // constant after initialization

const ABI: u32 = 1;
const OK: c_int = 0;
const UNSUPPORTED: c_int = 1;
const ERROR: c_int = 2;
const SET: c_int = 1;
const FLOAT: u8 = 2; // kDLFloat

// The kernel. x and y [N,M], weight [M].
fn rms_norm(x: &[f32], weight: &[f32], eps: f32, unit_offset: bool, y: &mut [f32]) {
    let width = weight.len();
    if width == 0 {
        return;
    }
    for (x, y) in x.chunks(width).zip(y.chunks_mut(width)) {
        let sum: f32 = x.iter().map(|v| v * v).sum();
        let scale = 1.0 / (sum / width as f32 + eps).sqrt();
        for ((y, x), w) in y.iter_mut().zip(x).zip(weight) {
            *y = x * scale * if unit_offset { 1.0 + w } else { *w };
        }
    }
}

// The elements of a dense tensor of f32.
unsafe fn floats<'a>(tensor: *const DLTensor) -> Option<&'a mut [f32]> {
    let tensor = tensor.as_ref()?;
    if tensor.code != FLOAT || tensor.bits != 32 {
        return None;
    }
    let shape = std::slice::from_raw_parts(tensor.shape, tensor.ndim as usize);
    let count: i64 = shape.iter().product();
    Some(std::slice::from_raw_parts_mut(tensor.data as *mut f32, count as usize))
}

extern "C" fn answer(question: *const SextantQuestion) -> c_int {
    let name = |text: &str| CString::new(text).unwrap();
    let q = unsafe { &*question };
    let x = unsafe { floats((q.input)(question, name("x").as_ptr())) };
    let weight = unsafe { floats((q.input)(question, name("weight").as_ptr())) };
    let y = unsafe { floats((q.output)(question, name("y").as_ptr())) };
    let (x, weight, y) = match (x, weight, y) {
        (Some(x), Some(weight), Some(y)) => (x, weight, y),
        _ => return (q.fail)(question, UNSUPPORTED, name("only f32").as_ptr()),
    };
    let (mut eps, mut unit_offset) = (0.0, 0);
    if (q.number)(question, name("eps").as_ptr(), &mut eps) != SET
        || (q.boolean)(question, name("unit_offset").as_ptr(), &mut unit_offset) != SET
    {
        return (q.fail)(question, UNSUPPORTED, name("only with eps and unit_offset").as_ptr());
    }
    let kernel = || rms_norm(x, weight, eps as f32, unit_offset != 0, y);
    // A panic must not leave a function that C calls.
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(kernel)) {
        Ok(()) => OK,
        Err(_) => (q.fail)(question, ERROR, name("the kernel panicked").as_ptr()),
    }
}

macro_rules! literal {
    ($text:expr) => {
        concat!($text, "\0").as_ptr() as *const c_char
    };
}
static OPERATIONS: Shared<[*const c_char; 2]> =
    Shared([literal!("rms_norm"), std::ptr::null()]);
static SUBJECT: Shared<SextantSubject> = Shared(SextantSubject {
    struct_size: std::mem::size_of::<SextantSubject>(),
    name: literal!("example in Rust"),
    version: literal!("1"),
    recipe: literal!("native"),
    operations: &OPERATIONS.0 as *const _,
    answer,
});

#[no_mangle]
pub extern "C" fn sextant_subject(abi: u32) -> *const SextantSubject {
    if abi == ABI {
        &SUBJECT.0
    } else {
        std::ptr::null()
    }
}
