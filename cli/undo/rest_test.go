package undo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jcode/agent/event"
	"jcode/tools"
)

// A folder that took too long to look through once is followed again when it is faster; until then an undo names what it does not know.
func TestAFolderThatWasSlowOnceIsFollowedAgain(t *testing.T) {
	t.Parallel()
	s, store, id, dir, run := rigOfCommands(t)
	times := 0
	s.opt.Say = func(_ event.Level, format string, _ ...any) {
		if strings.Contains(format, "takes longer than a command waits for it") {
			times++
		}
	}
	command := func(turn int, line string) {
		after := s.Around(tools.Caller{Session: id, Turn: turn, Origin: tools.OriginModel}, line)
		run(line)
		after()
	}
	command(1, "echo first > f1.txt")
	s.limit = 0 // nothing is as fast
	command(2, "echo second > f2.txt")
	s.work.Wait()
	command(3, "echo third > f3.txt")
	s.work.Wait()
	key := treeKey{dir, false}
	if !s.rests(key) {
		t.Fatal("a folder that is too slow is looked at before each command")
	}
	s.limit = time.Hour
	s.folder(key).rest.until = time.Time{} // it has rested long enough
	command(4, "echo fourth > f4.txt")     // a try costs it nothing: it is made beside
	s.work.Wait()
	if s.rests(key) {
		t.Fatal("it is not tried again")
	}
	command(5, "echo fifth > f5.txt")
	told := ""
	for range 2 {
		report, err := store.Checkpoints().Undo(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		told += Lines(report, filepath.Base) + "\n"
	}
	for _, want := range []string{
		"f5.txt (restored)", "f1.txt (restored)", "echo fourth > f4.txt: what it changed in " + dir + " is not kept, because looking through it took too long",
		"echo third > f3.txt: what it changed in ", "echo second > f2.txt: what it changed in ",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("%s\nwant %s", told, want)
		}
	}
	if data, err := os.ReadFile(filepath.Join(dir, "f5.txt")); err != nil || string(data) != "a line 5\n" {
		t.Errorf("%q %v", data, err)
	}
	if times != 1 {
		t.Errorf("that it rests is said %d times", times)
	}
}
