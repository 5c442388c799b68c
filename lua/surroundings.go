package lua

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"sync/atomic"

	"jcode/lua/pool"
	"jcode/lua/wire"
	"jcode/tools"
)

// surroundings are what Lua code needs of the jcode that it runs in, whoever runs it: the dispatcher and what else the
// options name, hosts, logs, approvals, and the other scripts. A script or a call knows them, not the room.
type surroundings struct {
	opts      Options
	pool      *pool.Pool
	logs      logs
	approvals approvals
	held      held
	calls     atomic.Uint64
	salt      string
	division  division
}

// held is what there is beside a script: other scripts, and folders of tools.
type held interface {
	scripts() []*script
	slots() map[string]*slot
}

func newSurroundings(opts Options, others held) *surroundings {
	var salt [4]byte
	_, _ = rand.Read(salt[:]) // never fails
	a := &surroundings{opts: opts, held: others, salt: hex.EncodeToString(salt[:])}
	a.approvals = approvals{store: opts.State, project: opts.ProjectID, logs: &a.logs, known: map[string]approval{}}
	a.pool = pool.NewPool(opts.start, opts.idleLimit)
	return a
}

func (a *surroundings) notice(level, text string) {
	a.logs.add("lua", level, text)
	if a.opts.Notices != nil {
		a.opts.Notices.Notice(level, text)
	}
}

// standing returns the caller for code that runs without a call of the model.
func (a *surroundings) standing() tools.Caller {
	if a.opts.Standing == nil {
		return tools.Caller{Origin: tools.OriginScript}
	}
	c := a.opts.Standing()
	c.Origin = tools.OriginScript
	return c
}

func (a *surroundings) callID() string { return fmt.Sprintf("lua_%s_%d", a.salt, a.calls.Add(1)) }

// runPooled carries out one job on a host of the pool.
func (a *surroundings) runPooled(ctx context.Context, st *principal, j pool.Job) (*wire.Message, *pool.Failure) {
	c, err := a.pool.Take(ctx)
	if err != nil && ctx.Err() != nil { // not a failure of the script
		return nil, pool.Cancelled(ctx)
	}
	if err != nil {
		return nil, &pool.Failure{Kind: tools.KindKilled, Text: err.Error(), Limit: true}
	}
	j.Env, j.Owner = st.env, st
	if c.Env != st.env {
		init := &wire.Message{Type: wire.TypeInit, Name: st.env.String(), Value: wire.NewObject("pwd", a.opts.startDir(), "owner", st.owner)}
		if err := c.Send(init); err != nil {
			c.Kill()
			return nil, &pool.Failure{Kind: tools.KindKilled, Text: "the host ended unexpectedly: " + err.Error(), Limit: true}
		}
		c.Env = st.env
	}
	key := j.Msg.Name + "\x00" + j.Msg.Hash
	if c.Hashes[key] {
		j.Msg.Text = ""
	}
	msg, fail := c.Do(ctx, j)
	if fail == nil && j.Msg.Hash != "" {
		c.Hashes[key] = true
	}
	if fail == nil || !fail.Broken {
		a.pool.Put(c)
	} else {
		a.pool.Warm()
	}
	return msg, fail
}
