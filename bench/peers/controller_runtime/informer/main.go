// informer: every AppService in a cache, with controller-runtime as its documentation shows.
//
// Prints how many there are as one line of JSON once all of them have been handed to its handler,
// stays until its standard input is closed, and prints what its cache holds as another.
// With -strip-managed-fields, those are not kept.
// With -collect-after, it gives back what memory it does not need, so long after that line.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"log"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"steersman.invalid/bench/appservice"
)

var (
	strip        = flag.Bool("strip-managed-fields", false, "do not keep managedFields in the cache")
	collectAfter = flag.Duration("collect-after", 0, "collect garbage once, so long after the line")
)

func main() {
	flag.Parse()
	ctrl.SetLogger(zap.New())
	if err := run(ctrl.SetupSignalHandler()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := appservice.AddToScheme(scheme); err != nil {
		return err
	}
	options := cache.Options{Scheme: scheme}
	if *strip {
		options.DefaultTransform = cache.TransformStripManagedFields()
	}
	apps, err := cache.New(config, options)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- apps.Start(ctx) }()

	informer, err := apps.GetInformer(ctx, &appservice.AppService{})
	if err != nil {
		return err
	}
	var seen atomic.Int64
	handler, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { seen.Add(1) },
	})
	if err != nil {
		return err
	}
	for !handler.HasSynced() {
		time.Sleep(time.Millisecond)
	}
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(map[string]int64{"objects": seen.Load()}); err != nil {
		return err
	}
	if *collectAfter > 0 {
		// Left to itself, a process that does nothing collects once in two minutes.
		time.AfterFunc(*collectAfter, debug.FreeOSMemory)
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	var list appservice.AppServiceList
	if err := apps.List(ctx, &list); err != nil {
		return err
	}
	if err := out.Encode(held(list.Items)); err != nil {
		return err
	}
	stop()
	return <-ended
}

// held is what is kept, in short: how many, and one number that tells them apart.
func held(apps []appservice.AppService) map[string]int64 {
	lines, digest := map[string]bool{}, int64(0)
	for i := range apps {
		app := &apps[i]
		line := fmt.Sprintf("%s/%s %s %d", app.Namespace, app.Name, app.Spec.Image, app.Spec.Size)
		lines[line] = true
		digest += int64(crc32.ChecksumIEEE([]byte(line)))
	}
	return map[string]int64{"objects": int64(len(lines)), "digest": digest}
}
