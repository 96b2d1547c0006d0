package main

import "os"

//go:noinline
func loadThumbnail(path string) byte {
	file, _ := os.Open(path)
	bytes := make([]byte, 1)
	file.Read(bytes) // culprit
	return bytes[0]
}

//go:noinline
func draw(path string) byte { return loadThumbnail(path) + 1 }

func main() {
	draw(os.Args[1])
}
