package endpoint

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"jcode/agent/model"
)

// pictureLimit finds in a refusal how many pictures a request may have; 0 when it does not say.
func pictureLimit(f Fault) int {
	said := strings.ToLower(strings.ReplaceAll(f.message, ",", ""))
	for _, pattern := range []string{
		`(?:at most|maximum of|up to|limit of|limit is|max|maximum|more than|limited to) (\d+) (?:\w+ )?images?\b`, `images?\b[^.]*\b\d+ > (\d+)`, `images?\b[^.]*(?:limit|maximum|at most|up to)\D{0,12}(\d+)\b`,
	} {
		if m := regexp.MustCompile(pattern).FindStringSubmatch(said); m != nil && !strings.Contains(said, "pixel") && !strings.Contains(said, " mb") && !strings.Contains(said, "bytes") {
			n, err := strconv.Atoi(m[1])
			if err == nil && n > 0 && n <= maxPictures {
				return n
			}
		}
	}
	return 0
}

// maxPictures is the highest plausible limit.
const maxPictures = 5000

func pictures(r *model.Request) (n int) {
	for i := range r.Messages {
		n += len(r.Messages[i].Images)
	}
	return n
}

// LearnPictures finds in a refusal how many pictures a request may have, and says what is done.
func (f *Form) LearnPictures(r *model.Request, refusal Fault) (string, bool) {
	n := pictureLimit(refusal)
	if n == 0 || !f.Images || pictures(r) <= n || f.Pictures > 0 && f.Pictures <= n {
		return "", false
	}
	f.Pictures = n
	return fmt.Sprintf("%s: the provider takes %d pictures at most; the oldest are left out", r.Model, n), true
}

// Fit returns a request without the oldest pictures, if the endpoint takes fewer than it has.
func (f *Form) Fit(r *model.Request) *model.Request {
	over := pictures(r) - f.Pictures
	if f.Pictures == 0 || over <= 0 {
		return r
	}
	fitting := *r
	fitting.Messages = slices.Clone(r.Messages)
	for i := range fitting.Messages {
		m := &fitting.Messages[i]
		drop := min(over, len(m.Images))
		if drop == 0 {
			continue
		}
		for _, img := range m.Images[:drop] {
			note := "[an older picture is left out: the provider takes only so many]"
			if img.Text != "" {
				note = img.Text
			}
			m.Text = strings.TrimSpace(m.Text + "\n" + note)
		}
		m.Images = m.Images[drop:]
		over -= drop
	}
	return &fitting
}
