package acp

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/coder/acp-go-sdk"

	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/internal/picture"
)

// message turns a prompt's blocks into what is sent to the model. The transcript shows the person's text;
// what the editor attached follows it.
func (o *openSession) message(ctx context.Context, blocks []acp.ContentBlock) (event.Prompt, error) {
	var said, attached []string
	var images []model.Image
	for i, b := range blocks {
		switch {
		case b.Text != nil:
			if i > 0 && blocks[i-1].Text != nil {
				said = append(said, "\n\n")
			}
			said = append(said, b.Text.Text)
		case b.ResourceLink != nil:
			said = append(said, mention(b.ResourceLink.Uri, b.ResourceLink.Name, o.cwd))
		case b.Image != nil:
			image, err := decodeImage(b.Image.Data)
			if err != nil {
				return event.Prompt{}, invalid("block %d: %v", i+1, err)
			}
			images = append(images, image)
		case b.Resource != nil:
			text, image, err := embedded(b.Resource.Resource)
			if err != nil {
				return event.Prompt{}, invalid("block %d: %v", i+1, err)
			}
			if text != "" {
				attached = append(attached, text)
			}
			if image != nil {
				images = append(images, *image)
			}
		default:
			return event.Prompt{}, invalid("block %d: this kind of content is not understood", i+1)
		}
	}
	typed := strings.TrimSpace(joined(said))
	if typed == "" && len(attached) == 0 && len(images) == 0 {
		return event.Prompt{}, invalid("the prompt is empty")
	}
	select {
	case <-o.ready:
	case <-ctx.Done():
		return event.Prompt{}, ctx.Err()
	}
	p, notice, err := o.w.Prompt(ctx, typed)
	if err != nil {
		return p, invalid("%v", err)
	}
	if notice != "" {
		if p.Text != "" {
			notice += "\n\n" // the model's answer follows
		}
		o.answer(notice)
		if p.Text == "" { // the prompt was only the command
			return p, nil
		}
	}
	p.Images = append(p.Images, images...)
	if len(attached) > 0 {
		if p.Shown == "" {
			p.Shown = p.Text
		}
		p.Text = strings.TrimSpace(p.Text + "\n\n" + strings.Join(attached, "\n\n"))
	}
	return p, nil
}

// mention names a linked resource in the text: a file as the person would type it.
func mention(uri, name, cwd string) string {
	if path, ok := filePath(uri); ok {
		if rel, err := filepath.Rel(cwd, path); err == nil && !strings.HasPrefix(rel, "..") {
			path = rel
		}
		return "@" + path + place(uri)
	}
	if name == "" || name == uri {
		return uri
	}
	return fmt.Sprintf("[%s](%s)", name, uri)
}

// place returns what a link to a file says besides the file, as text for the model: lines, a symbol.
func place(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return ""
	}
	var parts []string
	if query, err := url.QueryUnescape(u.RawQuery); err == nil && query != "" {
		parts = append(parts, "?"+query)
	}
	if u.Fragment != "" {
		parts = append(parts, "#"+u.Fragment)
	}
	if parts == nil {
		return ""
	}
	return " (" + strings.Join(parts, "") + ")"
}

// joined joins a prompt's blocks so that no two words become one.
func joined(blocks []string) string {
	var b strings.Builder
	for _, s := range blocks {
		if b.Len() > 0 && s != "" {
			last, _ := utf8.DecodeLastRuneInString(b.String())
			first, _ := utf8.DecodeRuneInString(s)
			if !unicode.IsSpace(last) && !unicode.IsSpace(first) && !unicode.IsPunct(first) || first == '@' && !unicode.IsSpace(last) {
				b.WriteByte(' ')
			}
		}
		b.WriteString(s)
	}
	return b.String()
}

func filePath(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return "", false
	}
	return filepath.FromSlash(u.Path), true
}

// embedded returns a resource that the editor attached: text for the model, or a picture.
func embedded(r acp.EmbeddedResourceResource) (string, *model.Image, error) {
	switch {
	case r.TextResourceContents != nil:
		uri := r.TextResourceContents.Uri
		if path, ok := filePath(uri); ok {
			uri = path
		}
		return fmt.Sprintf("<context uri=%q>\n%s\n</context>", uri, strings.TrimRight(r.TextResourceContents.Text, "\n")), nil, nil
	case r.BlobResourceContents != nil:
		b := r.BlobResourceContents
		if b.MimeType != nil && strings.HasPrefix(*b.MimeType, "image/") {
			image, err := decodeImage(b.Blob)
			return "", &image, err
		}
		kind := "of unknown kind"
		if b.MimeType != nil {
			kind = *b.MimeType
		}
		return fmt.Sprintf("<context uri=%q>\n(binary content, %s, %d bytes: not shown)\n</context>", b.Uri, kind, base64.StdEncoding.DecodedLen(len(b.Blob))), nil, nil
	}
	return "", nil, fmt.Errorf("the embedded resource is empty")
}

func decodeImage(data string) (model.Image, error) {
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return model.Image{}, fmt.Errorf("the image's data is not base64: %w", err)
	}
	if len(raw) == 0 {
		return model.Image{}, fmt.Errorf("the image has no data")
	}
	mime, err := picture.Check(raw) // its actual type, whatever the client says
	if err != nil {
		return model.Image{}, fmt.Errorf("the image can't be sent: %w", err)
	}
	raw, _ = picture.Fit(raw, mime)
	return model.Image{MIME: mime, Data: raw}, nil
}
