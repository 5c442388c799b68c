//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"jcode/internal/testkit/modeltest"
)

// BenchmarkTerminalAgents measures the time from a key press to the screen that shows it while eight
// agents work in the background: each calls tools and receives 50 tokens a second. Goals: median ≤ 4 ms.
func BenchmarkTerminalAgents(b *testing.B) {
	const agents, busy = 8, "you are busy"
	var start []modeltest.Call
	for i := range agents {
		start = append(start, modeltest.Call{Name: "task", Args: fmt.Sprintf(`{"prompt":%q,"name":"busy-%d","background":true}`, busy, i)})
	}
	text := markdown(100)
	p, f := newProgram(b, func(r modeltest.Request) modeltest.Reply {
		first := r.Messages[slices.IndexFunc(r.Messages, func(m modeltest.Message) bool { return m.Role == "user" })]
		switch {
		case !strings.Contains(first.Content, busy) && r.Last().Role == "user":
			return modeltest.Calls(start...)
		case !strings.Contains(first.Content, busy):
			return modeltest.Text("All are at work.")
		case r.Last().Role == "user", r.Last().Role == "assistant":
			return modeltest.Calls(modeltest.Call{Name: "read", Args: `{"path":"file.txt"}`})
		}
		n := len(r.Messages) // each call differs: equal ones would look like a loop
		return modeltest.Text(text...).Rate(50).WithCalls(modeltest.Call{Name: "read", Args: fmt.Sprintf(`{"path":"file.txt","limit":%d}`, 10+n)})
	}), samples{}
	for b.Loop() {
		term := p.open(samples{})
		p.type1(term, "go", "go")
		term.Press("enter")
		for _, want := range []string{"All are at work.", "more agents"} {
			if _, err := term.WaitFor(patience, want); err != nil {
				b.Fatal(err)
			}
		}
		var took []time.Duration
		for round := range 8 {
			term.Press("ctrl+u")
			typed := fmt.Sprintf("round %d:", round)
			p.type1(term, typed, typed)
			for _, c := range strings.Split("abcdefghijklmnopqrstuvwxyz", "") {
				typed += c
				took = append(took, p.type1(term, c, typed))
				time.Sleep(5 * time.Millisecond) // as a fast typist; the agents continue
			}
		}
		slices.Sort(took)
		f.add("median-ms", ms(took[len(took)/2]))
		f.add("worst-ms", ms(took[len(took)-1]))
		if !term.Screen().Contains("working") {
			b.Fatal("the agents have ended")
		}
		term.Close()
	}
	f.report(b)
}

// BenchmarkWorktreeAgent measures the time from the answer that starts an agent in a worktree of
// 10,000 files to the agent's first request. Goal: ≤ 1 s.
func BenchmarkWorktreeAgent(b *testing.B) {
	const alone = "you work alone"
	var mu sync.Mutex
	var answered time.Time
	var took time.Duration
	p, f := newProgram(b, func(r modeltest.Request) modeltest.Reply {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case r.Last().Content == alone:
			took = time.Since(answered)
		case r.Last().Role == "user":
			answered = time.Now()
			return modeltest.Calls(modeltest.Call{Name: "task", Args: fmt.Sprintf(`{"prompt":%q,"isolation":"worktree"}`, alone)})
		}
		return modeltest.Text("Done.")
	}), samples{}
	for i := range 10_000 {
		dir := filepath.Join(p.project, fmt.Sprintf("folder-%02d", i%100))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file-%d.txt", i)), fmt.Appendf(nil, "file %d\n", i), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=b", "-c", "user.email=b@b", "commit", "-q", "-m", "files"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = p.project
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	for b.Loop() {
		p.run(samples{}, "-p", "--mode", "yolo", "go")
		f.add("request-ms", ms(took))
		// The same by git alone, alternating with it, so that other load on the machine slows both.
		plain := filepath.Join(b.TempDir(), "plain")
		cmd := exec.Command("git", "-C", p.project, "-c", "checkout.workers=4", "worktree", "add", "-q", "-b", filepath.Base(filepath.Dir(plain)), plain, "HEAD")
		began := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("git worktree add: %v\n%s", err, out)
		}
		f.add("request-÷-git", float64(took)/float64(time.Since(began)))
	}
	f.report(b)
}
