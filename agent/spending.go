package agent

import (
	"fmt"
	"sync"

	"jcode/agent/model"
	"jcode/internal/text"
	"jcode/session"
)

// spending is what a conversation has used, and what it may cost. What a sub-agent uses is charged to the
// conversation that it works for at once, whose limit holds for all.
type spending struct {
	within *spending // of the conversation that this one works for; nil for a person's own

	mu    sync.Mutex
	total model.Usage
	cost  float64
	most  float64 // in US dollars; 0 means no limit
}

// read takes over the totals of a stored session.
func (s *spending) read(kept session.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total = model.Usage{Input: int(kept.InputTokens), Output: int(kept.OutputTokens), Cached: int(kept.CachedTokens), Written: int(kept.WrittenTokens), Estimated: kept.Estimated}
	s.cost = kept.Cost
}

// count adds what an answer used; nil for nothing.
func (s *spending) count(u *session.Usage) {
	if u == nil || s == nil {
		return
	}
	s.mu.Lock()
	s.total.Input += u.Input
	s.total.Output += u.Output
	s.total.Cached += u.Cached
	s.total.Written += u.Written
	s.total.Searches += u.Searches
	s.total.Estimated = s.total.Estimated || u.Estimated
	s.cost += u.Cost
	s.mu.Unlock()
	s.within.count(u)
}

// sum returns what has been used so far.
func (s *spending) sum() (model.Usage, float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total, s.cost
}

// limit sets what may be spent.
func (s *spending) limit(most float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most = most
}

// over returns an error once the limit is reached.
func (s *spending) over() error {
	if s.within != nil {
		return s.within.over()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.most > 0 && s.cost >= s.most {
		return fmt.Errorf("stopped: the cost of this session, %s, has reached --max-cost %s", text.Spent(s.cost, s.total.Estimated), text.Dollars(s.most))
	}
	return nil
}
