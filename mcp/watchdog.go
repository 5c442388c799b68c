package mcp

import (
	"fmt"
	"os"
	"sync"

	"jcode/internal/proc"
)

// watchdog is a small child of jcode that outlives a kill -9 of jcode and then ends the
// process groups that were left: the kernel's own signal reaches only direct children.
// It runs while servers run. Where there is no /bin/sh it does nothing.
type watchdog struct {
	mu     sync.Mutex
	pipe   *os.File
	child  *proc.Process
	groups map[int]bool
	closed bool
}

// The script keeps a set of group IDs: `+ ID` adds, `- ID` removes; when the pipe ends
// it kills what is left.
const watchdogScript = `trap '' HUP INT TERM
s=' '
while read -r op id; do
case $op in
+) s="$s$id " ;;
-) s="${s%% $id *} ${s#* $id }" ;;
.) exit 0 ;;
esac
done
for id in $s; do kill -9 "-$id" 2>/dev/null; done`

func (w *watchdog) add(group int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	if w.child == nil || w.child.Ended() {
		w.start()
	}
	w.groups[group] = true
	w.tell("+ %d\n", group)
}

func (w *watchdog) drop(group int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.groups[group] {
		return
	}
	delete(w.groups, group)
	w.tell("- %d\n", group)
	if len(w.groups) == 0 {
		w.end()
	}
}

// close ends the watchdog without any kill.
func (w *watchdog) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.end()
}

func (w *watchdog) start() {
	if w.groups == nil {
		w.groups = map[int]bool{}
	}
	if _, err := os.Stat("/bin/sh"); err != nil {
		return
	}
	r, pipe, err := os.Pipe()
	if err != nil {
		return
	}
	child, err := proc.Start(proc.Spec{Argv: []string{"/bin/sh", "-c", watchdogScript}, Dir: "/", Stdin: r})
	_ = r.Close() // the child has its own copy
	if err != nil {
		_ = pipe.Close() // nobody reads it
		return
	}
	w.pipe, w.child = pipe, child
	for group := range w.groups {
		w.tell("+ %d\n", group)
	}
}

// tell writes one line; a watchdog that is gone is started anew by the next add.
func (w *watchdog) tell(format string, args ...any) {
	if w.pipe != nil {
		_, _ = fmt.Fprintf(w.pipe, format, args...)
	}
}

func (w *watchdog) end() {
	if w.pipe == nil {
		return
	}
	w.tell(".\n")
	_ = w.pipe.Close() // the last line was written
	<-w.child.Done()
	w.pipe, w.child = nil, nil
}
