package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// maxBinary bounds a binary, in bytes.
const maxBinary = 44_000_000

// release is one release on its way.
type release struct {
	root    string // of the checkout
	out     string // dist/VERSION
	version string
	commit  string
	stamp   time.Time // of the commit: every file in the release has it
	url     string    // folder from which the archives will be downloaded, "" if unknown
	nfpm    string    // the program that makes Linux packages, "" for none
	targets []target
	files   []string // finished files in out, in order
}

// target is a system that a release is built for.
type target struct{ os, arch string }

func (t target) binary() string {
	if t.os == "windows" {
		return "jcode.exe"
	}
	return "jcode"
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	url := flags.String("url", "", "folder that the archives will be downloaded from; with it the manifests of Homebrew, Scoop and winget are written")
	nfpm := flags.String("nfpm", "", "the nfpm program; with it deb, rpm, apk and Arch packages are made")
	only := flags.String("only", "", "comma-separated targets, such as linux/amd64")
	out := flags.String("out", "dist", "folder for the release")
	licences := flags.Bool("licences", false, "print the licences of all that is linked, and build nothing")
	if err := flags.Parse(args); err != nil {
		return err
	}
	r := &release{root: ".", url: strings.TrimSuffix(*url, "/"), nfpm: *nfpm}
	if *licences {
		text, err := r.licences(ctx)
		fmt.Print(text)
		return err
	}
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			if *only == "" || strings.Contains(","+*only+",", ","+system+"/"+arch+",") {
				r.targets = append(r.targets, target{system, arch})
			}
		}
	}
	if len(r.targets) == 0 {
		return fmt.Errorf("-only %s names no target", *only)
	}
	if err := r.identify(ctx); err != nil {
		return err
	}
	r.out = filepath.Join(*out, r.version)
	return r.make(ctx)
}

// identify finds out what is released.
func (r *release) identify(ctx context.Context) error {
	source, err := os.ReadFile(filepath.Join(r.root, "cli", "cli.go"))
	if err != nil {
		return err
	}
	m := regexp.MustCompile(`(?m)^const version = "(.+)"$`).FindSubmatch(source)
	if m == nil {
		return errors.New("cli/cli.go has no version")
	}
	r.version = string(m[1])
	line, err := output(ctx, "git", "log", "-1", "--format=%H %ct")
	if err != nil { // an archive of the source
		r.commit, r.stamp = "unknown", time.Unix(0, 0).UTC()
		return nil
	}
	hash, seconds, _ := strings.Cut(strings.TrimSpace(line), " ")
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return fmt.Errorf("time of the commit: %w", err)
	}
	r.commit, r.stamp = hash, time.Unix(n, 0).UTC()
	return nil
}

// make builds everything into the release's folder, which it empties first.
func (r *release) make(ctx context.Context) error {
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	stage, err := os.MkdirTemp("", "jcode-release-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(stage) }()
	shared, err := r.shared(ctx, stage)
	if err != nil {
		return err
	}
	for _, t := range r.targets {
		if err := r.build(ctx, t, stage); err != nil {
			return err
		}
		if err := r.archive(t, stage, shared); err != nil {
			return err
		}
		if err := r.packages(ctx, t, stage, shared); err != nil {
			return err
		}
	}
	for _, step := range []func(context.Context, string) error{r.materials, r.provenance, r.manifests, r.sums} {
		if err := step(ctx, stage); err != nil {
			return err
		}
	}
	fmt.Println(r.out)
	return nil
}

// built is where the binary of a target is built.
func built(stage string, t target) string { return filepath.Join(stage, t.os+"-"+t.arch, t.binary()) }

// build compiles the program for a target.
func (r *release) build(ctx context.Context, t target, stage string) error {
	path := built(stage, t)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid=", "-o", path, ".")
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build for %s/%s: %w\n%s", t.os, t.arch, err, text)
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	fmt.Printf("%-20s %5.1f MB\n", t.os+"/"+t.arch, float64(info.Size())/1e6)
	if info.Size() > maxBinary {
		return fmt.Errorf("the binary for %s/%s has more than %d MB", t.os, t.arch, maxBinary/1_000_000)
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
