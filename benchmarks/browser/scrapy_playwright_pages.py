"""Scrapy with scrapy-playwright.

    python scrapy_playwright_pages.py task.json

The task is what task.ts describes.
"""

import json
import os
import sys

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy_playwright.page import PageMethod

TASK = json.load(open(sys.argv[1]))
items = 0


class Pages(scrapy.Spider):
    name = "pages"

    async def start(self):
        for page in range(TASK["drawn"]):
            context = {"playwright_context": f"page-{page}"} if TASK["apart"] else {}
            yield scrapy.Request(
                f"{TASK['origin']}/drawn/{page}",
                meta={
                    "playwright": True,
                    "playwright_page_methods": [PageMethod("wait_for_selector", ".item")],
                    **context,
                },
            )

    def parse(self, response):
        global items
        items += len(response.css(".item"))


HANDLER = "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"
process = CrawlerProcess(
    {
        "CONCURRENT_REQUESTS": TASK["open"],
        "CONCURRENT_REQUESTS_PER_DOMAIN": TASK["open"],
        "DOWNLOAD_DELAY": 0,
        "ROBOTSTXT_OBEY": False,
        "LOG_LEVEL": "ERROR",
        "TELNETCONSOLE_ENABLED": False,
        "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
        "DOWNLOAD_HANDLERS": {"http": HANDLER, "https": HANDLER},
        "PLAYWRIGHT_MAX_PAGES_PER_CONTEXT": TASK["open"],
        "PLAYWRIGHT_LAUNCH_OPTIONS": {
            "executable_path": TASK["executable"],
            "headless": True,
            "chromium_sandbox": os.getuid() != 0,
        },
    }
)
process.crawl(Pages)
process.start()
print(json.dumps({"items": items}))
