package lsp

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"jcode/tools"
)

// change is one call that changes files, in progress.
type change struct {
	paths []string
	old   map[string]string // their text before the change
	parts []*part
}

// part is the files of a change at one server.
type part struct {
	in      *instance
	paths   []string
	settled bool     // the server knew the project before the change
	opened  []string // files that were shown to it as they were before, if it has not answered for them
}

// Changing is called before a call changes files. It returns a function that is called after the
// change and returns the server's findings for the result, or nil if no server is concerned.
func (m *Manager) Changing(ctx context.Context, call tools.Call, plan tools.Plan) func(context.Context) string {
	c := &change{old: map[string]string{}}
	for _, a := range plan.Accesses {
		if a.Kind == tools.AccessWrite || a.Kind == tools.AccessDelete {
			c.paths = append(c.paths, a.Path)
		}
	}
	m.around.touched.write(c.paths)
	if len(c.paths) == 0 || !m.opts.AfterEdit {
		return nil
	}
	for _, path := range c.paths {
		in, err := m.instanceFor(ctx, call, path)
		if err != nil {
			m.tellOnce(err)
		}
		if in == nil {
			continue
		}
		m.offered()
		if content, _, err := readDocument(path); err == nil {
			c.old[path] = content
		}
		c.add(in, path)
	}
	if len(c.parts) == 0 {
		return nil
	}
	for _, p := range c.parts {
		p.prepare(ctx, call, m.around.touched.recentlyRead())
	}
	return func(ctx context.Context) string { return m.changed(ctx, call, c) }
}

func (c *change) add(in *instance, path string) {
	for _, p := range c.parts {
		if p.in == in {
			p.paths = append(p.paths, path)
			return
		}
	}
	c.parts = append(c.parts, &part{in: in, paths: []string{path}})
}

func (in *instance) isReady() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.state == StateReady
}

// prepare shows the server the files as they are before the change, and waits for what it reports of them, for a
// limited time: that existed before. A server that was just started reads the project first.
func (p *part) prepare(ctx context.Context, call tools.Call, read []string) {
	in, limit := p.in, cmp.Or(p.in.around.patience, baseLimit)
	if in.owes() {
		if in.isReady() {
			p.open(ctx, read)
		}
		return
	}
	in.mu.Lock()
	loading := in.loading()
	in.mu.Unlock()
	if loading {
		call.Progress(tools.Progress{Text: in.server.Name + " reads the project"})
		limit = min(cmp.Or(in.around.patience, firstLimit), firstLimit) // the change itself must not wait long
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if in.settle(bounded) != nil {
		if in.isReady() { // it may know them when the change has been made
			p.opened = p.open(ctx, read)
		}
		return
	}
	sent := time.Now()
	p.opened = p.open(bounded, read)
	if len(p.opened) == 0 || in.await(bounded, p.opened, sent, limit) == outcomeAnswered {
		p.settle()
	}
}

// learn has a server that has just read the project report on the files as they were before the change.
func (p *part) learn(ctx context.Context, all []*change) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, p.in.around.wait())
	defer cancel()
	for _, c := range all {
		for _, path := range p.paths {
			text, known := c.old[path]
			if !known || slices.Contains(p.opened, path) {
				continue
			}
			if opened, err := p.in.showFormer(ctx, path, text); opened && err == nil {
				p.opened = append(p.opened, path)
			}
		}
	}
	if len(p.opened) > 0 && p.in.await(ctx, p.opened, began, p.in.around.wait()) == outcomeAnswered {
		p.settle()
	}
}

// settle takes what the server reports for what was there before the change.
func (p *part) settle() {
	p.settled = true
	p.in.mu.Lock()
	p.in.found.absorb(p.in.docs)
	p.in.mu.Unlock()
}

// open shows the server the files as they are before the change, and those that were read. It returns those that
// were news to the server.
func (p *part) open(ctx context.Context, read []string) (news []string) {
	ctx, cancel := context.WithTimeout(ctx, p.in.around.wait())
	defer cancel()
	for _, path := range append(slices.Clone(p.paths), read...) {
		if !p.in.server.serves(path) || !p.in.holds(path) {
			continue
		}
		changed, err := p.in.sync(ctx, path)
		if err != nil && ctx.Err() != nil {
			return news // do not wait for a server that does not read
		}
		if changed && err == nil {
			news = append(news, path)
		}
	}
	return news
}

// changed sends the new content of the files and returns what is new.
func (m *Manager) changed(ctx context.Context, call tools.Call, c *change) string {
	if call.Followed { // the last one of the step waits for all
		m.mu.Lock()
		m.queue = append(m.queue, c)
		m.mu.Unlock()
		return ""
	}
	m.mu.Lock()
	all := append(m.queue, c)
	m.queue = nil
	m.mu.Unlock()
	parts := merge(all)
	out := make([]string, len(parts))
	var waiting sync.WaitGroup
	for i, p := range parts {
		waiting.Go(func() {
			out[i] = p.report(ctx, call, all, m.around.touched.recentlyRead())
		})
	}
	waiting.Wait()
	out = slices.DeleteFunc(out, func(s string) bool { return s == "" })
	return strings.Join(out, "\n")
}

// merge combines the changes of one step by server.
func merge(all []*change) []*part {
	var out []*part
	for _, c := range all {
		for _, p := range c.parts {
			i := slices.IndexFunc(out, func(o *part) bool { return o.in == p.in })
			if i < 0 {
				out = append(out, &part{in: p.in, settled: p.settled, paths: slices.Clone(p.paths), opened: slices.Clone(p.opened)})
				continue
			}
			out[i].settled = out[i].settled && p.settled
			out[i].opened = append(out[i].opened, p.opened...)
			for _, path := range p.paths {
				if !slices.Contains(out[i].paths, path) {
					out[i].paths = append(out[i].paths, path)
				}
			}
		}
	}
	return out
}

// report tells the server of the change, waits for its answer, and returns what is new, or that there is no
// answer. The edit has been made, whatever the server does.
func (p *part) report(ctx context.Context, call tools.Call, all []*change, read []string) string {
	in, session, wait := p.in, call.Caller.Session, call.Caller.Origin != tools.OriginScript
	if wait && in.untilLoaded(ctx, call) {
		p.learn(ctx, all)
	}
	limit := in.wait()
	owed := debt{session: session, settled: p.settled, lines: changedLines(all)}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	sent := time.Now()
	in.mu.Lock()
	in.session = session
	in.mu.Unlock()
	touched, err := p.send(bounded, read)
	switch out := in.late(false); {
	case !wait:
		return ""
	case err != nil:
		if out != outcomeEnded {
			in.mu.Lock()
			in.found.owe(p.paths, owed)
			in.mu.Unlock()
		}
		return in.worded(told{}, out, "")
	}
	out := in.await(ctx, touched, sent, limit)
	if out == outcomeLoading && in.untilLoaded(ctx, call) { // it has said so only now
		out = in.await(ctx, touched, time.Now(), in.around.wait())
	}
	in.mu.Lock()
	news := in.found.fresh(in.docs, touched, p.settled, owed.lines)
	in.found.settle(touched)
	if out != outcomeAnswered {
		in.found.owe(slices.DeleteFunc(slices.Clone(touched), func(path string) bool { return in.docs[path] == nil }), owed)
	}
	in.mu.Unlock()
	return in.worded(news, out, "")
}

// send shows the server the files as they are now. It returns those that it has open.
func (p *part) send(ctx context.Context, read []string) (touched []string, err error) {
	in := p.in
	if err := in.usable(ctx); err != nil {
		return nil, err
	}
	for _, path := range p.paths {
		_, err := in.sync(ctx, path)
		switch {
		case err == nil:
			touched = append(touched, path)
		case isAbsent(err): // it was moved or removed
			_ = in.changedFiles(ctx, fileChange{path, changeDeleted}) // do not wait for a server that does not read
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	for _, path := range read {
		if in.server.serves(path) && in.holds(path) {
			_, _ = in.sync(ctx, path) // this helps, but is not required
		}
	}
	return touched, in.refresh(ctx)
}

// changedLines returns a function that reports whether a line of a changed file was changed,
// compared with its earlier text.
func changedLines(all []*change) func(path string, line int) bool {
	known := map[string]map[string]bool{}
	return func(path string, line int) bool {
		var old string
		found := false
		for _, c := range all {
			if s, ok := c.old[path]; ok {
				old, found = s, true
				break
			}
		}
		if !found {
			return true // a new file
		}
		if known[path] == nil {
			known[path] = map[string]bool{}
			for l := range strings.Lines(old) {
				known[path][strings.TrimSpace(l)] = true
			}
		}
		now, _, err := readDocument(path)
		if err != nil {
			return true
		}
		lines := strings.Split(now, "\n")
		return line >= len(lines) || !known[path][strings.TrimSpace(lines[line])]
	}
}

// Read notes that the model has read a file.
func (m *Manager) Read(path string) { m.around.touched.Read(path) }

// tellOnce tells the person why a server is not available, once per reason.
func (m *Manager) tellOnce(err error) {
	if m.opts.Notify == nil || errors.Is(err, context.Canceled) {
		return
	}
	m.mu.Lock()
	told := m.told[err.Error()]
	m.told[err.Error()] = true
	m.mu.Unlock()
	if !told {
		m.opts.Notify("info", err.Error())
	}
}

// offered calls Offer once, when a server for this workspace is available.
func (m *Manager) offered() {
	if m.opts.Offer != nil {
		m.offer.Do(m.opts.Offer)
	}
}

// Look offers the tools if a server is installed for the workspace's languages. It starts none.
func (m *Manager) Look() {
	if len(m.Available()) > 0 {
		m.offered()
	}
}
