// Command fault is the stdio fault server as a program of its own, for trying a fault by
// hand: go run ./internal/testkit/mcptest/fault junk
package main

import (
	"os"

	"jcode/internal/testkit/mcptest"
)

func main() { os.Exit(mcptest.Run(os.Args[1:])) }
