// Colly, with its collector in memory: follows all links and, when the task says so, selects titles.
//
//	colly-pages task.json
//
// The task is what peer-task.ts describes. Prints CPU seconds and peak memory of its process as a line of JSON.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"syscall"

	"github.com/gocolly/colly/v2"
)

type peerTask struct {
	Seeds       []string `json:"seeds"`
	Concurrency int      `json:"concurrency"`
	Select      bool     `json:"select"`
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	var task peerTask
	if err := json.Unmarshal(text, &task); err != nil {
		panic(err)
	}
	crawl(task)
	reportUse()
}

func crawl(task peerTask) {
	collector := colly.NewCollector(colly.Async(true), colly.IgnoreRobotsTxt())
	if err := collector.Limit(&colly.LimitRule{DomainGlob: "*", Parallelism: task.Concurrency}); err != nil {
		panic(err)
	}
	collector.OnHTML("a[href]", func(element *colly.HTMLElement) {
		_ = element.Request.Visit(element.Attr("href")) // An error tells that it was visited before.
	})
	if task.Select {
		var lock sync.Mutex
		var titles []string
		collector.OnHTML("title", func(element *colly.HTMLElement) {
			lock.Lock()
			titles = append(titles, element.Text)
			lock.Unlock()
		})
	}
	for _, seed := range task.Seeds {
		_ = collector.Visit(seed)
	}
	collector.Wait()
}

func reportUse() {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	seconds := func(time syscall.Timeval) float64 { return float64(time.Sec) + float64(time.Usec)/1e6 }
	fmt.Printf("{\"cpuSeconds\":%f,\"rssMb\":%f}\n", seconds(used.Utime)+seconds(used.Stime), float64(used.Maxrss)/1024)
}
