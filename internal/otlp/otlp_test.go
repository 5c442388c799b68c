package otlp

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"jcode/internal/testkit/eventually"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// collector keeps what is sent to it.
type collector struct {
	*httptest.Server
	mu      sync.Mutex
	bodies  map[string][][]byte // by path
	headers http.Header
	answer  atomic.Pointer[func(n int) int] // the status of the nth request
	n       int
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{bodies: map[string][][]byte{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.n++
		if status := c.answer.Load(); status != nil && (*status)(c.n) != 200 {
			w.WriteHeader((*status)(c.n))
			return
		}
		c.headers = r.Header
		c.bodies[r.URL.Path] = append(c.bodies[r.URL.Path], body)
		_, _ = w.Write([]byte(`{}`))
	}))
	t.Cleanup(c.Close)
	return c
}

// decode reads bodies with the types that OpenTelemetry publishes, and nothing that they don't know. OTLP writes IDs
// in hexadecimal digits where they read base64.
func decode[M proto.Message](t *testing.T, body []byte, into M) M {
	t.Helper()
	var tree any
	if err := json.Unmarshal(body, &tree); err != nil {
		t.Fatal(err)
	}
	var rewrite func(v any)
	rewrite = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, of := range v {
				if text, ok := of.(string); ok && (key == "traceId" || key == "spanId" || key == "parentSpanId") {
					raw, err := hex.DecodeString(text)
					if err != nil {
						t.Errorf("%s is %q: %v", key, text, err)
					}
					v[key] = base64.StdEncoding.EncodeToString(raw)
				}
				rewrite(of)
			}
		case []any:
			for _, of := range v {
				rewrite(of)
			}
		}
	}
	rewrite(tree)
	plain, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	if err := protojson.Unmarshal(plain, into); err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	return into
}

func options(t *testing.T, c *collector, more map[string]string) Options {
	t.Helper()
	env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL + "/"}
	for k, v := range more {
		env[k] = v
	}
	opt, err := FromEnv(func(name string) string { return env[name] }, "jcode", "1.0")
	if err != nil {
		t.Fatal(err)
	}
	return opt
}

func TestSpansAndMetricsAreSentAsOTLP(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	e := New(options(t, c, map[string]string{
		"OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%3Db, x-team = blue", "OTEL_RESOURCE_ATTRIBUTES": "team=the%20one,service.name=lost", "OTEL_SERVICE_NAME": "mine",
	}))
	trace := TraceOf("a")
	parent, child := trace.Span("1"), trace.Span("2")
	at := time.Unix(1700000000, 5)
	e.Add(Span{Trace: trace, ID: child, Parent: parent, Name: "chat x", Kind: Client, Start: at, End: at.Add(time.Second), Attrs: []Attr{
		String("text", "a\xffb"), Int("n", 7), Float("cost", 0.25), Strings("list", "a", "b"),
	}, Failed: true, Fault: "refused"})
	m := Metric{Name: "took", Unit: "s", Bounds: []float64{1, 2}}
	for _, v := range []float64{0.5, 1, 1.5, 5, math.NaN()} {
		e.Measure(m, v, String("k", "v"))
	}
	e.Measure(Metric{Name: "cost"}, 0.5)
	e.Measure(Metric{Name: "cost"}, 0.25)
	e.Close()
	e.Close()
	e.Add(Span{}) // too late, and harmless
	if c.headers.Get("api-key") != "a=b" || c.headers.Get("x-team") != "blue" || c.headers.Get("Content-Type") != "application/json" {
		t.Errorf("headers: %v", c.headers)
	}
	if len(c.bodies["/v1/traces"]) != 1 || len(c.bodies["/v1/metrics"]) != 1 {
		t.Fatalf("requests: %v", c.bodies)
	}
	spans := decode(t, c.bodies["/v1/traces"][0], &tracepb.TracesData{}).ResourceSpans[0]
	resource := map[string]string{}
	for _, a := range spans.Resource.Attributes {
		resource[a.Key] = a.Value.GetStringValue()
	}
	if resource["service.name"] != "mine" || resource["team"] != "the one" || resource["service.version"] != "1.0" {
		t.Errorf("resource: %v", resource)
	}
	s := spans.ScopeSpans[0].Spans[0]
	if s.Name != "chat x" || s.Kind != tracepb.Span_SPAN_KIND_CLIENT || string(s.TraceId) != string(trace[:]) || string(s.SpanId) != string(child[:]) || string(s.ParentSpanId) != string(parent[:]) ||
		s.StartTimeUnixNano != uint64(at.UnixNano()) || s.EndTimeUnixNano-s.StartTimeUnixNano != uint64(time.Second) || s.Status.Code != tracepb.Status_STATUS_CODE_ERROR || s.Status.Message != "refused" {
		t.Errorf("span: %v", s)
	}
	if a := s.Attributes; a[0].Value.GetStringValue() != "a\uFFFDb" || a[1].Value.GetIntValue() != 7 || a[2].Value.GetDoubleValue() != 0.25 || len(a[3].Value.GetArrayValue().Values) != 2 {
		t.Errorf("attributes: %v", a)
	}
	metrics := decode(t, c.bodies["/v1/metrics"][0], &metricspb.MetricsData{}).ResourceMetrics[0].ScopeMetrics[0].Metrics
	if cost := metrics[0].GetSum(); !cost.IsMonotonic || cost.DataPoints[0].GetAsDouble() != 0.75 {
		t.Errorf("sum: %v", metrics[0])
	}
	h := metrics[1].GetHistogram().DataPoints[0]
	if h.Count != 4 || h.GetSum() != 8 || h.GetMin() != 0.5 || h.GetMax() != 5 || len(h.BucketCounts) != 3 || h.BucketCounts[0] != 2 || h.BucketCounts[1] != 1 || h.BucketCounts[2] != 1 {
		t.Errorf("histogram: %v", h)
	}
}

// A batch that a collector can't take now is sent again; one that it refuses is not, and is said once.
func TestBatchesAreSentAgainWhereThatHelps(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	busy := func(n int) int { return map[bool]int{true: http.StatusServiceUnavailable, false: 200}[n == 1] }
	c.answer.Store(&busy)
	opt := options(t, c, nil)
	var said atomic.Int32
	opt.Failed = func(error) { said.Add(1) }
	e := New(opt)
	for range batchSpans {
		e.Add(Span{Name: "x"})
	}
	eventually.True(t, "a batch is sent", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.bodies["/v1/traces"]) > 0
	})
	refuse := func(int) int { return http.StatusUnauthorized }
	c.answer.Store(&refuse)
	for range 2 * batchSpans {
		e.Add(Span{Name: "y"})
	}
	e.Close()
	if c.n != 4 || said.Load() != 1 {
		t.Errorf("%d requests, %d faults said; want 1 that waits, 1 more of it, and 1 for each of 2 refused batches", c.n, said.Load())
	}
}

// A collector that never answers holds the end of the program up for a second at most, and memory stays bounded.
func TestACollectorThatHangsHoldsNothingUp(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hold }))
	defer srv.Close()
	defer close(hold)
	var said atomic.Pointer[string]
	e := New(Options{Endpoint: srv.URL, Failed: func(err error) { text := err.Error(); said.Store(&text) }})
	big := strings.Repeat("x", 1<<20)
	for range 40 {
		e.Add(Span{Name: "x", Attrs: []Attr{String("big", big)}})
	}
	e.mu.Lock()
	queued := e.bytes
	e.mu.Unlock()
	if queued > queueBytes {
		t.Errorf("%d bytes wait", queued)
	}
	began := time.Now()
	e.Close()
	if took := time.Since(began); took > 20*flushLimit {
		t.Errorf("the end took %v", took)
	}
	if said.Load() == nil {
		t.Error("that spans were lost is not said")
	}
}

func TestTelemetryIsOffUnlessTheEnvironmentAsksForIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env  map[string]string
		want bool
	}{
		{nil, false},
		{map[string]string{"OTEL_SERVICE_NAME": "x", "OTEL_EXPORTER_OTLP_HEADERS": "a=b"}, false},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"}, true},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318", "OTEL_SDK_DISABLED": "true"}, false},
	} {
		if got := Enabled(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%v: %t", c.env, got)
		}
	}
	for _, endpoint := range []string{"localhost:4318", "ftp://x", "http://", "http://[::1"} {
		if _, err := FromEnv(func(name string) string {
			return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint}[name]
		}, "jcode", ""); err == nil || !strings.Contains(err.Error(), "OTEL_EXPORTER_OTLP_ENDPOINT") {
			t.Errorf("%q: %v", endpoint, err)
		}
	}
	if _, err := FromEnv(func(name string) string {
		return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}[name]
	}, "jcode", ""); err == nil || !strings.Contains(err.Error(), "http/json") {
		t.Errorf("grpc: %v", err)
	}
}

func TestTraceparentIsReadAsTheConventionHasIt(t *testing.T) {
	t.Parallel()
	const good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	if p, ok := ParseParent(good); !ok || p.String() != good || !p.Sampled {
		t.Errorf("%v, %t", p, ok)
	}
	if p, ok := ParseParent(strings.TrimSuffix(good, "01") + "00"); !ok || p.Sampled {
		t.Errorf("not sampled: %v, %t", p, ok)
	}
	if _, ok := ParseParent("cc" + good[2:] + "-more"); !ok {
		t.Error("a later version is refused")
	}
	for _, bad := range []string{"", "x", good[:50], good + "-x", "ff" + good[2:], "00-" + strings.Repeat("0", 32) + good[35:], good[:36] + strings.Repeat("0", 16) + "-01", strings.Replace(good, "4bf", "4bg", 1)} {
		if p, ok := ParseParent(bad); ok {
			t.Errorf("%q is read as %v", bad, p)
		}
	}
}
