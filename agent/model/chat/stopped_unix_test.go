//go:build unix

package chat_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"jcode/agent/model"
	"jcode/agent/model/chat"
	"jcode/agent/model/provider"
	"jcode/internal/testkit/modeltest"
)

// stoppable is set for the child process of TestTimeInWhichTheProcessDidNotRunIsNoSilence.
const stoppable = "JCODE_TEST_STOPPABLE"

func TestTimeInWhichTheProcessDidNotRunIsNoSilence(t *testing.T) {
	t.Parallel()
	if url := os.Getenv(stoppable); url != "" {
		askStoppable(url)
		return
	}
	// On a machine that is too busy for this limit, the next attempt uses a longer one.
	got := ""
	for _, idle := range []time.Duration{1600 * time.Millisecond, 5 * time.Second, 15 * time.Second} {
		if got = stoppedFor(t, 2*idle, idle); got == `GOT "ab" <nil>` {
			return
		}
		t.Logf("with %v: %s", idle, got)
	}
	t.Error(got)
}

// askStoppable runs in the child process. It prints when the first data arrived, and the answer.
func askStoppable(url string) {
	idle, err := time.ParseDuration(os.Getenv(stoppable + "_IDLE"))
	if err != nil {
		fmt.Println("ERR", err)
		return
	}
	client, err := chat.New(provider.Config{Name: "test", BaseURL: url, Limits: provider.Limits{Idle: idle, Attempts: 1}})
	if err != nil {
		fmt.Println("ERR", err)
		return
	}
	defer client.Close()
	resp, err := client.Stream(context.Background(), ask("x"), func(e model.Event) {
		if _, ok := e.(model.TextEvent); ok {
			fmt.Println("HEARD")
		}
	})
	fmt.Printf("GOT %q %v\n", resp.Text, err)
}

// stoppedFor stops a child process for some time in the middle of an answer, and returns what the
// child prints about the answer. The rest of the answer arrives while it is stopped.
func stoppedFor(t *testing.T, span, idle time.Duration) (got string) {
	t.Helper()
	resume := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "data: %s\n\n", modeltest.TextChunk("a"))
		w.(http.Flusher).Flush()
		<-resume
		_, _ = fmt.Fprintf(w, "data: %s\n\ndata: %s\n\ndata: [DONE]\n\n", modeltest.TextChunk("b"), modeltest.FinishChunk("stop"))
	}))
	defer srv.Close()
	child := exec.Command(os.Args[0], "-test.run=^TestTimeInWhichTheProcessDidNotRunIsNoSilence$")
	child.Env = append(os.Environ(), stoppable+"="+srv.URL+"/v1", stoppable+"_IDLE="+idle.String())
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "HEARD" {
	}
	if err := child.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	close(resume)
	time.Sleep(span) // the test is that this time does not count
	if err := child.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "GOT") {
			got = lines.Text()
		}
	}
	if err := child.Wait(); err != nil {
		t.Error(err)
	}
	return got
}

// Reading the system's certificates takes longer than a whole start, and a local server needs none.
func TestCertificatesAreNotReadForAnAddressWithoutTLS(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "certificates") // a reader blocks until there is a writer
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("NODE_EXTRA_CA_CERTS", pipe)
	resp, _ := mustStream(t, modeltest.Text("ok"))
	if resp.Text != "ok" {
		t.Errorf("%q", resp.Text)
	}
}
