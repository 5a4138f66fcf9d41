// Command chart does with a chart what helm does before it connects to a server:
//
//	chart [-release R] [-namespace N] [-values FILE] template|notes|lint DIR
//
// The result goes to standard output, objects as JSON with one on each line. An error goes to
// standard error, and the command exits with 1.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/yaml"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
)

const notes = "NOTES.txt"

var (
	release   = flag.String("release", "release", "the name of the release")
	namespace = flag.String("namespace", "default", "namespace of the release")
	file      = flag.String("values", "", "a file with values")
)

func main() {
	flag.Parse()
	if flag.NArg() != 2 {
		flag.Usage()
		os.Exit(2)
	}
	verb, directory := flag.Arg(0), flag.Arg(1)
	if err := run(verb, directory); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(verb, directory string) error {
	values := map[string]any{}
	if *file != "" {
		read, err := common.ReadValuesFile(*file)
		if err != nil {
			return err
		}
		values = read
	}
	switch verb {
	case "lint":
		for _, message := range lint.RunAll(directory, values, *namespace).Messages {
			fmt.Println(message.Error())
		}
		return nil
	case "template", "notes":
		rendered, err := render(directory, values)
		if err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(rendered)) {
			isNotes := path.Base(name) == notes
			// A file that begins with an underscore only defines named templates.
			isManifest := !isNotes && !strings.HasPrefix(path.Base(name), "_")
			if verb == "notes" && isNotes {
				fmt.Print(rendered[name])
			} else if verb == "template" && isManifest {
				if err := printObjects(rendered[name]); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
		return nil
	}
	return fmt.Errorf("%s: neither template, notes nor lint", verb)
}

func printObjects(manifest string) error {
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifest), 4096)
	for {
		var object map[string]any
		if err := decoder.Decode(&object); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if len(object) == 0 {
			continue
		}
		line, err := json.Marshal(object)
		if err != nil {
			return err
		}
		fmt.Println(string(line))
	}
}

func render(directory string, values map[string]any) (map[string]string, error) {
	chart, err := loader.Load(directory)
	if err != nil {
		return nil, err
	}
	options := common.ReleaseOptions{
		Name: *release, Namespace: *namespace, Revision: 1, IsInstall: true,
	}
	all, err := util.ToRenderValues(chart, values, options, nil)
	if err != nil {
		return nil, err
	}
	rendered, err := engine.Render(chart, all)
	if err != nil {
		return nil, err
	}
	for _, crd := range chart.CRDObjects() {
		rendered[path.Join(chart.Name(), crd.Filename)] = string(crd.File.Data)
	}
	return rendered, nil
}
