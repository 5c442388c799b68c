//go:build unix

package proc

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// watchdogScript ends all groups that were added and not removed, once its input ends: when jcode closes it or
// dies. It is a shell, which needs about a megabyte, not another jcode. With a mark as its argument it then also
// ends all processes with the mark in their environment, unless `q` said that jcode ends in an orderly way. Of a
// command that was just being started it knows only the mark.
const watchdogScript = `trap '' HUP INT TERM QUIT
groups=' '
mark=$1
starting=
while read -r op pid; do
  case $op in
  s) starting=$pid ;;
  f) starting= ;;
  +) groups="$groups$pid " starting= ;;
  -) groups="${groups%% $pid *} ${groups#* $pid }" ;;
  q) mark= starting= ;;
  esac
done
for pid in $groups; do kill -s KILL -- "-$pid"; done 2>/dev/null
mark=${mark:-$starting}
for round in 1 2 3 4 5; do
  [ -n "$mark" ] || exit 0
  found=$(grep -ls -e "$mark" /proc/[0-9]*/environ)
  [ -n "$found" ] || exit 0
  for file in $found; do
    pid=${file#/proc/}
    kill -s KILL "${pid%/environ}"
  done 2>/dev/null
done`

// watchdog briefly outlives this process and ends what it left running.
type watchdog struct {
	process *Process
	input   *os.File
	told    map[int]*Process
}

// startWatchdog starts a watchdog, or returns nil, which does nothing, if that fails: then a killed jcode
// leaves grandchildren behind. mark is in the environment of all processes that must end with jcode; empty for
// none.
func startWatchdog(mark string) *watchdog {
	read, write, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer func() { _ = read.Close() }() // the child has its own
	p, err := Start(Spec{Argv: []string{"/bin/sh", "-c", watchdogScript, "jcode-watchdog", mark}, Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}, Stdin: read})
	if err != nil {
		_ = write.Close() // there is no reader
		return nil
	}
	return &watchdog{process: p, input: write, told: map[int]*Process{}}
}

// starting announces a process that is about to be started, by the mark in its environment; add or failed
// cancels that.
func (w *watchdog) starting(mark string) {
	if w != nil {
		w.tell("s", mark)
	}
}

// failed says that no process was started.
func (w *watchdog) failed() {
	if w != nil {
		w.tell("f", 0)
	}
}

// add adds a new process's group, and removes groups that are empty: their number may be reused.
func (w *watchdog) add(p *Process) {
	if w == nil {
		return
	}
	w.removeEmpty()
	w.told[p.pid] = p
	w.tell("+", p.pid)
}

func (w *watchdog) removeEmpty() {
	for pid, old := range w.told {
		if old.Ended() && errors.Is(syscall.Kill(-pid, 0), syscall.ESRCH) {
			w.tell("-", pid)
			delete(w.told, pid)
		}
	}
}

func (w *watchdog) tell(op string, what any) {
	// It fails only if the watchdog was killed, which can't be repaired.
	_, _ = fmt.Fprintf(w.input, "%s %v\n", op, what)
}

// close lets the watchdog end what is left.
func (w *watchdog) close() {
	if w == nil {
		return
	}
	w.removeEmpty()
	w.tell("q", 0)
	_ = w.input.Close() // this is the signal; what was written is in the pipe
	select {
	case <-w.process.Done():
	case <-time.After(time.Second):
		_ = w.process.Kill() // it hangs: nothing more can be done
	}
}
