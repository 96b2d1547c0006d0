use std::fs::File;
use std::io::Read;

#[inline(never)]
fn load_thumbnail(path: &str) -> u8 {
    let mut file = File::open(path).unwrap();
    let mut byte = [0u8; 1];
    file.read_exact(&mut byte).unwrap(); // culprit
    byte[0]
}

#[inline(never)]
fn draw(path: &str) -> u8 {
    load_thumbnail(path).wrapping_add(1)
}

fn main() {
    let path = std::env::args().nth(1).unwrap();
    std::process::exit((draw(&path) == 0) as i32);
}
