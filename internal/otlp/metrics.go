package otlp

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"
)

// mostSeries bounds the series of all metrics; more are left out.
const mostSeries = 1000

// Metric names what is measured.
type Metric struct {
	Name, Unit, Help string
	// Bounds are those of a histogram; without any, the metric is a sum that only grows.
	Bounds []float64
}

// series is a metric with attributes.
type series struct {
	Metric
	attrs   []Attr
	began   time.Time
	count   int
	sum     float64
	least   float64
	most    float64
	buckets []int
}

// metrics are what was measured since the start.
type metrics struct {
	began time.Time
	all   map[string]*series
	dirty bool // since the last time they were sent
}

func (m *metrics) add(what Metric, v float64, attrs []Attr) {
	encoded, err := json.Marshal(attrs)
	if err != nil || !isNumber(v) {
		return // it counts nothing
	}
	key := what.Name + string(encoded)
	s := m.all[key]
	if s == nil {
		if len(m.all) == mostSeries {
			return
		}
		s = &series{Metric: what, attrs: attrs, began: m.began, least: v, most: v, buckets: make([]int, len(what.Bounds)+1)}
		m.all[key] = s
	}
	at, _ := slices.BinarySearch(what.Bounds, v) // a bound belongs to the bucket below it
	s.buckets[at]++
	s.count++
	s.sum, s.least, s.most = s.sum+v, min(s.least, v), max(s.most, v)
	m.dirty = true
}

type point struct {
	Attrs   []Attr    `json:"attributes,omitempty"`
	Start   string    `json:"startTimeUnixNano"`
	Time    string    `json:"timeUnixNano"`
	Double  *float64  `json:"asDouble,omitempty"`
	Count   string    `json:"count,omitempty"`
	Sum     *float64  `json:"sum,omitempty"`
	Min     *float64  `json:"min,omitempty"`
	Max     *float64  `json:"max,omitempty"`
	Buckets []string  `json:"bucketCounts,omitempty"`
	Bounds  []float64 `json:"explicitBounds,omitempty"`
}

type metric struct {
	Name      string     `json:"name"`
	Unit      string     `json:"unit,omitempty"`
	Help      string     `json:"description,omitempty"`
	Sum       *sum       `json:"sum,omitempty"`
	Histogram *histogram `json:"histogram,omitempty"`
}

// cumulative says that values count from the start, not from the last time.
const cumulative = 2

type sum struct {
	Points      []point `json:"dataPoints"`
	Temporality int     `json:"aggregationTemporality"`
	Grows       bool    `json:"isMonotonic"`
}

type histogram struct {
	Points      []point `json:"dataPoints"`
	Temporality int     `json:"aggregationTemporality"`
}

// list returns the metrics as OTLP has them.
func (m *metrics) list(now time.Time) []metric {
	byName := map[string]*metric{}
	for _, key := range slices.Sorted(maps.Keys(m.all)) {
		s := m.all[key]
		one := byName[s.Name]
		if one == nil {
			one = &metric{Name: s.Name, Unit: s.Unit, Help: s.Help}
			if s.Bounds == nil {
				one.Sum = &sum{Temporality: cumulative, Grows: true}
			} else {
				one.Histogram = &histogram{Temporality: cumulative}
			}
			byName[s.Name] = one
		}
		total, least, most := s.sum, s.least, s.most
		p := point{Attrs: s.attrs, Start: nanos(s.began), Time: nanos(now)}
		if one.Sum != nil {
			p.Double = &total
			one.Sum.Points = append(one.Sum.Points, p)
			continue
		}
		p.Count, p.Sum, p.Min, p.Max, p.Bounds = strconv.Itoa(s.count), &total, &least, &most, s.Bounds
		for _, n := range s.buckets {
			p.Buckets = append(p.Buckets, strconv.Itoa(n))
		}
		one.Histogram.Points = append(one.Histogram.Points, p)
	}
	out := make([]metric, 0, len(byName))
	for _, one := range byName {
		out = append(out, *one)
	}
	slices.SortFunc(out, func(a, b metric) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
