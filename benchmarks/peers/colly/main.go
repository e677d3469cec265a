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
	"github.com/gocolly/colly/v2/storage"
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
	if err := collector.SetStorage(&onceStorage{}); err != nil {
		panic(err)
	}
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

// onceStorage is Colly's storage in memory, but asks and records in one step.
//
// A collector asks IsVisited first and calls Visited after it. As its callbacks run at once, several that have met the
// same link are all told that it is new: up to 14 824 requests for 10 000 pages.
type onceStorage struct {
	storage.InMemoryStorage
	visited sync.Map
}

func (s *onceStorage) IsVisited(requestID uint64) (bool, error) {
	_, visited := s.visited.LoadOrStore(requestID, struct{}{})
	return visited, nil
}

func (s *onceStorage) Visited(uint64) error {
	return nil
}

func reportUse() {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	seconds := func(time syscall.Timeval) float64 { return float64(time.Sec) + float64(time.Usec)/1e6 }
	fmt.Printf("{\"cpuSeconds\":%f,\"rssMb\":%f}\n", seconds(used.Utime)+seconds(used.Stime), float64(used.Maxrss)/1024)
}
