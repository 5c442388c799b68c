package remote

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/creachadair/jrpc2"

	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/internal/picture"
	"jcode/internal/text"
)

// Actions are what a session lets others do that its owner does with commands.
type Actions interface {
	// Undo puts back what the last turn changed, Redo what the last undo put back. What they return says which files.
	Undo(ctx context.Context) (said string, err error)
	Redo(ctx context.Context) (said string, err error)
	// Rewind goes back to before a message of the user, by its number in the session: with the conversation, "files"
	// or "both". draft is the message.
	Rewind(ctx context.Context, seq int64, what string) (said, draft string, err error)
	// SetRole works in a role, "" in none.
	SetRole(ctx context.Context, name string) error
	// Choices are the roles and models that can be set.
	Choices(ctx context.Context) (Choices, error)
	// Files names files of the session's folder, without those that must not be read.
	Files(ctx context.Context, query string, most int) ([]string, error)
	// Output is what is kept of what an agent says, Message is read by it at its next step, Stop stops it.
	Output(name string) string
	Message(ctx context.Context, name, said string) error
	Stop(ctx context.Context, name string) error
}

// The parameters and results of what sessions let others do.
type (
	// Undo (undo) puts back what the last turn changed, or with Redo what the last undo put back. Said answers it.
	Undo struct {
		Session string `json:"session"`
		Redo    bool   `json:"redo,omitempty"`
	}
	// Said is what was done, for the user.
	Said struct {
		Said string `json:"said"`
	}
	// Rewind (rewind) goes back to before a message, with the conversation, the files, or both. Rewound answers it.
	Rewind struct {
		Session string `json:"session"`
		Seq     int64  `json:"seq"`            // of the user's message
		What    string `json:"what,omitempty"` // "" for the conversation, files, both
	}
	// Rewound says what was done. Draft is the message that is gone from the conversation.
	Rewound struct {
		Said  string `json:"said,omitempty"`
		Draft string `json:"draft,omitempty"`
	}
	// RoleOf (role) works in a role, in none without a name.
	RoleOf struct {
		Session string `json:"session"`
		Name    string `json:"name,omitempty"`
	}
	// Choices answers choices: the roles and models that can be set.
	Choices struct {
		Roles  []Choice `json:"roles"`
		Models []Choice `json:"models"`
	}
	// Choice is a role or model.
	Choice struct {
		Name    string `json:"name"`
		Info    string `json:"info,omitempty"`
		Current bool   `json:"current,omitempty"`
	}
	// FilesOf (files) asks for names of files that contain a text. Names answers it.
	FilesOf struct {
		Session string `json:"session"`
		Query   string `json:"query"`
	}
	// Names are paths in the session's folder.
	Names struct {
		Names []string `json:"names"`
	}
	// AgentOf (agents.output, agents.stop, agents.message) names an agent. Text is the message.
	AgentOf struct {
		Session string `json:"session"`
		Name    string `json:"name"`
		Text    string `json:"text,omitempty"`
	}
	// AgentOutput answers agents.output.
	AgentOutput struct {
		Text string `json:"text"`
	}
	// Picture goes along with a prompt. In JSON the data is base64.
	Picture struct {
		Name string `json:"name,omitempty"`
		Data []byte `json:"data"`
	}
)

// The limits of actions.
const (
	// jobWithin is how long something may wait for its place between two turns.
	jobWithin   = 10 * time.Second
	mostNames   = 20
	mostPicture = 8
	maxPicture  = 16 << 20
	maxQuery    = 1000
)

// between runs something that has its place between two turns. It does not wait for the end of one.
func (c *connection) between(ctx context.Context, session string, do func(ctx context.Context, h *hub) (any, error)) (any, error) {
	h, err := c.acting(session)
	if err != nil {
		return nil, err
	}
	if h.offer.State().Busy {
		return nil, busy("a turn is running: stop it, or wait for its end")
	}
	ctx, cancel := context.WithTimeout(ctx, jobWithin)
	defer cancel()
	out, err := do(ctx, h)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, busy("it was not done: a turn has begun meanwhile")
	case err != nil:
		return nil, said(err)
	}
	return out, nil
}

// acting returns a session that this client controls, and that lets others do more than talk.
func (c *connection) acting(session string) (*hub, error) {
	h, err := c.controlled(session)
	if err == nil && h.offer.Actions == nil {
		return nil, refused("this session offers nothing of the kind")
	}
	return h, err
}

// said returns an error of a session as one of the protocol, unless it is one.
func said(err error) error {
	if _, coded := errors.AsType[*jrpc2.Error](err); coded {
		return err
	}
	return refused("%s", text.Clean(err.Error()))
}

func (c *connection) undo(ctx context.Context, p Undo) (any, error) {
	return c.between(ctx, p.Session, func(ctx context.Context, h *hub) (any, error) {
		do := h.offer.Actions.Undo
		if p.Redo {
			do = h.offer.Actions.Redo
		}
		report, err := do(ctx)
		if err == nil {
			c.tell(h, "%s: %s", c.who(), report)
		}
		return Said{report}, err
	})
}

func (c *connection) rewind(ctx context.Context, p Rewind) (any, error) {
	if p.What != "" && p.What != "files" && p.What != "both" {
		return nil, invalid("what is %q: it is files, both, or nothing for the conversation", p.What)
	}
	return c.between(ctx, p.Session, func(ctx context.Context, h *hub) (any, error) {
		report, draft, err := h.offer.Actions.Rewind(ctx, p.Seq, p.What)
		if err == nil {
			c.tell(h, "%s rewound %s.", c.who(), map[string]string{"": "the conversation", "files": "the files", "both": "the conversation and the files"}[p.What])
		}
		return Rewound{report, draft}, err
	})
}

func (c *connection) role(ctx context.Context, p RoleOf) (any, error) {
	return c.between(ctx, p.Session, func(ctx context.Context, h *hub) (any, error) {
		err := h.offer.Actions.SetRole(ctx, p.Name)
		if err == nil && p.Name == "" {
			c.tell(h, "%s ended the role.", c.who())
		} else if err == nil {
			c.tell(h, "%s set role %s.", c.who(), text.Visible(p.Name))
		}
		return struct{}{}, err
	})
}

func (c *connection) choices(ctx context.Context, p Of) (any, error) {
	h, err := c.acting(p.Session)
	if err != nil {
		return nil, err
	}
	out, err := h.offer.Actions.Choices(ctx)
	out.Roles, out.Models = append([]Choice{}, out.Roles...), append([]Choice{}, out.Models...)
	return out, err
}

func (c *connection) files(ctx context.Context, p FilesOf) (any, error) {
	h, err := c.acting(p.Session)
	if err != nil {
		return nil, err
	}
	names, err := h.offer.Actions.Files(ctx, text.Cut(text.Valid(p.Query), maxQuery), mostNames)
	return Names{append([]string{}, names...)}, err
}

func (c *connection) agentOutput(_ context.Context, p AgentOf) (any, error) {
	h, err := c.followed(p.Session)
	if err != nil {
		return nil, err
	}
	if h.offer.Actions == nil {
		return nil, refused("this session offers nothing of the kind")
	}
	return AgentOutput{text.Valid(h.offer.Actions.Output(p.Name))}, nil
}

func (c *connection) agentStop(ctx context.Context, p AgentOf) (any, error) {
	h, err := c.acting(p.Session)
	if err != nil {
		return nil, err
	}
	if err := h.offer.Actions.Stop(ctx, p.Name); err != nil {
		return nil, said(err)
	}
	c.tell(h, "%s stopped agent %s.", c.who(), text.Visible(p.Name))
	return struct{}{}, nil
}

func (c *connection) agentMessage(ctx context.Context, p AgentOf) (any, error) {
	h, err := c.acting(p.Session)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(p.Text) == "" || len(p.Text) > maxPrompt {
		return nil, invalid("a message has between 1 and %d bytes", maxPrompt)
	}
	if err := h.offer.Actions.Message(ctx, p.Name, text.Valid(p.Text)); err != nil {
		return nil, said(err)
	}
	c.tell(h, "%s wrote to agent %s.", c.who(), text.Visible(p.Name))
	return struct{}{}, nil
}

// promptOf returns a prompt with its pictures, which are checked and made as small as models take them.
func promptOf(p Prompt) (event.Prompt, error) {
	out := event.Prompt{Text: text.Valid(p.Text)}
	if len(p.Pictures) == 0 {
		return out, nil
	}
	if len(p.Pictures) > mostPicture {
		return out, invalid("a prompt has at most %d pictures", mostPicture)
	}
	var labels []string
	for i, pic := range p.Pictures {
		name := text.Ellipsis(text.OneLine(text.Visible(pic.Name)), 40)
		if name == "" {
			name = fmt.Sprintf("picture %d", i+1)
		}
		if len(pic.Data) > maxPicture {
			return out, invalid("%s: it has more than %d MB", name, maxPicture>>20)
		}
		mime, err := picture.Check(pic.Data)
		if err != nil {
			return out, invalid("%s: %v", name, err)
		}
		data, _ := picture.Fit(pic.Data, mime)
		out.Images = append(out.Images, model.Image{MIME: mime, Data: data})
		if w, h, ok := picture.Size(data); ok {
			name = fmt.Sprintf("%s %d×%d", name, w, h)
		}
		labels = append(labels, "["+name+"]")
	}
	shown := strings.Join(labels, " ")
	if strings.TrimSpace(out.Text) == "" {
		out.Text = shown
		return out, nil
	}
	out.Shown = strings.TrimRight(out.Text, "\n") + "\n" + shown
	return out, nil
}
