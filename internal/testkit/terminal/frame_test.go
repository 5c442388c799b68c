//go:build linux || darwin

package terminal

import (
	"io"
	"os"
	"testing"
	"time"
)

func open(t *testing.T) (*Terminal, *os.File) {
	t.Helper()
	term, out, err := Open(40, 5)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(term.Close)
	return term, out
}

// writes sends text to the terminal and waits until it has come.
func writes(t *testing.T, term *Terminal, out io.Writer, text string) {
	t.Helper()
	want := term.Written() + int64(len(text))
	if _, err := io.WriteString(out, text); err != nil {
		t.Fatal(err)
	}
	if _, err := term.Wait(limit, func(Screen) bool { return term.Written() >= want }); err != nil {
		t.Fatal(err)
	}
}

func TestPartOfASynchronizedFrameIsNotShown(t *testing.T) {
	t.Parallel()
	for deadline := time.Now().Add(limit); ; {
		term, out := open(t)
		began := time.Now()
		if _, err := io.WriteString(out, "\x1b[?2026hhalf"); err != nil {
			t.Fatal(err)
		}
		seen := make(chan Screen, 1)
		go func() {
			s, _ := term.WaitFor(limit, "half") // the screen is compared below
			seen <- s
		}()
		writes(t, term, out, " and half\x1b[?2026l")
		s := <-seen
		if s.Line(0) == "half and half" {
			break
		}
		// A machine that stops for so long in the middle makes it a frame that is not finished.
		if time.Since(began) < frameLimit || time.Now().After(deadline) {
			t.Fatalf("a part of the frame is shown:\n%s", s.Text())
		}
	}
}

func TestFrameThatIsNeverFinishedIsShownLater(t *testing.T) {
	t.Parallel()
	term, out := open(t)
	if _, err := io.WriteString(out, "\x1b[?2026hhalf"); err != nil {
		t.Fatal(err)
	}
	if _, err := term.WaitFor(limit, "half"); err != nil {
		t.Error(err)
	}
}

func TestTerminalSaysThatItSynchronizesOutput(t *testing.T) {
	t.Parallel()
	term := start(t, `stty raw -echo; printf '\033[?2026$p'; x=$(dd bs=1 count=11 2>/dev/null | tail -c 9); printf 'got %s.' "$x"`, 40, 5)
	if _, err := term.WaitFor(limit, "got ?2026;2$y."); err != nil {
		t.Error(err)
	}
}
