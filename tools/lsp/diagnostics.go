package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"jcode/tools/lsp/protocol"
)

const (
	waitLimit   = 2 * time.Second        // for the answer to a change
	firstLimit  = 3 * time.Second        // the same, for the text before it, of a server that was just started
	baseLimit   = time.Second            // the same, of a server that knows the project
	silence     = 500 * time.Millisecond // for an answer while an earlier one is still owed
	answerLimit = 15 * time.Second       // for the answer to the tool diagnostics
	minSettle   = 60 * time.Millisecond  // after an answer, for what follows it
	maxSettle   = 500 * time.Millisecond // the same, for a slow server, or if the answer may be an old one
	workLimit   = 5 * time.Minute        // without a sign of it, after which announced work counts as over
	loadLimit   = 2 * time.Minute        // after its start, until which a server that never answered counts as loading

	// loadPatience is how long changes wait, all together, for a server that says that it reads the project after its
	// start, and startPatience for one that has said nothing yet.
	loadPatience  = 30 * time.Second
	startPatience = 10 * time.Second
)

// outcome is what came of waiting for a server's answer.
type outcome int

const (
	outcomeAnswered   outcome = iota // for the present text of all files
	outcomeLoading                   // it works, or has only just started
	outcomeUnanswered                // it is silent
	outcomeEnded                     // its process is gone
)

// wait is how long the answer to a change is waited for.
func (in *instance) wait() time.Duration {
	if in.owes() {
		return silence
	}
	return in.around.wait()
}

// owes reports whether an earlier change was not answered yet: others don't wait as long again.
func (in *instance) owes() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.found.debts("")) > 0
}

// working reports whether the server says that it is at work. The caller holds the lock.
func (in *instance) working() bool {
	for _, at := range in.busy {
		if time.Since(at) < workLimit {
			return true
		}
	}
	return false
}

// loading reports whether the server is still reading the project. The caller holds the lock.
func (in *instance) loading() bool {
	return in.state == StateStarting || in.working() || in.state == StateReady && !in.answers && time.Since(in.began) < loadLimit
}

// published handles a server's report on a file.
func (in *instance) published(params json.RawMessage) {
	var p protocol.PublishedDiagnostics
	if json.Unmarshal(params, &p) != nil {
		return
	}
	path := protocol.Path(p.URI)
	if path == "" {
		return
	}
	version := -1
	if p.Version != nil {
		version = *p.Version
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.found.store(path, p.Diagnostics, version, false)
	in.tell()
}

// await waits until the server has answered for the present text of files, for at most limit from
// when it was sent.
func (in *instance) await(ctx context.Context, paths []string, sent time.Time, limit time.Duration) outcome {
	ctx, cancel := context.WithDeadline(ctx, sent.Add(limit))
	defer cancel()
	var first time.Time // when it answered
	began := sent       // from when on it could answer
	asked := false      // whether it has read the text of a doubtful answer
	for {
		in.mu.Lock()
		news, working := in.news, in.working()
		ended := in.state != StateReady
		answered, doubtful := in.found.answered(in.docs, paths), in.found.doubtful(paths)
		in.mu.Unlock()
		if ended {
			return outcomeEnded
		}
		if in.can(in.caps.DocumentDiagnostic, "textDocument/diagnostic") { // it may announce this only now
			if answered = in.pull(ctx, paths); answered && !working {
				return in.hasAnswered()
			}
		} else if answered && first.IsZero() && !working {
			first = time.Now()
		}
		var settled <-chan time.Time // nothing more is expected
		stop := func() {}
		switch {
		case working:
			began, first = time.Now(), time.Time{}
		case !first.IsZero():
			pause := max(minSettle, min(first.Sub(began), maxSettle))
			switch {
			case doubtful && asked:
				pause = max(4*minSettle, maxSettle-time.Since(first))
			case doubtful:
				pause = minSettle
			}
			timer := time.NewTimer(pause)
			settled, stop = timer.C, func() { timer.Stop() }
		}
		select {
		case <-news:
			stop()
		case <-settled:
			if doubtful && !asked {
				asked = !in.can(in.caps.Hover, "textDocument/hover") || hasRead(ctx, in.asked, paths) // then what it has found comes now
				continue
			}
			return in.hasAnswered()
		case <-ctx.Done():
			stop()
			out := in.late(answered && !working && (asked || !doubtful))
			if out != outcomeAnswered && in.can(in.caps.DocumentDiagnostic, "textDocument/diagnostic") {
				in.pullLater()
			}
			return out
		}
	}
}

// hasRead waits until a server has worked on the present text of files: until it answers a question about each, for
// which it must have done so. It reports whether that was within ctx.
func hasRead(ctx context.Context, ask func(ctx context.Context, method string, params, result any) error, paths []string) bool {
	for _, path := range paths {
		var answer json.RawMessage
		_ = ask(ctx, "textDocument/hover", map[string]any{ // that there is nothing to say of the place is an answer, too
			"textDocument": protocol.TextDocument{URI: protocol.URI(path)}, "position": protocol.Position{},
		}, &answer)
	}
	return ctx.Err() == nil
}

// hasAnswered records that the server answers.
func (in *instance) hasAnswered() outcome {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.answers = true
	return outcomeAnswered
}

// late returns what is said of a server that had no more time.
func (in *instance) late(answered bool) outcome {
	if answered {
		return in.hasAnswered()
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.state == StateFailed:
		return outcomeEnded
	case in.loading():
		return outcomeLoading
	}
	return outcomeUnanswered
}

// pull requests the reports of files, and of all open ones if a change of one may concern others. It reports
// whether the server answered for all.
func (in *instance) pull(ctx context.Context, paths []string) bool {
	if in.caps.PullsTogether() {
		paths = in.openPaths()
	}
	all := true
	for _, path := range paths {
		var result protocol.PulledDiagnostics
		in.mu.Lock()
		doc := in.docs[path]
		version := 0
		if doc != nil {
			version = doc.version
		}
		in.mu.Unlock()
		if doc == nil {
			continue
		}
		err := in.asked(ctx, "textDocument/diagnostic", map[string]any{"textDocument": protocol.TextDocument{URI: protocol.URI(path)}}, &result)
		if err != nil {
			all = false
			continue
		}
		in.mu.Lock()
		if result.Kind != "unchanged" {
			in.found.store(path, result.Items, version, true)
		} else if r := in.found.of(path); r.pulled != nil {
			r.pulled.version = version
		}
		for uri, related := range result.Related {
			if p := protocol.Path(uri); p != "" && related.Kind != "unchanged" {
				in.found.store(p, related.Items, -1, true)
			}
		}
		in.mu.Unlock()
	}
	return all
}

// pullLater asks on for what is owed, until it is answered: for the next step.
func (in *instance) pullLater() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.pulling || in.stopping {
		return
	}
	in.pulling = true
	in.around.work.Go(func() {
		ctx, cancel := context.WithTimeout(in.around.life, workLimit)
		defer cancel()
		for {
			in.mu.Lock()
			news, working, owed := in.news, in.working(), in.found.debts("")
			if in.state != StateReady {
				in.pulling = false
				in.mu.Unlock()
				return
			}
			in.mu.Unlock()
			done := in.pull(ctx, owed) && !working
			in.mu.Lock()
			if done = done && in.found.answered(in.docs, in.found.debts("")) || ctx.Err() != nil; done {
				in.pulling = false
			}
			in.mu.Unlock()
			if done {
				return
			}
			select {
			case <-news:
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
		}
	})
}

// asked makes a call, and repeats it if the server aborted it because something changed.
func (in *instance) asked(ctx context.Context, method string, params, result any) error {
	for try := 0; ; try++ {
		err := in.conn.Call(ctx, method, params, result)
		werr, ok := errors.AsType[*protocol.Error](err)
		if !ok || try == 3 || werr.Code != protocol.CodeContentModified && werr.Code != protocol.CodeServerCancelled {
			return err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
