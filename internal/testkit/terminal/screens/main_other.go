//go:build !linux && !darwin

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "screens: pictures are taken on Linux and macOS only")
	os.Exit(1)
}
