package dial

import (
	"context"
	"sync"
	"time"

	"jcode/agent/model/provider"
)

// Found is a server that answered on this machine.
type Found struct {
	Provider provider.Config
	Models   []provider.Listed
}

// localWait is how long a server on this machine may take to list its models.
const localWait = 600 * time.Millisecond

// DetectLocal asks the local ones of the given providers for their models, all at once, and returns those
// that answered, in the given order. It takes at most 0.6 seconds.
func DetectLocal(ctx context.Context, providers []provider.Config) []Found {
	ctx, cancel := context.WithTimeout(ctx, localWait)
	defer cancel()
	found := make([]*Found, len(providers))
	var wg sync.WaitGroup
	for i, p := range providers {
		if !p.Local {
			continue
		}
		wg.Go(func() {
			c, err := Open(p)
			if err != nil {
				return // a wrong URL in config is reported where it is used
			}
			defer c.Close()
			if list, err := c.ListModels(ctx); err == nil {
				found[i] = &Found{Provider: p, Models: list}
			}
		})
	}
	wg.Wait()
	var out []Found
	for _, f := range found {
		if f != nil {
			out = append(out, *f)
		}
	}
	return out
}
