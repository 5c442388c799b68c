package notes

// Items returns what a Markdown text says item by item, or paragraph by paragraph, as notes of a topic. What is too long
// for a note is left out.
func Items(content, topic string) (out []New) {
	for _, b := range parseFile(content).blocks {
		if b.note != nil && len(b.note.Text) <= maxText {
			out = append(out, New{Text: b.note.Text, Topic: topic, By: ByAgent})
		}
	}
	return out
}
