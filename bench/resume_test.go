//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"jcode/internal/testkit/terminal"
	"jcode/session"
)

// BenchmarkTerminalResume resumes a session of 10,000 messages. It measures the time from the start
// to the frame that shows the last one, and the memory then. Goals: ≤ 150 ms, ≤ 80 MiB.
func BenchmarkTerminalResume(b *testing.B) {
	p, f := newProgram(b, hello), samples{}
	p.fill(10_000)
	for b.Loop() {
		began := time.Now()
		term, err := terminal.Start(p.command("-c"), 120, 40)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := term.WaitFor(patience, "answer 9999"); err != nil {
			b.Fatal(err)
		}
		f.add("resume-ms", ms(time.Since(began)))
		term.Settle(time.Second, patience)
		f.add("after-MiB", pss(b, term.Pid()))
		term.Close()
	}
	f.report(b)
}

// fill creates a session with a number of messages in the project's folder.
func (p *program) fill(messages int) {
	p.b.Helper()
	store, err := session.Open(p.b.Context(), filepath.Join(p.home, "jcode.db"), session.Options{})
	if err != nil {
		p.b.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			p.b.Error(err)
		}
	}()
	project, root, err := session.ProjectID(p.project)
	if err != nil {
		p.b.Fatal(err)
	}
	row, err := store.Create(p.b.Context(), session.Session{ProjectID: project, Cwd: root, Model: "test-model", Mode: "ask"})
	if err != nil {
		p.b.Fatal(err)
	}
	for i := range messages {
		m := session.Message{Session: row.ID, Role: session.RoleUser, Parts: []session.Part{{Kind: session.PartText, Text: fmt.Sprintf("question %d about some part of the code", i)}}}
		if i%2 == 1 {
			m.Role = session.RoleAssistant
			m.Parts[0].Text = fmt.Sprintf("answer %d: some *words* with `code` and a list\n\n- one\n- two\n", i)
		}
		if _, err := store.History().Append(p.b.Context(), m); err != nil {
			p.b.Fatal(err)
		}
	}
}
