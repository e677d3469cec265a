"""Pushes start URLs for the spider beside this file:  python3 seeds.py http://127.0.0.1:8000/

Needs redis-py:  pip install redis. The Redis is that of REDIS_URL.
"""

import json
import os
import sys

KEY = "categories:start_urls"  # <name of the spider>:start_urls, as with scrapy-redis


def messages(site):
    """A message is a URL, or JSON with the parts of a request."""
    yield f"{site}fiction/"
    yield json.dumps({"url": f"{site}history/", "priority": 10})
    # What the callback needs beside the page; the item below has it.
    yield json.dumps({"url": f"{site}crafts/", "cb_kwargs": {"label": "Händwerk"}})


def main():
    import redis

    site = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000/"
    server = redis.Redis.from_url(os.environ.get("REDIS_URL", "redis://127.0.0.1:6379"))
    waiting = server.lpush(KEY, *messages(site))  # one command, so all of them or none
    print(f"{waiting} messages wait in {KEY}")


if __name__ == "__main__":
    main()
