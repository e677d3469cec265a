"""Scrapy, alone or with the scheduler of scrapy-redis or of its Bloom fork.

    python scrapy_pages.py task.json

The task is what peer-task.ts describes. Prints CPU seconds and peak memory of its process as a line of JSON.
"""

import json
import resource
import sys

import scrapy
from scrapy.crawler import CrawlerProcess

TASK = json.load(open(sys.argv[1]))

FLAVOURS = {
    "plain": {},
    "redis": {
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
    },
    "redis-bloom": {
        "SCHEDULER": "scrapy_redis_bloomfilter.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy_redis_bloomfilter.dupefilter.RFPDupeFilter",
        "BLOOMFILTER_HASH_NUMBER": 6,
        "BLOOMFILTER_BIT": 30,
    },
}


class Pages(scrapy.Spider):
    name = "pages"
    start_urls = TASK["seeds"]

    def parse(self, response):
        if TASK["select"]:
            yield {"title": response.css("title::text").get()}
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href)


process = CrawlerProcess(
    {
        "CONCURRENT_REQUESTS": TASK["concurrency"],
        "CONCURRENT_REQUESTS_PER_DOMAIN": TASK["concurrency"],
        "DOWNLOAD_DELAY": 0,
        "ROBOTSTXT_OBEY": False,
        "LOG_LEVEL": "ERROR",
        "LOGSTATS_INTERVAL": 0,
        "TELNETCONSOLE_ENABLED": False,
        **({"REDIS_URL": TASK["redis"]} if TASK["redis"] else {}),
        **FLAVOURS[TASK["flavour"]],
    }
)
process.crawl(Pages)
process.start()
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({"cpuSeconds": used.ru_utime + used.ru_stime, "rssMb": used.ru_maxrss / 1024}))
