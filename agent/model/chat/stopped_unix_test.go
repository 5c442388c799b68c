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
	const idle = 1600 * time.Millisecond
	if url := os.Getenv(stoppable); url != "" {
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
		return
	}
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
	child.Env = append(os.Environ(), stoppable+"="+srv.URL+"/v1")
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
	time.Sleep(2 * idle) // what is tested is that this time does not count
	if err := child.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	got := ""
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "GOT") {
			got = lines.Text()
		}
	}
	if err := child.Wait(); err != nil || got != `GOT "ab" <nil>` {
		t.Errorf("%s %v", got, err)
	}
}

// To read the system's certificates costs more than a start, and a local server needs none.
func TestCertificatesAreNotReadForAnAddressWithoutTLS(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "certificates") // whoever reads it waits for a writer
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("NODE_EXTRA_CA_CERTS", pipe)
	resp, _ := mustStream(t, modeltest.Text("ok"))
	if resp.Text != "ok" {
		t.Errorf("%q", resp.Text)
	}
}
