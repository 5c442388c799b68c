package tasklist

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"jcode/internal/text"
	"jcode/tasks"
)

// Bar says in one line how many tasks are in each state, with a bar of those that are over.
func Bar(counts map[tasks.State]int) string {
	all := 0
	for _, n := range counts {
		all += n
	}
	if all == 0 {
		return "no tasks"
	}
	const width = 20
	over := (counts[tasks.Done] + counts[tasks.Failed]) * width / all
	parts := make([]string, 0, len(counts))
	for _, st := range tasks.States() {
		if n := counts[st]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, st))
		}
	}
	return fmt.Sprintf("%s%s %s", strings.Repeat("█", over), strings.Repeat("░", width-over), strings.Join(parts, ", "))
}

// Table writes tasks as a table.
func Table(w io.Writer, list []tasks.Task, now time.Time) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tSTATE\tAGE\tSTEPS\tCOST\tTASK") //nolint:errcheck // Flush has it
	for _, v := range list {
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\n", v.ID, v.State, text.Age(now.Sub(v.Created)), Steps(v), Cost(v), //nolint:errcheck // as above
			text.Truncate(Headline(v), 60, "…"))
	}
	return t.Flush()
}

// Headline is the first line of a prompt, with why the task waits or failed.
func Headline(v tasks.Task) string {
	line := text.Headline(text.Visible(v.Prompt))
	if why := Waits(v); why != "" {
		line = text.Truncate(line, 30, "…") + " · " + text.Headline(text.Visible(why))
	}
	return line
}

// Waits says why a task is not worked on or failed, "" for no reason.
func Waits(v tasks.Task) string {
	switch {
	case v.Note != "":
		return v.Note
	case v.State == tasks.Queued && v.NotBefore.After(v.Changed):
		return "not before " + v.NotBefore.Format("02 Jan 15:04 MST")
	case v.State == tasks.Queued && len(v.After) > 0 && v.Job == 0:
		return "after " + numbers(v.After)
	case v.State == tasks.Done && !v.Taken.IsZero():
		return "taken"
	}
	return ""
}

func numbers(list []int64) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ", "), "[]")
}

// Steps are the steps of a task as a table has them.
func Steps(v tasks.Task) string {
	if v.Steps == 0 {
		return "-"
	}
	return fmt.Sprint(v.Steps)
}

// Cost is what a task cost as a table has it.
func Cost(v tasks.Task) string {
	if v.Cost == 0 {
		return "-"
	}
	return text.Spent(v.Cost, false)
}

// Detail returns all that is known of a task, a line each.
func Detail(v tasks.Task, attempts []tasks.Attempt, questions []tasks.Question) []string {
	var out []string
	add := func(name, value string) {
		if value != "" {
			out = append(out, fmt.Sprintf("%-9s %s", name, text.Visible(value)))
		}
	}
	add("task", fmt.Sprintf("%d, %s%s", v.ID, v.State, map[bool]string{true: ", being cancelled"}[v.Cancel && !v.Over()]))
	add("why", Waits(v))
	add("prompt", v.Prompt)
	add("folder", v.Folder)
	add("address", v.Repo)
	add("base", v.Base)
	add("role", v.Role)
	add("model", v.Model)
	add("mode", v.Mode)
	add("limits", limits(v.New))
	add("priority", fmt.Sprint(v.Priority))
	if !v.NotBefore.IsZero() {
		add("at", v.NotBefore.Format("2006-01-02 15:04 MST"))
	}
	if len(v.After) > 0 {
		add("after", numbers(v.After))
	}
	add("key", v.Key)
	add("push to", v.Push)
	add("branch", v.Branch)
	add("worktree", v.Dir)
	add("commit", v.Commit)
	if v.Steps > 0 {
		add("used", fmt.Sprintf("%s, %s", text.Count(v.Steps, "step"), Cost(v)))
	}
	for _, a := range attempts {
		add(fmt.Sprintf("attempt %d", a.Number), attempt(a))
	}
	for _, q := range questions {
		for i, row := range q.Rows() {
			name := ""
			if i == 0 {
				name = "asks"
				row = fmt.Sprintf("(question %d%s) %s", q.ID, answered(q), row)
			}
			out = append(out, fmt.Sprintf("%-9s %s", name, text.Visible(row)))
		}
	}
	add("summary", v.Summary)
	return out
}

func answered(q tasks.Question) string {
	if q.Answer == "" {
		return ", open"
	}
	return strings.TrimRight(": "+q.Answer+" "+q.Word, " ")
}

func attempt(a tasks.Attempt) string {
	end, took := cmp.Or(a.Outcome, "working"), ""
	if !a.Ended.IsZero() {
		took = " after " + a.Ended.Sub(a.Began).Round(time.Second).String()
	}
	said := fmt.Sprintf("%s, %s%s", a.Began.Format("2006-01-02 15:04:05"), end, took)
	if a.Session != "" {
		said += ", session " + a.Session
	}
	return said
}

func limits(n tasks.New) string {
	var parts []string
	if n.MaxSteps > 0 {
		parts = append(parts, text.Count(n.MaxSteps, "step"))
	}
	if n.MaxCost > 0 {
		parts = append(parts, text.Spent(n.MaxCost, false))
	}
	if n.MaxTime > 0 {
		parts = append(parts, n.MaxTime.String())
	}
	if n.NoAsk {
		parts = append(parts, "asks nobody")
	}
	return strings.Join(parts, ", ")
}
