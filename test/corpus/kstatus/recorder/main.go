// Records what the real kstatus says. Reads a JSON list of objects, writes the distinct verdicts and, per object, which one
// it got. An error of the library is recorded as {"error": true}: its text is not part of the contract.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

type verdict struct {
	Status  string `json:"status,omitempty"`
	Message string `json:"message,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Error   bool   `json:"error,omitempty"`
}

func judge(raw json.RawMessage) verdict {
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(raw); err != nil {
		panic(err)
	}
	result, err := status.Compute(object)
	if err != nil {
		return verdict{Error: true}
	}
	said := verdict{Status: string(result.Status), Message: result.Message}
	if len(result.Conditions) > 0 {
		said.Reason = result.Conditions[0].Reason
	}
	return said
}

func main() {
	var objects []json.RawMessage
	if err := json.NewDecoder(os.Stdin).Decode(&objects); err != nil {
		panic(err)
	}
	distinct := []verdict{}
	seen := map[verdict]int{}
	of := []int{}
	for _, raw := range objects {
		said := judge(raw)
		index, known := seen[said]
		if !known {
			index = len(distinct)
			seen[said] = index
			distinct = append(distinct, said)
		}
		of = append(of, index)
	}
	out, err := json.Marshal(map[string]any{"verdicts": distinct, "of": of})
	if err != nil {
		panic(err)
	}
	fmt.Println(string(out))
}
