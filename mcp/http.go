package mcp

import (
	"context"
	"errors"
)

func (d dialer) connectHTTP(ctx context.Context, e Entry, t resolved, log *serverLog, hooks sessionHooks) (*session, error) {
	return nil, errors.New("not yet")
}
