//go:build linux || darwin

package tui

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/session"
	"jcode/tools"
	"jcode/tui/tuitest"
)

func TestManyFilesAreFoundWithoutAPause(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 50000 {
		names = append(names, "pkg/module"+strconv.Itoa(i%300)+"/sub/file_"+strconv.Itoa(i)+".go")
	}
	var f fileIndex
	for deadline := time.Now().Add(tuitest.Limit); ; { // a busy machine may delay one search, but not all of them
		f = fileIndex{}
		f.set(listFiles(names), nil)
		start := time.Now()
		hits := f.find("file_49999")
		took := time.Since(start)
		if len(hits) == 0 || f.all[hits[0]] != names[49999] {
			t.Fatal("not found")
		}
		if took < time.Second {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("a search over 50,000 files took %s", took)
		}
	}
	if hits := f.find("file_49999.go"); len(hits) != 1 {
		t.Errorf("narrowing gives %d", len(hits))
	}
	if hits := f.find("module7/"); len(hits) == 0 {
		t.Error("another search after a narrow one finds nothing")
	}
}

// bigTranscript returns a program with n turns in its transcript.
func bigTranscript(t testing.TB, n int) *program {
	p, _ := still(t, 120, 40, nil)
	for i := range n {
		feed(p, event.TurnStart{Prompt: "prompt " + strconv.Itoa(i), Seq: int64(i + 1), At: clock},
			event.CallStart{ID: strconv.Itoa(i), Name: "read", Arguments: tuitest.JSON("path", "x.go"), At: clock},
			event.CallEnd{ID: strconv.Itoa(i), Name: "read", Status: "done", Result: tools.Result{Text: "y"}},
			event.TextDelta{Text: sampleAnswer}, event.AssistantMessage{Text: sampleAnswer}, event.TurnEnd{Reason: event.StopDone})
	}
	return p
}

func TestFrameDoesNotDependOnTheTranscript(t *testing.T) {
	allocs := func(n int) float64 {
		p := bigTranscript(t, n)
		p.compose.build()
		return testing.AllocsPerRun(50, func() { p.compose.build() })
	}
	small, big := allocs(25), allocs(2500)
	t.Attr("allocations-ratio", fmt.Sprintf("%.3f", big/small))
	if big > small*1.2+10 {
		t.Errorf("a frame allocates %.0f times at 10,000 items, %.0f at 100", big, small)
	}
}

func BenchmarkFrame(b *testing.B) {
	for _, n := range []int{25, 2500} { // four items each
		b.Run(strconv.Itoa(n*4)+"items", func(b *testing.B) {
			p := bigTranscript(b, n)
			p.compose.build()
			b.ReportAllocs()
			for b.Loop() {
				p.compose.build()
			}
		})
	}
}

func BenchmarkScroll(b *testing.B) {
	p := bigTranscript(b, 2500)
	p.compose.build()
	i := 0
	for b.Loop() {
		n := -3
		if i++; i%2000 > 1000 {
			n = 3
		}
		p.tr.Scroll(&p.look, n)
		p.compose.build()
	}
}

func BenchmarkKeyToFrame500Lines(b *testing.B) {
	p, _ := still(b, 120, 40, nil)
	p.in.SetText(strings.TrimSuffix(strings.Repeat("a line of the input that is about sixty characters long, yes\n", 500), "\n"))
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		if i%40 == 0 {
			p.in.Newline()
		}
		p.route(tea.KeyPressMsg{Text: "x", Code: 'x'})
		p.compose.build()
	}
}

func BenchmarkStreamedDelta(b *testing.B) {
	p, _ := still(b, 120, 40, nil)
	feed(p, event.TurnStart{Prompt: "x"})
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		s := "some words "
		if i%12 == 0 {
			s = "and an end.\n\n"
		}
		feed(p, event.TextDelta{Text: s})
		p.compose.build()
	}
}

func BenchmarkFindFiles50000(b *testing.B) {
	var names []string
	for i := range 50000 {
		names = append(names, "pkg/module"+strconv.Itoa(i%300)+"/sub/file_"+strconv.Itoa(i)+".go")
	}
	var f fileIndex
	f.set(listFiles(names), nil)
	for b.Loop() {
		f.hits = nil
		f.find("mod7fi9")
	}
}

func BenchmarkResume10000Messages(b *testing.B) {
	rows := make([]session.Message, 10000)
	for i := range rows {
		rows[i] = session.Message{Seq: int64(i), Role: session.RoleAssistant, Parts: []session.Part{{Kind: session.PartText, Text: sampleAnswer}}}
		if i%2 == 0 {
			rows[i].Role = session.RoleUser
		}
	}
	for b.Loop() {
		p, _ := still(b, 120, 40, nil)
		p.tr.AddHistory(rows, nil)
		p.compose.build()
	}
}
