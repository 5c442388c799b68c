package cli

import (
	"context"

	"jcode/agent"
	"jcode/cli/demo"
	modelscli "jcode/cli/models"
	"jcode/tools"
)

// newTourSetup returns what `jcode demo` is given.
func newTourSetup(f *flags, std Streams) demo.Setup {
	return demo.Setup{
		Streams: std.Streams, Print: f.Print, Format: f.OutputFormat,
		Open: func(ctx context.Context, p *demo.Play) (demo.Opened, error) {
			f.Model, f.BaseURL, f.Continue, f.Resume, f.Fork = modelscli.ScriptName, "", false, "", false
			own := std
			own.Getenv = p.Getenv
			a, err := (&app{flags: f, std: own, tour: p, env: p.Env}).open(ctx)
			if err != nil {
				return demo.Opened{}, err
			}
			a.models.Play(modelscli.Script{Text: p.Script, Pace: p.Pace, Hold: p.Hold})
			return demo.Opened{Begin: func(asker tools.Asker) (*agent.Conversation, error) { return beginTour(a, asker) }, Attach: func(conv *agent.Conversation) {
				a.board.Attach(conv)
				a.startExtensions()
			}, Init: a.initLine, Chat: a.chat, Close: a.close}, nil
		},
	}
}

// beginTour begins the conversation of a printed tour.
func beginTour(a *app, asker tools.Asker) (*agent.Conversation, error) {
	opt, err := a.options()
	if err != nil {
		return nil, err
	}
	opt.Headless, opt.Asker, a.asker = false, asker, asker
	conv, err := agent.New(opt)
	if err != nil {
		return nil, a.startError(err)
	}
	return conv, nil
}
