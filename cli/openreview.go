package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"jcode/cli/console"
	printcli "jcode/cli/print"
	"jcode/cli/review"
)

// newReviewing returns /review.
func newReviewing(a *app) *review.Chat {
	r, end := review.NewChat(&a.board, a.cwd, a.flags.passed)
	a.onClose(end)
	return r
}

// newReviewSetup returns what `jcode review` is given.
func newReviewSetup(f *flags, std Streams) review.Setup {
	return review.Setup{Streams: std.Streams, Version: Version(), Ask: func(ctx context.Context, files []review.File) (json.RawMessage, error) {
		return askReviewer(ctx, f, std, files)
	}}
}

// askReviewer has a model review files, in a run that only reads and of which nothing is kept.
func askReviewer(ctx context.Context, f *flags, std Streams, files []review.File) (json.RawMessage, error) {
	run := *f
	run.Print, run.Private, run.OutputFormat, run.OutputSchema, run.Output = true, true, "json", review.Schema, ""
	run.Mode = "plan"
	run.Continue, run.Resume, run.Fork, run.Worktree = false, "", false, ""
	var in, out bytes.Buffer
	for _, file := range files {
		in.WriteString(file.Text)
	}
	streams := std
	streams.In, streams.Out, streams.InIsTerminal, streams.OutIsTerminal = &in, &out, false, false
	err := runHeadless(ctx, &run, streams, []string{review.Prompt})
	var result printcli.Result
	if read := json.Unmarshal(out.Bytes(), &result); read != nil || !result.OK {
		if err == nil {
			err = &console.Exit{Code: console.ExitModel, Err: errors.New("the review has no answer")}
		}
		if result.Error != "" {
			fmt.Fprintln(std.Err, "jcode: the review ended without an answer: "+result.Error)
		}
		return nil, err
	}
	return result.Structured, err
}
