// Package modeltest is a scripted model server for tests and benchmarks. It speaks chat
// completions, Anthropic's Messages and OpenAI's Responses, by the path of a request. A script has one Reply per request; every request is recorded with
// its time and checked as strictly as the strictest real server checks it: a breach
// is answered with 400 and fails the test.
//
//	srv := modeltest.New(t,
//		modeltest.Calls(modeltest.Call{Name: "read", Args: `{"path":"a.txt"}`}),
//		modeltest.Text("done"),
//	)
//	client := newClient(srv.URL())
//
// It must not know jcode's own packages: it speaks HTTP and JSON only.
package modeltest
