package otlp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	spansEvery   = 5 * time.Second
	metricsEvery = 60 * time.Second
	batchSpans   = 256
	batchBytes   = 2 << 20
	// queueBytes bounds what waits to be sent; what comes on top of it is lost, and said.
	queueBytes = 8 << 20
	tries      = 4
	firstWait  = time.Second
	mostWait   = 30 * time.Second
	usualLimit = 10 * time.Second
	// flushLimit is how long the end of the program waits for what is left.
	flushLimit = time.Second
	maxAnswer  = 64 << 10
)

// Exporter sends spans and metrics in batches. It is safe for concurrent use.
type Exporter struct {
	opt    Options
	client *http.Client
	ctx    context.Context // of requests; Close ends it
	cancel context.CancelFunc
	wake   chan struct{}
	ends   chan struct{}
	done   chan struct{}

	mu      sync.Mutex
	spans   []Span
	bytes   int
	lost    int
	metrics metrics
	said    map[string]bool
	closed  bool
}

// New returns an exporter. Close ends it.
func New(opt Options) *Exporter {
	if opt.Limit <= 0 {
		opt.Limit = usualLimit
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConns: 1, IdleConnTimeout: 2 * metricsEvery, TLSHandshakeTimeout: usualLimit, ForceAttemptHTTP2: true}
	e := &Exporter{
		opt: opt, wake: make(chan struct{}, 1), ends: make(chan struct{}), done: make(chan struct{}), said: map[string]bool{},
		metrics: metrics{began: time.Now(), all: map[string]*series{}},
		client: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // its headers may hold a key
		}},
	}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	go e.run()
	return e
}

// Add queues a span that has ended.
func (e *Exporter) Add(s Span) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := s.size()
	if e.closed || e.bytes+n > queueBytes {
		e.lost++
		return
	}
	e.spans, e.bytes = append(e.spans, s), e.bytes+n
	if len(e.spans) >= batchSpans || e.bytes >= batchBytes {
		select {
		case e.wake <- struct{}{}:
		default:
		}
	}
}

// Measure adds a value to a metric.
func (e *Exporter) Measure(m Metric, v float64, attrs ...Attr) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.metrics.add(m, v, attrs)
}

// Close sends what is left, for a second at most, and ends the exporter.
func (e *Exporter) Close() {
	e.mu.Lock()
	first := !e.closed
	e.closed = true
	e.mu.Unlock()
	if first {
		close(e.ends)
		limit := time.AfterFunc(flushLimit, e.cancel)
		defer limit.Stop()
	}
	<-e.done
}

func (e *Exporter) run() {
	defer close(e.done)
	defer e.client.CloseIdleConnections()
	defer e.cancel()
	spans, metrics := time.NewTicker(spansEvery), time.NewTicker(metricsEvery)
	defer spans.Stop()
	defer metrics.Stop()
	for {
		select {
		case <-e.wake:
			e.sendSpans()
		case <-spans.C:
			e.sendSpans()
		case <-metrics.C:
			e.sendMetrics()
		case <-e.ends:
			var both sync.WaitGroup // a slow one must not take the other's time
			both.Go(e.sendMetrics)
			e.sendSpans()
			both.Wait()
			return
		}
	}
}

// take returns the next batch of spans.
func (e *Exporter) take() (batch []Span, lost int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n, size := 0, 0
	for n < len(e.spans) && n < batchSpans && size < batchBytes {
		size += e.spans[n].size()
		n++
	}
	batch, e.spans = slices.Clone(e.spans[:n]), slices.Delete(e.spans, 0, n)
	e.bytes -= size
	lost, e.lost = e.lost, 0
	return batch, lost
}

func (e *Exporter) sendSpans() {
	for {
		batch, lost := e.take()
		if lost > 0 {
			e.failed("lost", fmt.Errorf("%d spans are lost: more came than could be sent", lost))
		}
		if len(batch) == 0 {
			return
		}
		e.send("/v1/traces", map[string]any{"resourceSpans": []any{map[string]any{
			"resource": e.resource(), "scopeSpans": []any{map[string]any{"scope": e.scope(), "spans": batch}},
		}}})
	}
}

func (e *Exporter) sendMetrics() {
	e.mu.Lock()
	list, dirty := e.metrics.list(time.Now()), e.metrics.dirty
	e.metrics.dirty = false
	e.mu.Unlock()
	if !dirty {
		return
	}
	e.send("/v1/metrics", map[string]any{"resourceMetrics": []any{map[string]any{
		"resource": e.resource(), "scopeMetrics": []any{map[string]any{"scope": e.scope(), "metrics": list}},
	}}})
}

func (e *Exporter) resource() any { return map[string]any{"attributes": e.opt.Resource} }

func (e *Exporter) scope() any {
	return map[string]string{"name": e.opt.Name, "version": e.opt.Version}
}

// send sends a batch, again where that may help.
func (e *Exporter) send(path string, batch any) {
	body, err := json.Marshal(batch)
	if err != nil {
		e.failed("encode", err)
		return
	}
	wait := firstWait
	for try := 1; ; try++ {
		after, err := e.post(path, body)
		if err == nil {
			return
		}
		if e.ctx.Err() != nil {
			err = errors.New("there was no time left for it at the end: " + err.Error())
		}
		if after < 0 || try == tries || e.ctx.Err() != nil {
			e.failed(path, err)
			return
		}
		select {
		case <-time.After(min(max(after, wait), mostWait)):
			wait *= 2
		case <-e.ctx.Done():
			e.failed(path, err)
			return
		}
	}
}

// post makes one request. After an error, again says when it may be made again; below 0 never.
func (e *Exporter) post(path string, body []byte) (again time.Duration, err error) {
	ctx, cancel := context.WithTimeout(e.ctx, e.opt.Limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.opt.Endpoint+path, bytes.NewReader(body))
	if err != nil {
		return -1, err
	}
	maps.Copy(req.Header, e.opt.Headers)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", e.opt.Name+"/"+e.opt.Version)
	res, err := e.client.Do(req)
	if err != nil {
		return 0, err
	}
	answer, _ := io.ReadAll(io.LimitReader(res.Body, maxAnswer)) // what can be read says enough
	_ = res.Body.Close()
	switch {
	case res.StatusCode/100 == 2:
		return 0, e.rejected(path, answer)
	case slices.Contains([]int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, res.StatusCode):
		seconds, _ := strconv.Atoi(res.Header.Get("Retry-After")) // without it, the usual wait
		again = max(0, time.Duration(seconds)*time.Second)
	default:
		again = -1
	}
	return again, fmt.Errorf("%s answers %s %s", e.opt.Endpoint+path, res.Status, strings.Join(strings.Fields(string(answer[:min(len(answer), 200)])), " "))
}

// rejected says what of a batch was not taken. That it is sent again would not help.
func (e *Exporter) rejected(path string, answer []byte) error {
	var got struct {
		Partial struct {
			Message string `json:"errorMessage"`
		} `json:"partialSuccess"`
	}
	if json.Unmarshal(answer, &got) == nil && got.Partial.Message != "" {
		e.failed(path+" partly", errors.New(got.Partial.Message))
	}
	return nil
}

// failed tells of the first fault of each kind.
func (e *Exporter) failed(kind string, err error) {
	e.mu.Lock()
	said := e.said[kind]
	e.said[kind] = true
	e.mu.Unlock()
	if !said && e.opt.Failed != nil {
		e.opt.Failed(fmt.Errorf("telemetry: %w", err))
	}
}

func sorted(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
