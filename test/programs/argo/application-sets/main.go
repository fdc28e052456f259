// What Argo CD makes of ApplicationSets, without a cluster and without git. Reads
// questions, one JSON value each, and answers each with a line.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"github.com/sirupsen/logrus"
)

type question struct {
	// Text by path, of the repository that the generators name.
	Files          map[string]string       `json:"files"`
	ApplicationSet v1alpha1.ApplicationSet `json:"applicationSet"`
}

// An error is an answer.
type answer struct {
	Applications []v1alpha1.Application `json:"applications"`
	Error        string                 `json:"error,omitempty"`
}

func main() {
	logrus.SetOutput(io.Discard)
	decoder, encoder := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var asked question
		if err := decoder.Decode(&asked); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			fmt.Fprintln(os.Stderr, "the question cannot be read:", err)
			os.Exit(1)
		}
		var answered answer
		made, err := applications(asked.ApplicationSet, asked.Files)
		if err != nil {
			answered.Error = err.Error()
		} else {
			answered.Applications = made
		}
		if err := encoder.Encode(answered); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
