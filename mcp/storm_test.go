package mcp

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
)

// TestStormOfOrdersEndsInOrder checks that after many concurrent requests the running servers and
// the offered tools agree, and that no process is left.
func TestStormOfOrdersEndsInOrder(t *testing.T) {
	t.Parallel()
	servers := map[string]any{"a": "ok", "b": "slow=50ms", "c": "noeof", "d": "exit"}
	r := newManagerRig(t, servers, nil)
	r.m.Start()
	names := []string{"a", "b", "c", "d"}
	seed := rand.Uint64()
	var wait sync.WaitGroup
	for worker := range 4 {
		wait.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(worker)))
			for range 12 {
				name := names[random.IntN(len(names))]
				switch random.IntN(7) {
				case 0:
					r.call("mcp_disconnect", fmt.Sprintf(`{"name":%q}`, name))
				case 1:
					r.call("mcp_connect", fmt.Sprintf(`{"name":%q,"wait_seconds":0.05}`, name))
				case 2:
					r.m.Reload("", random.IntN(2) == 0)
				case 3:
					if err := r.m.Restart(name); err != nil {
						t.Errorf("restart %s: %v", name, err)
					}
				case 4:
					r.call("mcp:"+name+":echo", `{"text":"x"}`) // may fail: it may be down
				case 5:
					r.call("mcp:"+name+":die", `{}`)
				case 6:
					if lease, err := r.m.Acquire(t.Context(), []string{name}); err == nil {
						lease.Release()
					}
				}
			}
		})
	}
	wait.Wait()
	for _, name := range names {
		if _, err := r.m.Disconnect(name, "the test"); err != nil {
			t.Error(err)
		}
	}
	if got := r.offered(); len(got) != 0 {
		t.Errorf("seed %d: still offered: %v", seed, got)
	}
	for _, d := range r.m.Snapshot() {
		if d.State != StateDisconnected || d.Pid != 0 {
			t.Errorf("seed %d: %s is %s", seed, d.Name, d.State)
		}
	}
	r.m.Close()
	for _, name := range names {
		for _, pid := range r.pids(name) {
			if alive(pid) {
				t.Errorf("seed %d: a process of %s lives", seed, name)
			}
		}
	}
}
