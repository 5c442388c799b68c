package page

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"jcode/remote"
)

// The pace of a stream.
const (
	together  = 20 * time.Millisecond // what comes within it is sent as one
	keepAlive = 20 * time.Second
	sendIn    = 10 * time.Second // how long a browser may take to read
)

// stream sends events to a browser.
type stream struct {
	w  http.ResponseWriter
	rc *http.ResponseController
}

func newStream(w http.ResponseWriter) (*stream, error) {
	s := &stream{w, http.NewResponseController(w)}
	if err := s.rc.SetReadDeadline(time.Time{}); err != nil {
		return nil, err
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("X-Accel-Buffering", "no")
	return s, s.send("", "", ": hello")
}

// send writes one event. A number becomes the one from which a lost connection goes on.
func (s *stream) send(number, kind, data string) error {
	if err := s.rc.SetWriteDeadline(time.Now().Add(sendIn)); err != nil {
		return err
	}
	var b strings.Builder
	if number != "" {
		b.WriteString("id: " + number + "\n")
	}
	if kind != "" {
		b.WriteString("event: " + kind + "\n")
	}
	if strings.HasPrefix(data, ":") {
		b.WriteString(data + "\n")
	} else {
		for line := range strings.Lines(strings.ReplaceAll(data, "\r", "")) {
			b.WriteString("data: " + strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	if _, err := fmt.Fprint(s.w, b.String(), "\n"); err != nil {
		return err
	}
	return s.rc.Flush()
}

// pause waits for a change. It reports false when the stream must end.
func (s *Server) pause(ctx context.Context, out *stream, v Device, more <-chan struct{}) bool {
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	for {
		select {
		case <-more:
			return true
		case <-ctx.Done():
			return false
		case <-alive.C:
			if !s.opt.Devices.has(v.ID) || out.send("", "", ": still here") != nil {
				return false
			}
		}
	}
}

// follow streams a session: what changed after the number that the browser has.
func (s *Server) follow(w http.ResponseWriter, r *http.Request, v Device) {
	if s.live.count(v.ID) > maxStreams {
		http.Error(w, "too many pages of this device are open", http.StatusTooManyRequests)
		return
	}
	fd, release, err := s.feeds.get(r.Context(), v, r.PathValue("session"))
	if err != nil {
		w.WriteHeader(http.StatusNoContent) // a browser does not come back
		return
	}
	defer release()
	out, err := newStream(w)
	if err != nil {
		return
	}
	has := r.Header.Get("Last-Event-ID")
	if has == "" {
		has = r.URL.Query().Get("after")
	}
	epoch, number, _ := strings.Cut(has, "-")
	after, err := strconv.ParseUint(number, 10, 64)
	nothing := err != nil || epoch != fd.epoch // so it gets everything
	now := s.viewOf(v, fd.session, fd.role)
	for {
		var html markup
		var last uint64
		more, why := fd.read(func(t *transcript) {
			html, last = t.since(after, nothing, now), t.last
		})
		nothing = false
		if html != "" && out.send(fd.number(last), "", string(html)) != nil {
			return
		}
		after = last
		switch why {
		case "":
		case remote.WhyReload: // the browser comes back with its number
			return
		default:
			_ = out.send("", "ended", "closed") // the connection ends anyway
			return
		}
		select {
		case <-time.After(together):
		case <-r.Context().Done():
			return
		}
		if !s.pause(r.Context(), out, v, more) {
			return
		}
	}
}

// number is that of an event in this attachment, for a browser that comes back.
func (fd *feed) number(n uint64) string { return fd.epoch + "-" + strconv.FormatUint(n, 10) }

// since returns what changed after a number, for a browser that may have nothing: whole parts of the page and items, each
// with the ID of what it replaces.
func (t *transcript) since(after uint64, nothing bool, v view) markup {
	var s sheet
	everything := nothing || after < t.base || after > t.last
	if everything || t.cut > after {
		s.put(`<div id="log" role="log" aria-live="polite">%s</div>`, t.drawLog("", "", v.base))
	} else {
		from := len(t.blocks)
		for from > 0 && (t.blocks[from-1].changed > after || len(t.blocks)-from < shown) {
			from-- // an item that changes is among the last ones
		}
		for _, b := range t.blocks[from:] {
			switch {
			case b.born > after:
				s.put(`<template data-in="log">%s</template>`, b.draw())
			case b.changed > after:
				s.put("%s", b.draw())
			}
		}
	}
	t.sinceLive(&s, after, everything)
	parts := []struct {
		part
		draw func() markup
	}{
		{partState, func() markup { return t.drawState(v) }},
		{partAsks, func() markup { return t.drawAsks(v) }},
		{partQueue, func() markup { return t.drawQueue(v) }},
		{partPlan, t.drawPlan},
		{partAgents, func() markup { return t.drawAgents(v) }},
		{partUsage, t.drawUsage},
	}
	for _, p := range parts {
		if everything || t.changed[p.part] > after {
			s.put("%s", p.draw())
		}
	}
	return s.done()
}

// sinceLive writes what changed of the streaming answer: its finished pieces stay as they are.
func (t *transcript) sinceLive(s *sheet, after uint64, everything bool) {
	l := t.live
	if everything || l.reset > after {
		s.put("%s", t.drawLive())
		return
	}
	for i, p := range l.done {
		if p.at > after {
			s.put(`<template data-in="live">%s</template>`, pieceOf(i, p.html))
		}
	}
	if l.openAt > after {
		s.put("%s", t.drawOpen())
	}
	if l.doingAt > after {
		s.put("%s", t.drawDoing())
	}
}
