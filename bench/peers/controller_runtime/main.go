// informer: every AppService in a cache, with controller-runtime as its documentation shows.
//
// Prints how many there are as one line of JSON once all of them have been handed to its handler,
// and stays until its standard input is closed.
package main

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"os"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

func main() {
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
	if err := AddToScheme(scheme); err != nil {
		return err
	}
	apps, err := cache.New(config, cache.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- apps.Start(ctx) }()

	informer, err := apps.GetInformer(ctx, &AppService{})
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
	if err := json.NewEncoder(os.Stdout).Encode(map[string]int64{"objects": seen.Load()}); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	stop()
	return <-ended
}
