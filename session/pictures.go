package session

import (
	"context"
	"crypto/sha256"
	"encoding/json"

	"jcode/session/db"
)

// RefusePicture marks every copy of a picture in a session as one that a provider refused: it
// stays stored and is never sent again. It returns how many copies there were.
func (h History) RefusePicture(ctx context.Context, sessionID string, sum [sha256.Size]byte) (marked int, err error) {
	err = h.s.changeIn(ctx, sessionID, "mark a refused picture", func(t *tx) error {
		marked = 0
		for _, in := range []struct{ list, update string }{
			{
				"SELECT m.id, m.parts FROM messages m JOIN sessions s ON s.n = m.session WHERE s.id = ? AND m.parts LIKE '%\"image\"%'",
				"UPDATE messages SET parts = ? WHERE id = ?",
			},
			{
				"SELECT c.id, c.parts FROM tool_calls c JOIN messages m ON m.id = c.message JOIN sessions s ON s.n = m.session WHERE s.id = ? AND c.parts LIKE '%\"image\"%'",
				"UPDATE tool_calls SET parts = ? WHERE id = ?",
			},
		} {
			n, err := t.refusePicture(in.list, in.update, sessionID, sum)
			if err != nil {
				return err
			}
			marked += n
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return marked, nil
}

func (t *tx) refusePicture(list, update, sessionID string, sum [sha256.Size]byte) (marked int, err error) {
	changed := map[int64]string{}
	err = t.Each(list, []any{sessionID}, func(scan db.Scan) error {
		var id int64
		var raw []byte
		if err := scan(&id, &raw); err != nil {
			return err
		}
		var parts []Part
		if json.Unmarshal(raw, &parts) != nil {
			return nil // a broken row is never sent
		}
		before := marked
		for i := range parts {
			if parts[i].Kind != PartImage {
				continue
			}
			if sha256.Sum256(parts[i].Data) == sum {
				parts[i].Kind = PartRefused
				marked++
			}
		}
		if marked == before {
			return nil
		}
		b, err := json.Marshal(parts)
		changed[id] = string(b)
		return err
	})
	if err != nil {
		return 0, err
	}
	for id, parts := range changed {
		if err := t.run(update, parts, id); err != nil {
			return 0, err
		}
	}
	return marked, nil
}
