package endpoint

import (
	"context"

	"jcode/agent/model"
)

// Question is one request in the form in which it is sent next: what all protocols do alike around the form and the
// answer, which are theirs. F are the features that a protocol learns of an endpoint's model.
type Question[F any] struct {
	End      *Endpoint
	Protocol string
	Req      *model.Request
	F        *F
	Learned  *Learned[F]
	Body     []byte

	// Encode returns the body by what is known of the model.
	Encode func(*Question[F]) []byte
	// Learn looks for another form of a refused request.
	Learn func(*F, *model.Request, Fault) (notice string, ok bool)
	// Send sends the body once, and reads the answer. Whether parent has ended says who ended ctx.
	Send func(ctx, parent context.Context, q *Question[F], x *Exchange, say *Speaker) Answer
	// Judge says more of a failure; it may be nil.
	Judge func(*Question[F], *Exchange, *Failure)
}

// Answer is what came back for a question.
type Answer struct {
	Response model.Response
	Whole    bool        // nothing is missing
	Counted  bool        // the response has the server's usage
	Used     model.Usage // what the server counted, also of half an answer
	Err      error
	// Failed says why a whole answer is of no use; nil for one that is.
	Failed *Failure
}

// Ask sends the request, and repeats it as long as that may help.
func (q *Question[F]) Ask(ctx context.Context, emit func(model.Event)) (model.Response, error) {
	q.Body = q.Encode(q)
	return q.End.Ask(ctx, q.Req, q, emit)
}

// Adapt looks for another form of a refused request, and remembers it.
func (q *Question[F]) Adapt(bad *Failure) (string, bool) {
	notice, ok := q.Learn(q.F, q.Req, bad.Fault)
	if ok {
		q.Learned.Keep(q.Req.Model, q.F)
		q.Body = q.Encode(q)
	}
	return notice, ok
}

// Sent implements Protocol.
func (q *Question[F]) Sent() []byte { return q.Body }

// Attempt sends the request once.
func (q *Question[F]) Attempt(parent context.Context, say *Speaker) (model.Response, *Failure) {
	ctx, silent, stop := q.End.Watch(parent)
	defer stop()
	x := &Exchange{Asked: q.Req.Model, Silent: silent}
	a := q.Send(ctx, parent, q, x, say)
	switch {
	case !a.Whole:
		a.Response.Opaque = nil // it belongs to an incomplete answer
		bad := q.End.Judge(ctx, x, a.Err)
		bad.Used = a.Used
		if q.Judge != nil {
			q.Judge(q, x, bad)
		}
		return a.Response, bad
	case a.Failed != nil:
		a.Failed.Used = a.Used
		return a.Response, a.Failed
	}
	q.End.Sign(&a.Response, q.Protocol, q.Req.Model)
	if !a.Counted {
		a.Response.Usage = Estimate(q.Body, &a.Response)
	}
	return a.Response, nil
}

// Sound reports whether nothing went wrong while an answer was read: it has no error object, and nobody ended it.
func (x *Exchange) Sound(parent context.Context) bool { return !x.HasFault() && parent.Err() == nil }
