package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// options are what the command line says.
type options struct {
	only  *regexp.Regexp
	runs  int
	count int
	quick bool
	raw   bool
	table bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures what the arguments name. A figure over its budget is not an error: the table
// says so. That something could not be measured is one.
func run(ctx context.Context, args []string, out, errs io.Writer) error {
	o, err := parse(args, errs)
	if err != nil {
		return err
	}
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	rows, wanted := choose(figures(), jobs(), o.only)
	if len(rows) == 0 {
		return fmt.Errorf("no figure matches %q", o.only)
	}
	results, failed := measurements{}, 0
	for _, j := range wanted {
		if o.raw && j.counts {
			continue // counts are not benchmarks
		}
		fmt.Fprintf(errs, "%s: %s\n", j.name, j.pkg)
		if err := o.measure(ctx, root, j, results, out); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			fmt.Fprintf(errs, "%s: %v\n", j.name, err)
			failed++
		}
	}
	if !o.raw {
		printTable(out, rows, results, o.table)
		if load := loadNow(); load > float64(runtime.NumCPU()) {
			fmt.Fprintf(errs, "The machine is busy (load %.1f on %d processors): times say little, counts hold.\n", load, runtime.NumCPU())
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d packages could not be measured", failed, len(wanted))
	}
	return nil
}

// parse reads the command line.
func parse(args []string, errs io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(errs)
	only := flags.String("only", "", "measure only figures whose names match this expression")
	flags.IntVar(&o.runs, "runs", 5, "runs of the whole program for each figure; their median counts")
	flags.IntVar(&o.count, "count", 1, "how often each benchmark is repeated; the median counts")
	flags.BoolVar(&o.quick, "quick", false, "two runs, short benchmarks and a small tree for searches: for a first look")
	flags.BoolVar(&o.raw, "raw", false, "print the benchmarks' own lines, for benchstat, instead of a table")
	flags.BoolVar(&o.table, "markdown", false, "print the table as Markdown, for docs/performance.md")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.runs < 1 || o.count < 1 {
		return o, fmt.Errorf("there are no arguments, and -runs and -count are at least 1")
	}
	o.only, err = regexp.Compile(*only)
	return o, err
}

// choose returns the figures whose names match and the jobs that they need, in order, each
// with the functions to run.
func choose(all []figure, jobs []job, only *regexp.Regexp) (rows []figure, wanted []job) {
	need := map[string][]string{}
	for _, f := range all {
		if !only.MatchString(f.name) {
			continue
		}
		rows = append(rows, f)
		if name := f.value.function(); !slices.Contains(need[f.value.job], name) {
			need[f.value.job] = append(need[f.value.job], name)
		}
	}
	for _, j := range jobs {
		if j.functions = need[j.name]; j.functions != nil {
			wanted = append(wanted, j)
		}
	}
	return rows, wanted
}

// measure runs a job and keeps what it says.
func (o options) measure(ctx context.Context, root string, j job, results measurements, out io.Writer) error {
	if j.whole && runtime.GOOS != "linux" {
		results.skip(j.name, "", "only on Linux")
		return nil
	}
	args, done, err := o.arguments(j)
	if err != nil {
		return err
	}
	defer done()
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // go test ends its child
	cmd.WaitDelay = 10 * time.Second
	var said, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &complaint
	if o.raw {
		cmd.Stdout = io.MultiWriter(&said, out)
	}
	err = cmd.Run()
	results.read(j.name, said.String())
	if err != nil {
		return fmt.Errorf("go %s: %w\n%s%s", strings.Join(args, " "), err, lastLines(said.String(), 20), complaint.String())
	}
	return nil
}

// arguments are those of go for a job; done removes what was made for it.
func (o options) arguments(j job) (args []string, done func(), err error) {
	done = func() {}
	args = []string{"test", j.pkg, "-timeout", "60m", "-count", strconv.Itoa(o.count)}
	pattern := "^(" + strings.Join(j.functions, "|") + ")$"
	if j.counts {
		return append(args, "-v", "-run", pattern), done, nil
	}
	args = append(args, "-run", "^$", "-bench", pattern)
	if !o.raw {
		args = append(args, "-v") // says why one was skipped
	}
	when := j.time
	switch {
	case j.whole && o.quick:
		when = "2x"
	case j.whole:
		when = strconv.Itoa(o.runs) + "x"
	case o.quick && when == "":
		when = "100ms"
	}
	if when != "" {
		args = append(args, "-benchtime", when)
	}
	if j.tree && !o.quick {
		dir, err := os.MkdirTemp("", "jcode-bench-")
		if err != nil {
			return nil, done, err
		}
		done = func() { _ = os.RemoveAll(dir) } // a leftover is in the folder for temporary files
		args = append(args, "-args", "-tree.files", "50000", "-tree.bytes", "1000000000", "-tree.dir", filepath.Join(dir, "tree"))
	}
	return args, done, nil
}

// moduleRoot is the folder of go.mod, wherever in the checkout this runs.
func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Path}}\t{{.Dir}}").Output()
	path, dir, _ := strings.Cut(strings.TrimSpace(string(out)), "\t")
	if err == nil && path != "jcode" {
		err = fmt.Errorf("this is %q", path)
	}
	if err != nil {
		return "", fmt.Errorf("run this in a checkout of jcode, with go in the path: %w", err)
	}
	return dir, nil
}

// loadNow is how many programs wanted a processor in the last minute, 0 where the system
// does not say.
func loadNow() float64 {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(data), " ")
	load, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0
	}
	return load
}

func lastLines(s string, n int) string {
	lines := strings.SplitAfter(s, "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "")
}
