// Package cloudtest is what clouds put before models: Azure OpenAI, Amazon Bedrock and Google Vertex, each as strict as
// the real one about addresses, keys, signatures and times. What they let through is answered by a modeltest.Handler.
//
// It must not know jcode's own packages: it speaks HTTP and JSON only.
package cloudtest
