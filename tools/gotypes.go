// Command gotypes prints, as JSON, what Kubernetes' OpenAPI documents leave out about its Go types:
// how each field is declared, and which kinds the API server can read.
package main

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	aggregator "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/controlplane"
)

// facts is the document that is printed.
type facts struct {
	// Schemes are the sets of kinds that each part of the server knows.
	Schemes []kinds `json:"schemes"`
	// Types have their fields by OpenAPI name, then JSON name in the order of Go:
	// "Go type,omission,embedded struct,protobuf number,Go name". The field numbered 2.1 is the
	// first of an embedded struct, which protobuf has as a message of its own in field 2.
	Types map[string]*fields `json:"types"`
}

// fields are the declarations of a type, in order.
type fields struct {
	names        []string
	declarations map[string]string
}

func (f *fields) add(name, declaration string) {
	if _, seen := f.declarations[name]; !seen {
		f.names = append(f.names, name)
	}
	f.declarations[name] = declaration
}

// MarshalJSON keeps the order, which a map would not.
func (f *fields) MarshalJSON() ([]byte, error) {
	var written bytes.Buffer
	written.WriteByte('{')
	for index, name := range f.names {
		if index > 0 {
			written.WriteByte(',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(f.declarations[name])
		if err != nil {
			return nil, err
		}
		written.Write(key)
		written.WriteByte(':')
		written.Write(value)
	}
	written.WriteByte('}')
	return written.Bytes(), nil
}

// kinds name the Go type that a kind becomes inside the server, by "group/version", then kind.
type kinds map[string]map[string]string

func main() {
	found := facts{Types: map[string]*fields{}}
	for _, scheme := range []*runtime.Scheme{legacyscheme.Scheme, apiextensions.Scheme, aggregator.Scheme} {
		known := kinds{}
		for gvk, goType := range scheme.AllKnownTypes() {
			if gvk.Version == runtime.APIVersionInternal {
				continue
			}
			describe(goType, found.Types)
			version := gvk.GroupVersion().String()
			if known[version] == nil {
				known[version] = map[string]string{}
			}
			known[version][gvk.Kind] = internal(scheme, gvk)
		}
		found.Schemes = append(found.Schemes, known)
	}
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		panic(err)
	}
}

// internal names the type to which the server converts a kind; "" where there is none.
func internal(scheme *runtime.Scheme, gvk schema.GroupVersionKind) string {
	gvk.Version = runtime.APIVersionInternal
	if object, err := scheme.New(gvk); err == nil {
		return reflect.TypeOf(object).Elem().String()
	}
	return ""
}

// describe adds a type, and every type in it, to types.
func describe(goType reflect.Type, types map[string]*fields) {
	switch goType.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		describe(goType.Elem(), types)
	case reflect.Struct:
		name := openAPIName(goType)
		if _, seen := types[name]; !seen {
			types[name] = &fields{declarations: map[string]string{}}
			addFields(goType, "", "", types[name], types)
		}
	}
}

func addFields(goType reflect.Type, embedded, within string, found *fields, types map[string]*fields) {
	for field := range goType.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		number := within + protobufNumber(field)
		switch {
		case !field.IsExported() || name == "-":
		case field.Anonymous && name == "" && field.Type.Kind() == reflect.Struct:
			addFields(field.Type, embedded+field.Name+".", number+".", found, types)
		case name != "":
			declaration := []string{field.Type.String(), omission(options), embedded, number, field.Name}
			found.add(name, strings.Join(declaration, ","))
			describe(field.Type, types)
		}
	}
}

// omission is how a field may be left out; of two ways the one that leaves out more.
func omission(options string) string {
	for _, each := range []string{"omitzero", "omitempty"} {
		if strings.Contains(options, each) {
			return each
		}
	}
	return ""
}

// protobufNumber is the second part of a tag such as "bytes,1,opt,name=metadata"; "" without one.
func protobufNumber(field reflect.StructField) string {
	_, rest, _ := strings.Cut(field.Tag.Get("protobuf"), ",")
	number, _, _ := strings.Cut(rest, ",")
	return number
}

func openAPIName(goType reflect.Type) string {
	host, path, _ := strings.Cut(goType.PkgPath(), "/")
	name, domain, _ := strings.Cut(host, ".")
	return domain + "." + name + "." + strings.ReplaceAll(path, "/", ".") + "." + goType.Name()
}
