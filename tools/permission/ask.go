package permission

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"jcode/internal/toolcard"

	"jcode/internal/paths"
	"jcode/internal/shellword"
	"jcode/internal/text"
	"jcode/tools"
)

// settle turns a verdict that needs no question into a decision.
func (c *checking) settle(v verdict) tools.Decision {
	return tools.Decision{
		Allow: v.outcome == allow, By: v.by, Rule: v.rule, Reason: v.reason, Kind: v.kind,
		Sandbox: v.confine, Vouched: v.vouched, Silent: v.silent && v.outcome == allow,
	}
}

// ask puts the question. Only one is open at a time: the answer to the previous one may answer this one.
func (c *checking) ask(v verdict) tools.Decision {
	asker := c.req.Call.Caller.Asker
	if asker == nil {
		return c.nobody(v)
	}
	defer tools.Asking(c.ctx)() // also while another question is open
	select {
	case c.g.asking <- struct{}{}:
		defer func() { <-c.g.asking }()
	case <-c.ctx.Done():
		return c.cancelled()
	}
	again := &checking{g: c.g, ctx: c.ctx, req: c.req, mode: c.g.mode(c.req.Call.Caller), unconfined: c.unconfined}
	if v = again.judge(); v.outcome != ask {
		return again.settle(v)
	}
	q := again.question(v)
	answer, err := asker.Ask(c.ctx, q)
	if err != nil {
		if c.ctx.Err() != nil {
			return c.cancelled()
		}
		return again.nobody(v)
	}
	return again.answered(v, q, answer)
}

func (c *checking) cancelled() tools.Decision {
	return tools.Decision{By: tools.ByPolicy, Kind: tools.KindCancelled, Reason: "interrupted while waiting for approval"}
}

// nobody is the decision when no person can answer.
func (c *checking) nobody(v verdict) tools.Decision {
	if v.shown {
		c.g.tell(c.req.Call.Caller, "ran without being shown first: "+c.what(v))
		return tools.Decision{Allow: true, By: tools.ByMode, Rule: string(c.mode), Sandbox: v.confine}
	}
	reason := fmt.Sprintf("denied: %s needs approval and there is nobody to ask (%s). Do without it, or say what you would have done.", c.what(v), v.reason)
	if c.failed != nil {
		reason += " Stored grants could not be read: " + c.failed.Error()
	}
	return tools.Decision{By: tools.ByPolicy, Rule: v.rule, Reason: reason}
}

// what describes the call in one line.
func (c *checking) what(v verdict) string {
	if cmd := c.command(); cmd != "" {
		first, _, more := strings.Cut(cmd, "\n")
		if more {
			first += " …"
		}
		return c.req.Spec.Name + "(" + first + ")"
	}
	if s := c.req.Plan.Summary; s != "" {
		return s
	}
	return v.reason
}

// command returns the command line, or address, that the call is about.
func (c *checking) command() string {
	for _, a := range accesses(c.req) {
		switch a.Kind {
		case tools.AccessExec, tools.AccessConnect, tools.AccessInput:
			switch {
			case a.Argv != nil:
				return show(shellword.Join(a.Argv))
			case a.Command != "":
				return show(a.Command)
			}
			return show(a.URL)
		case tools.AccessFetch:
			return show(a.URL)
		}
	}
	return ""
}

// question builds the question that a person sees.
func (c *checking) question(v verdict) tools.Question {
	q := tools.Question{
		CallID: c.req.Call.ID, Tool: c.req.Spec.Name, Label: c.req.Call.Caller.Label,
		Title: c.title(), Command: c.command(), Diff: c.req.Plan.Diff,
		Arguments: c.req.Call.Arguments, Editable: toolcard.Of(c.req.Spec.Name).Editable,
	}
	q.Details = append(q.Details, c.where()...)
	q.Details = append(q.Details, hidden(c.rawCommand())...)
	for _, n := range c.req.Plan.Notes {
		q.Details = append(q.Details, show(n))
	}
	q.Details = append(q.Details, v.details...)
	if v.by == tools.ByRule && v.rule != "" {
		q.Details = append(q.Details, v.reason)
	}
	if c.failed != nil {
		q.Details = append(q.Details, "stored grants could not be read: "+c.failed.Error())
	}
	q.Details = union(nil, q.Details)
	q.Options = c.options(v)
	return q
}

func (c *checking) title() string {
	switch list := accesses(c.req); {
	case len(list) > 0 && list[0].Running != nil: // the tool says into what it is typed
	case len(list) > 0 && list[0].Kind == tools.AccessExec:
		if c.unconfined {
			return "Run a command outside the sandbox"
		}
		return "Run a command"
	case len(list) > 0 && list[0].Kind == tools.AccessConnect:
		return "Start the MCP server " + show(list[0].Target)
	}
	if s := c.req.Plan.Summary; s != "" {
		return show(s)
	}
	return "Execute intent: " + c.req.Spec.Name
}

// where names the folder of a command that does not run in the folder where relative paths begin.
func (c *checking) where() []string {
	var out []string
	for _, a := range accesses(c.req) {
		if a.Dir != "" && paths.Real(a.Dir) != c.g.places.start {
			out = append(out, "in "+c.g.places.Show(paths.Real(a.Dir)))
		}
	}
	return out
}

func (c *checking) rawCommand() string {
	for _, a := range accesses(c.req) {
		if a.Command != "" {
			return a.Command
		}
	}
	return ""
}

// options lists the answers, the most limited first and no last.
func (c *checking) options(v verdict) []tools.AnswerOption {
	out := []tools.AnswerOption{{Scope: tools.AnswerOnce, Label: "once"}}
	if len(v.store) > 0 && !c.req.Plan.Always && !c.req.Plan.Insists && (typedAgain(c.rawCommand()) || c.typed()) {
		lasting := func(scope tools.AnswerScope, how string, rules []string) {
			words := c.inWords(rules)
			out = append(out, tools.AnswerOption{Scope: scope, Label: how + ": " + words, Rules: rules, Words: words})
		}
		const session, project = "until I leave", "always here"
		switch caller := c.req.Call.Caller; {
		case caller.Session == "":
		case caller.Root == "":
			lasting(tools.AnswerSession, session, v.store)
		default:
			lasting(tools.AnswerSession, "for this agent", v.store)
			lasting(tools.AnswerSession, session+", for all agents", v.store)
			out[len(out)-1].Whole = true
		}
		if !v.sessionOnly {
			lasting(tools.AnswerProject, project, v.store)
			if len(v.broad) > 0 {
				lasting(tools.AnswerProject, project, v.broad)
			}
		}
	}
	return append(out, tools.AnswerOption{Scope: tools.AnswerNo, Label: "no"})
}

// typedAgain reports whether the same command may occur again. Nobody writes a multi-line command or a
// here-document twice, so no lasting answer is offered for them.
func typedAgain(command string) bool {
	return !strings.Contains(strings.TrimSpace(command), "\n") && !strings.Contains(command, "<<")
}

// typed reports whether the call types text for a program that is no shell.
func (c *checking) typed() bool {
	return slices.ContainsFunc(accesses(c.req), func(a tools.Access) bool { return a.Kind == tools.AccessInput })
}

func joinRules(rules []string) string {
	shown := make([]string, len(rules))
	for i, r := range rules {
		shown[i] = show(r)
	}
	return strings.Join(shown, ", ")
}

// answered turns an answer into a decision and stores what the answer grants.
func (c *checking) answered(v verdict, q tools.Question, a tools.Answer) tools.Decision {
	opt, ok := chosen(q.Options, a)
	if !ok || opt.Scope == tools.AnswerNo {
		reason := "denied by user: " + c.what(v)
		if word := strings.TrimSpace(a.Word); word != "" {
			reason += "\nThe user says: " + text.Clean(word)
		}
		return tools.Decision{By: tools.ByUser, Reason: reason}
	}
	dec := tools.Decision{Allow: true, By: tools.ByUser, Sandbox: c.sandboxed(v)}
	if v.pin != (pin{}) {
		c.g.see(v.pin, approved)
	}
	if edited := onlyEdited(q, a.Arguments); edited != nil {
		// What was granted is what was shown; an edited call is a different one.
		dec.Arguments = edited
		return dec
	}
	if a.Hunks != nil { // so is a part of it
		if dec.Hunks = slices.Compact(slices.Sorted(slices.Values(a.Hunks))); !offered(q, dec.Hunks) {
			return tools.Decision{By: tools.ByUser, Reason: "denied: the answer named hunks that this call does not have"}
		}
		return dec
	}
	dec.Rule = strings.Join(opt.Rules, ", ")
	for _, rule := range opt.Rules {
		hash := v.hash
		if own, ok := v.hashes[rule]; ok {
			hash = own
		}
		err := c.g.grants.Add(c.ctx, Grant{Rule: rule, Hash: hash, Scope: opt.Scope, Session: sessionOf(opt, c.req.Call.Caller)})
		if err != nil {
			c.g.tell(c.req.Call.Caller, fmt.Sprintf("the answer applies this once: it could not be stored: %v", err))
			break
		}
	}
	return dec
}

// offered reports whether these hunks of a question's diff can be taken without the others.
func offered(q tools.Question, hunks []int) bool {
	return len(hunks) > 0 && hunks[0] >= 0 && hunks[len(hunks)-1] < len(q.Hunks())
}

// sandboxed reports whether a command that a person approved runs confined.
func (c *checking) sandboxed(v verdict) bool {
	return c.confine() && len(c.rawCommand()) > 0 && !v.shown && !v.leaves
}

// answeredBefore reports whether the person who edited this call was already asked about everything it
// touches now. The command itself may differ: the person wrote it.
func (c *checking) answeredBefore() bool {
	if c.req.Answered == nil {
		return false
	}
	before := c.req
	before.Plan = *c.req.Answered
	asked := accesses(before)
	for _, a := range accesses(c.req) {
		if !slices.ContainsFunc(asked, func(b tools.Access) bool {
			if a.Kind != b.Kind || a.Dir != b.Dir {
				return false
			}
			return a.Kind == tools.AccessExec || a.Path == b.Path && a.URL == b.URL && a.Target == b.Target && a.Hash == b.Hash && a.Command == b.Command
		}) {
			return false
		}
	}
	return true
}

// sessionOf returns the session for which an answer holds, "" for one that holds for the project.
func sessionOf(opt tools.AnswerOption, caller tools.Caller) string {
	switch {
	case opt.Scope != tools.AnswerSession:
		return ""
	case opt.Whole:
		return caller.Root
	}
	return caller.Session
}

// chosen finds the option of an answer. An answer that was not offered counts as no.
func chosen(options []tools.AnswerOption, a tools.Answer) (tools.AnswerOption, bool) {
	if a.Option >= 0 && a.Option < len(options) && options[a.Option].Scope == a.Scope {
		return options[a.Option], true
	}
	for _, o := range options {
		if o.Scope == a.Scope {
			return o, true
		}
	}
	return tools.AnswerOption{}, false
}

// onlyEdited returns the call's arguments with the one editable argument as the person changed it, or nil if
// it is unchanged.
func onlyEdited(q tools.Question, edited json.RawMessage) json.RawMessage {
	if edited == nil || q.Editable == "" {
		return nil
	}
	var before, after map[string]json.RawMessage
	if json.Unmarshal(q.Arguments, &before) != nil || json.Unmarshal(edited, &after) != nil {
		return nil
	}
	value, ok := after[q.Editable]
	if !ok || string(value) == string(before[q.Editable]) {
		return nil
	}
	before[q.Editable] = value
	out, err := json.Marshal(before)
	if err != nil {
		return nil
	}
	return out
}
