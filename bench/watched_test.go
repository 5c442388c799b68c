//go:build linux

package main

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"jcode/internal/testkit/modeltest"
	"jcode/remote"
)

// watchers is how many clients follow a session.
const watchers = 200

// BenchmarkTerminalWatched measures the time of a turn of 150 tokens a second that 200 clients watch, beside the same one
// that nobody watches. Goal: ≤ 1.05 ×.
func BenchmarkTerminalWatched(b *testing.B) {
	tokens := append(markdown(600), "\n\nTHE END\n")
	long := modeltest.Text(tokens...).Rate(150)
	p, f := newProgram(b, func(r modeltest.Request) modeltest.Reply {
		if r.Prompt().Content == "hi" {
			return hello(r)
		}
		return long
	}), samples{}
	for b.Loop() {
		alone, cpuAlone := p.turn(0)
		watched, cpu := p.turn(watchers)
		f.add("watched-÷-alone", float64(watched)/float64(alone))
		f.add("watched-cpu-ms", ms(cpu))
		f.add("alone-cpu-ms", ms(cpuAlone))
	}
	f.report(b)
}

// turn returns how long a turn takes in the terminal, and its processor time, while a number of clients watches.
func (p *program) turn(clients int) (wall, cpu time.Duration) {
	p.b.Helper()
	term := p.open(samples{})
	defer term.Close()
	p.type1(term, "hi", "hi")
	term.Press("enter")
	if _, err := term.WaitFor(patience, "Hello."); err != nil { // there is a session from now on
		p.b.Fatal(err)
	}
	term.Settle(200*time.Millisecond, patience)
	ctx, stop := context.WithCancel(p.b.Context())
	var seen sync.WaitGroup
	defer seen.Wait()
	defer stop()
	place := remote.Place{Dir: filepath.Join(p.home, "run")}
	for range clients {
		client, err := place.Process(ctx, term.Pid(), "watcher", remote.Handlers{Event: func(remote.Event) {}})
		if err != nil {
			p.b.Fatal(err)
		}
		seen.Go(func() {
			<-ctx.Done()
			client.Close()
		})
		var list []remote.Listed
		if err := client.Call(ctx, "sessions", nil, &list); err != nil || len(list) != 1 {
			p.b.Fatalf("%+v %v", list, err)
		}
		if err := client.Call(ctx, "attach", remote.Attach{Session: list[0].SessionID, Role: remote.Watch}, nil); err != nil {
			p.b.Fatal(err)
		}
	}
	before, began := cpuOf(p.b, term.Pid()), time.Now()
	p.type1(term, "go", "go")
	term.Press("enter")
	if _, err := term.WaitFor(patience, "THE END"); err != nil {
		p.b.Fatal(err)
	}
	return time.Since(began), cpuOf(p.b, term.Pid()) - before
}
