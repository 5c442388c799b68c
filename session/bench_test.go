package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/session"
)

// BenchmarkOpenWarm measures what every start pays.
func BenchmarkOpenWarm(b *testing.B) {
	path := filepath.Join(b.TempDir(), "jcode.db")
	keep := openAt(b, path)
	say(b, keep, newSession(b, keep, "p").ID, session.RoleUser, "hello")
	for b.Loop() {
		s, err := session.Open(b.Context(), path, session.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// BenchmarkOpenNew creates the file and its schema.
func BenchmarkOpenNew(b *testing.B) {
	for i := 0; b.Loop(); i++ {
		s, err := session.Open(b.Context(), filepath.Join(b.TempDir(), fmt.Sprint(i), "jcode.db"), session.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// BenchmarkOneShot measures the store in a headless run with one exchange.
func BenchmarkOneShot(b *testing.B) {
	path := filepath.Join(b.TempDir(), "jcode.db")
	for b.Loop() {
		s, err := session.Open(b.Context(), path, session.Options{})
		if err != nil {
			b.Fatal(err)
		}
		id := newSession(b, s, "p").ID
		say(b, s, id, session.RoleUser, "hello")
		say(b, s, id, session.RoleAssistant, "hello yourself")
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkClose includes the checkpoint of the write-ahead log.
func BenchmarkClose(b *testing.B) {
	path := filepath.Join(b.TempDir(), "jcode.db")
	for b.Loop() {
		b.StopTimer()
		s, err := session.Open(b.Context(), path, session.Options{})
		if err != nil {
			b.Fatal(err)
		}
		id := newSession(b, s, "p").ID
		say(b, s, id, session.RoleUser, "hello")
		b.StartTimer()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppendMessage has a budget of 2 ms in the median.
func BenchmarkAppendMessage(b *testing.B) {
	words := strings.Repeat("The quick brown fox jumps over the lazy dog. ", 20)
	s := open(b)
	id := newSession(b, s, "p").ID
	for b.Loop() {
		say(b, s, id, session.RoleAssistant, words, session.Call{ID: "c", Name: "read", Wire: "read", Arguments: `{"path":"a"}`})
	}
}

// BenchmarkFinishCall commits a 4 KB result.
func BenchmarkFinishCall(b *testing.B) {
	result := strings.Repeat("0123456789abcdef", 256)
	s := open(b)
	id := newSession(b, s, "p").ID
	seq := say(b, s, id, session.RoleAssistant, "", session.Call{ID: "c", Name: "read"})
	for b.Loop() {
		if err := s.History().FinishCall(b.Context(), session.Call{Session: id, Seq: seq, Status: session.StatusDone, Result: result}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkResume reads 10,000 messages, every other with a call: the budget is 100 ms.
func BenchmarkResume(b *testing.B) {
	s := open(b)
	id := newSession(b, s, "p").ID
	words := strings.Repeat("The quick brown fox jumps over the lazy dog. ", 10)
	result := strings.Repeat("0123456789abcde\n", 64)
	for range 5000 {
		say(b, s, id, session.RoleUser, words)
		seq := say(b, s, id, session.RoleAssistant, words, session.Call{ID: "c", Name: "read", Wire: "read", Arguments: `{"path":"a"}`})
		if err := s.History().FinishCall(b.Context(), session.Call{Session: id, Seq: seq, Status: session.StatusDone, Result: result, Data: []byte(`{"ok":true}`)}); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("whole", func(b *testing.B) {
		for b.Loop() {
			if got := len(history(b, s, id)); got != 10000 {
				b.Fatal(got)
			}
		}
	})
	b.Run("last200", func(b *testing.B) {
		for b.Loop() {
			got, err := s.History().In(b.Context(), id, session.Window{Last: 200})
			if err != nil || len(got) != 200 {
				b.Fatal(len(got), err)
			}
		}
	})
}

// BenchmarkTrack measures what undo costs one edit of a 20 KB file.
func BenchmarkTrack(b *testing.B) {
	s := open(b)
	id := newSession(b, s, "p").ID
	c := s.Checkpoints()
	path := filepath.Join(b.TempDir(), "f.go")
	for i := 0; b.Loop(); i++ {
		content := fmt.Sprint(i) + strings.Repeat("func f() { return }\n", 1000)
		b.StopTimer()
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		done, err := c.Track(b.Context(), id, i, []string{path})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := os.WriteFile(path, []byte(content+"x"), 0o644); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if err := done(b.Context(), session.Written{}); err != nil {
			b.Fatal(err)
		}
	}
}
