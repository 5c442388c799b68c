package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"time"
)

// maxBinary bounds a binary, in bytes.
const maxBinary = 44_000_000

var errUsage = errors.New("usage: packaging licences | prepare FOLDER | size PROGRAM | materials VERSION COMMIT SECONDS PROGRAM DOCUMENT")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "packaging:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	switch word, args := args[0], args[1:]; {
	case word == "licences" && len(args) == 0:
		text, err := licences(ctx)
		fmt.Print(text)
		return err
	case word == "prepare" && len(args) == 1:
		return prepare(ctx, args[0])
	case word == "size" && len(args) == 1:
		return size(args[0])
	case word == "materials" && len(args) == 5:
		seconds, err := strconv.ParseInt(args[2], 10, 64)
		if err != nil {
			return fmt.Errorf("the time of the commit, in seconds: %w", err)
		}
		return materials(built{args[0], args[1], time.Unix(seconds, 0).UTC()}, args[3], args[4])
	}
	return errUsage
}

// size refuses a program that has grown too large.
func size(program string) error {
	info, err := os.Stat(program)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %.1f MB\n", program, float64(info.Size())/1e6)
	if info.Size() > maxBinary {
		return fmt.Errorf("%s has more than %d MB", program, maxBinary/1_000_000)
	}
	return nil
}

// output is what a command prints; its errors hold what it said.
func output(ctx context.Context, name string, args ...string) (string, error) {
	var errs bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, errs.String())
	}
	return string(out), nil
}
