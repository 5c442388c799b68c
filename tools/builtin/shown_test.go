package builtin_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"jcode/tools"
	"jcode/tools/builtin"
)

// The number of rounds in which two sessions change one file. To run more:
//
//	JCODE_SHARED_ROUNDS=100 go test ./tools/builtin -run TestTwoSessions
const sharedRounds = 6

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

// What another one changed is kept by every later write, not only by the first.
func TestWritesNeverTakeBackWhatTheyWereNotShown(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("f", "one\ntwo\nthree\nfour\n")
	r.ok("read", args{"path": "f"})
	r.put("f", "one\ntwo\nthree\nFOREIGN\n")
	has(t, r.ok("write", args{"path": "f", "content": "MINE\ntwo\nthree\nfour\n"}).Text, "in other lines (+1 -1): that was kept; line 4 is new since you read")
	for _, mine := range []string{"MINE2", "MINE3"} {
		has(t, r.ok("write", args{"path": "f", "content": mine + "\ntwo\nthree\nfour\n"}).Text, "line 4 of the file, which others changed and you have not read, stayed")
		r.holds("f", mine+"\ntwo\nthree\nFOREIGN\n")
	}
	// An edit elsewhere shows only itself.
	r.ok("edit", args{"path": "f", "old_string": "two", "new_string": "TWO"})
	r.ok("write", args{"path": "f", "content": "MINE4\nTWO\nthree\nfour\n"})
	r.holds("f", "MINE4\nTWO\nthree\nFOREIGN\n")
	// Once it was read it may go.
	r.ok("read", args{"path": "f"})
	r.ok("write", args{"path": "f", "content": "MINE4\nTWO\nthree\n"})
	r.holds("f", "MINE4\nTWO\nthree\n")
}

func TestAWriteThatRemovesLinesNeverShownIsRefusedOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	whole := numbered(3000)
	r.put("long", whole)
	r.ok("read", args{"path": "long"})
	part := strings.SplitAfter(whole, "\n")[:2000]
	part[0] = "changed\n"
	r.refused("write", args{"path": "long", "content": strings.Join(part, "")}, "1000 lines of it (lines 2001–3000) was never shown", "offset 2001", "use edit")
	r.holds("long", whole)
	r.ok("write", args{"path": "long", "content": strings.Join(part, "")})
	r.holds("long", strings.Join(part, ""))

	r.put("short", "a\nb\nc\nd\n")
	r.ok("read", args{"path": "short", "limit": 2})
	r.refused("write", args{"path": "short", "content": "A\nb\nd\n"}, "1 line of it (line 3) was never shown", "3\tc\n", "write again")
	r.ok("write", args{"path": "short", "content": "A\nb\nd\n"})
	r.holds("short", "A\nb\nd\n")

	r.put("unread", "secret plan\n")
	r.refused("write", args{"path": "unread", "content": "mine\n"}, "its content (1 line) was never shown to you", "1\tsecret plan")
	r.holds("unread", "secret plan\n")
	r.ok("write", args{"path": "unread", "content": "mine\n"})

	// A cut line is not seen.
	r.put("wide", strings.Repeat("x", 5000)+"\nb\n")
	r.ok("read", args{"path": "wide"})
	r.refused("write", args{"path": "wide", "content": "b\n"}, "line 1", "never shown")

	// Nothing is lost, nothing to refuse.
	r.put("log", "old\n")
	r.ok("write", args{"path": "log", "content": "old\nnew\n"})
}

func TestWhatWasSeenMovesWithItsFile(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("d/f", "one\ntwo\nthree\nfour\n")
	r.ok("read", args{"path": "d/f"})
	r.ok("mv", args{"src": "d/f", "dst": "d/g"})
	r.ok("mv", args{"src": "d", "dst": "e"})
	r.put("e/g", "one\ntwo\nthree\nFOREIGN\n")
	r.ok("mv", args{"src": "e/g", "dst": "d/f"})
	has(t, r.ok("write", args{"path": "d/f", "content": "MINE\ntwo\nthree\nfour\n"}).Text, "that was kept")
	r.holds("d/f", "MINE\ntwo\nthree\nFOREIGN\n")
	r.ok("apply_patch", args{"input": "*** Begin Patch\n*** Update File: d/f\n*** Move to: h\n@@\n-two\n+TWO\n*** End Patch"})
	r.ok("write", args{"path": "h", "content": "MINE\nTWO\nTHREE\nfour\n"})
	r.holds("h", "MINE\nTWO\nTHREE\nFOREIGN\n")
}

func TestEachConversationHasItsOwnView(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("f", "a\nb\n")
	r.ok("read", args{"path": "f"})
	other := tools.Caller{Session: "other", Origin: tools.OriginModel}
	if res := r.callAs(other, "write", args{"path": "f", "content": "x\n"}); !res.Failed || !strings.Contains(res.Text, "never shown to you") {
		t.Errorf("another conversation wrote over what only the first had read: %s", res.Text)
	}
	r.ok("write", args{"path": "f", "content": "x\n"})
}

// Two sessions read a file once and then change it four times each, at the same time, without looking at
// the results: no change that was said to be made may be lost.
func TestTwoSessionsLoseNoChangeOfEachOther(t *testing.T) {
	t.Parallel()
	rounds := sharedRounds
	if s := os.Getenv("JCODE_SHARED_ROUNDS"); s != "" {
		var err error
		if rounds, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	for _, tool := range []string{"write", "edit", "apply_patch", "mixed"} {
		t.Run(tool, func(t *testing.T) {
			r := newRig(t, builtin.Options{})
			calls, lost, refused := 0, 0, 0
			for round := range rounds {
				name := fmt.Sprintf("f%d", round)
				r.put(name, numbered(24))
				var wg sync.WaitGroup
				var mu sync.Mutex
				made := map[string]bool{}
				sides := []tools.Caller{{Session: "0", Origin: tools.OriginModel}, {Session: "1", Origin: tools.OriginModel}}
				for _, me := range sides {
					if res := r.callAs(me, "read", args{"path": name}); res.Failed {
						t.Fatal(res.Text)
					}
				}
				for side, me := range sides {
					wg.Go(func() {
						mine := strings.SplitAfter(numbered(24), "\n")
						for n := range 4 {
							at := 3*(2*n+side) + 1
							line := fmt.Sprintf("side %d change %d\n", side, n)
							old := mine[at]
							mine[at] = line
							res := r.callAs(me, pick(tool, n), change(pick(tool, n), name, old, line, strings.Join(mine, "")))
							mu.Lock()
							calls++
							if res.Failed {
								refused++
								t.Logf("refused: %s", res.Text)
							} else {
								made[line] = true
							}
							mu.Unlock()
						}
					})
				}
				wg.Wait()
				for line := range made {
					if !strings.Contains(r.get(name), line) {
						lost++
					}
				}
			}
			if lost > 0 || refused > 0 {
				t.Errorf("%d of %d changes are lost, %d were refused", lost, calls, refused)
			}
		})
	}
}

func pick(tool string, n int) string {
	if tool == "mixed" {
		return []string{"write", "edit", "apply_patch", "write"}[n]
	}
	return tool
}

// change returns the arguments with which a tool replaces a line.
func change(tool, path, old, line, whole string) args {
	switch tool {
	case "write":
		return args{"path": path, "content": whole}
	case "edit":
		return args{"path": path, "old_string": old, "new_string": line}
	}
	return args{"input": "*** Begin Patch\n*** Update File: " + path + "\n@@\n-" + old + "+" + line + "*** End Patch"}
}

// savingRecorder plays another program that saves a file after it was read for a change.
type savingRecorder struct {
	save  func()
	found []string
}

func (s *savingRecorder) Track(context.Context, tools.Call, []string) (func(context.Context, builtin.Written) error, error) {
	if s.save != nil {
		s.save()
	}
	return func(context.Context, builtin.Written) error { return nil }, nil
}

func (s *savingRecorder) Found(_ context.Context, _ tools.Call, _ string, _, found []byte) error {
	s.found = append(s.found, string(found))
	return nil
}

func TestASaveOfAnotherProgramBetweenReadingAndReplacingIsKept(t *testing.T) {
	t.Parallel()
	rec := &savingRecorder{}
	r := newRig(t, builtin.Options{Recorder: rec})
	r.put("f", "one\ntwo\nthree\nfour\n")
	r.ok("read", args{"path": "f"})
	saved := 0
	rec.save = func() {
		saved++
		r.put("f", strings.TrimSuffix(r.get("f"), "\n")+fmt.Sprintf(" saved %d\n", saved))
	}
	last := "four"
	for n, tool := range []string{"edit", "write", "apply_patch"} {
		line := []string{"one", "two", "three"}[n]
		whole := "ONE\nTWO\nthree\nfour\n"
		res := r.ok(tool, change(tool, "f", line+"\n", strings.ToUpper(line)+"\n", whole))
		last += fmt.Sprintf(" saved %d", n+1)
		if !strings.HasSuffix(r.get("f"), last+"\n") || !strings.Contains(r.get("f"), strings.ToUpper(line)+"\n") {
			t.Errorf("%s: %q", tool, r.get("f"))
		}
		has(t, res.Text, "another program saved the file at this moment: that was kept")
	}
	if len(rec.found) != 3 {
		t.Errorf("found for undo: %q", rec.found)
	}
	// A save in the same line: the call is made to what the file holds then.
	saved = 0
	rec.save = func() {
		if saved++; saved == 1 {
			r.put("f", "THEIRS two\n")
		}
	}
	r.put("f", "two\n")
	r.ok("edit", args{"path": "f", "old_string": "two", "new_string": "2"})
	r.holds("f", "THEIRS 2\n")
	// A file that appears where another is moved stays.
	r.put("g", "moved\n")
	rec.save = func() { r.put("h", "appeared\n") }
	r.refused("mv", args{"src": "g", "dst": "h"}, "exist")
	r.holds("h", "appeared\n")
	rec.save = func() { r.put("g", "saved\n") }
	r.refused("apply_patch", args{"input": "*** Begin Patch\n*** Delete File: g\n*** End Patch"}, "another program changed it")
	r.holds("g", "saved\n")
}
