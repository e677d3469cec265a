// Written by scripts/settings-docs.ts from settings-table/. Change that, then run it.

import type { CustomSettingName, WrittenSetting } from './settings-table.ts'

/** Settings as an author writes them in a config file, a spider's `customSettings` or a call of `crawl()`. */
export type SettingsInput = KnownSettingsInput & { readonly [name: CustomSettingName]: unknown }

/** The settings of the framework as an author writes them, with what each does. */
export type KnownSettingsInput = {
  /**
   * Requests in flight at once, to all hosts together, not counting those that wait for their host’s name. 0 is refused:
   * there is always a limit. Default `16` (requests).
   */
  readonly CONCURRENT_REQUESTS?: WrittenSetting<'CONCURRENT_REQUESTS'>
  /** Requests in flight at once to one host (or one `download_slot`). Default `8` (requests). */
  readonly CONCURRENT_REQUESTS_PER_DOMAIN?: WrittenSetting<'CONCURRENT_REQUESTS_PER_DOMAIN'>
  /** Least time between the starts of two requests to one host. Default `0` (s). */
  readonly DOWNLOAD_DELAY?: WrittenSetting<'DOWNLOAD_DELAY'>
  /**
   * Makes each delay longer or shorter at random, by DOWNLOAD_DELAY_JITTER. false: each delay is exactly DOWNLOAD_DELAY.
   * Default `true`.
   */
  readonly RANDOMIZE_DOWNLOAD_DELAY?: WrittenSetting<'RANDOMIZE_DOWNLOAD_DELAY'>
  /**
   * How much a delay varies: with 0.5, between 0.5 and 1.5 times DOWNLOAD_DELAY. It has no effect when
   * RANDOMIZE_DOWNLOAD_DELAY is false. Default `0.5`.
   */
  readonly DOWNLOAD_DELAY_JITTER?: WrittenSetting<'DOWNLOAD_DELAY_JITTER'>
  /**
   * Pace of single slots: hosts by their names without a port, the domains or addresses that POLITENESS_GROUP_BY counts,
   * or what meta.download_slot says: `{"example.com": {"concurrency": 1, "delay": 2, "jitter": 0}}`; a `concurrency` of 0
   * is no bound. Default `{}`.
   */
  readonly DOWNLOAD_SLOTS?: WrittenSetting<'DOWNLOAD_SLOTS'>
  /**
   * What delays and bounds hold for: each `host`, each registrable `domain` (`example.co.uk` with all its hosts), or each
   * `ip` address; for `ip`, names are looked up before their requests are queued. A crawl keeps its own as long as
   * anything waits: a worker or run with another is refused. Default `host`.
   */
  readonly POLITENESS_GROUP_BY?: WrittenSetting<'POLITENESS_GROUP_BY'>
  /** Adapts the delay to how fast a host answers; never below DOWNLOAD_DELAY or Crawl-delay. Default `false`. */
  readonly AUTOTHROTTLE_ENABLED?: WrittenSetting<'AUTOTHROTTLE_ENABLED'>
  /** Delay of a host that has not answered yet. Default `5` (s). */
  readonly AUTOTHROTTLE_START_DELAY?: WrittenSetting<'AUTOTHROTTLE_START_DELAY'>
  /** The longest delay that a slow host gets. Default `60` (s). */
  readonly AUTOTHROTTLE_MAX_DELAY?: WrittenSetting<'AUTOTHROTTLE_MAX_DELAY'>
  /** Requests that should be in flight to a host on average. Default `1` (requests). */
  readonly AUTOTHROTTLE_TARGET_CONCURRENCY?: WrittenSetting<'AUTOTHROTTLE_TARGET_CONCURRENCY'>
  /** Logs the delay after each answer. Default `false`. */
  readonly AUTOTHROTTLE_DEBUG?: WrittenSetting<'AUTOTHROTTLE_DEBUG'>
  /**
   * After this many failures in a row, all workers pause the whole host. Failures of requests that were in flight together
   * count as one. 0: a host pauses only if it asks for it (429, Retry-After). Default `3` (failures).
   */
  readonly HOST_BACKOFF_AFTER?: WrittenSetting<'HOST_BACKOFF_AFTER'>
  /** A failing host's first pause, doubled with each further failure. Default `1` (s). */
  readonly HOST_BACKOFF?: WrittenSetting<'HOST_BACKOFF'>
  /** The longest pause of a failing host that asks for none itself. Default `60` (s). */
  readonly HOST_BACKOFF_MAX?: WrittenSetting<'HOST_BACKOFF_MAX'>
  /**
   * After this many failures in a row (8 minutes of pauses) a host is given up: its requests are dropped, except for one
   * every HOST_BACKOFF_MAX seconds. 0: never. Default `16` (failures).
   */
  readonly HOST_FAILURES_MAX?: WrittenSetting<'HOST_FAILURES_MAX'>
  /**
   * Retries, in addition to RETRY_TIMES, of a request whose host could not be reached or asked to wait. They are for hosts
   * that have answered before. Default `5` (tries).
   */
  readonly HOST_RETRY_TIMES?: WrittenSetting<'HOST_RETRY_TIMES'>
  /**
   * Items in the item pipelines at once, from all responses together. (In Scrapy: from one response.) Default `100`
   * (items).
   */
  readonly CONCURRENT_ITEMS?: WrittenSetting<'CONCURRENT_ITEMS'>
  /** No new page is fetched while callbacks work on responses of more bytes than this. Default `5000000` (bytes). */
  readonly SCRAPER_SLOT_MAX_ACTIVE_SIZE?: WrittenSetting<'SCRAPER_SLOT_MAX_ACTIVE_SIZE'>
  /**
   * How much of what one callback yields is kept until the callback ends. A callback that yields more hands it on in
   * batches of this size. Default `10000` (items or requests).
   */
  readonly CALLBACK_OUTPUT_MAX?: WrittenSetting<'CALLBACK_OUTPUT_MAX'>
  /** `start()` is asked for more requests while fewer than this wait. Default `1000` (requests). */
  readonly START_LOW_WATER?: WrittenSetting<'START_LOW_WATER'>
  /**
   * While a worker has free places of CONCURRENT_REQUESTS, `start()` and seeds are asked for more until so many requests
   * wait, or until these take 64 MiB, as all that waits may be of hosts that must wait. Where it is less than
   * START_LOW_WATER, that one counts. Not with RECRAWL. Default `100000` (requests).
   */
  readonly START_AHEAD_MAX?: WrittenSetting<'START_AHEAD_MAX'>
  /**
   * Finds spiders by name: `project` looks in the folders that webloom.config.ts names; or `./file.ts#Export`. Default
   * `project`.
   */
  readonly SPIDER_LOADER_CLASS?: WrittenSetting<'SPIDER_LOADER_CLASS'>
  /** The most links between a start page and a page; deeper requests are dropped. 0: no limit. Default `0` (links). */
  readonly DEPTH_LIMIT?: WrittenSetting<'DEPTH_LIMIT'>
  /**
   * The depth times this number is subtracted from the priority: above 0 shallow pages go first, below 0 deep ones.
   * Default `0`.
   */
  readonly DEPTH_PRIORITY?: WrittenSetting<'DEPTH_PRIORITY'>
  /** Also counts the requests of each depth, as `request_depth_count/<depth>`. Default `false`. */
  readonly DEPTH_STATS_VERBOSE?: WrittenSetting<'DEPTH_STATS_VERBOSE'>
  /**
   * Requests with a longer URL are dropped: links, start URLs, seeds, requests of `crawler.fetch` and of files. 0: no
   * limit. Default `2083` (characters).
   */
  readonly URLLENGTH_LIMIT?: WrittenSetting<'URLLENGTH_LIMIT'>
  /** Lets the rules of a CrawlSpider make requests. false: it fetches only its start pages. Default `true`. */
  readonly CRAWLSPIDER_FOLLOW_LINKS?: WrittenSetting<'CRAWLSPIDER_FOLLOW_LINKS'>
  /** Statuses outside 200–299 that are given to the callback all the same. Default `[]`. */
  readonly HTTPERROR_ALLOWED_CODES?: WrittenSetting<'HTTPERROR_ALLOWED_CODES'>
  /** Gives responses with any status to the callback. Default `false`. */
  readonly HTTPERROR_ALLOW_ALL?: WrittenSetting<'HTTPERROR_ALLOW_ALL'>
  /**
   * Builds the tree for selectors: htmlparser2 is several times faster, parse5 repairs broken HTML as browsers do. Default
   * `htmlparser2`.
   */
  readonly HTML_PARSER?: WrittenSetting<'HTML_PARSER'>
  /** Spider middlewares beside the built-in ones: `[["./mine.ts#Mine", 550]]`; null disables one. Default `[]`. */
  readonly SPIDER_MIDDLEWARES?: WrittenSetting<'SPIDER_MIDDLEWARES'>
  /** Extensions beside the built-in ones: `[["./mine.ts#Mine", 500]]`; null disables one. Default `[]`. */
  readonly EXTENSIONS?: WrittenSetting<'EXTENSIONS'>
  /**
   * What a crawl may spend, exactly, by all its workers together: `pages`, `bytes` and `minutes` of a run (`crawl`), of a
   * day (`day`), of each host in a run (`host`) and in a day (`hostDay`), and what happens `after` that: `stop`, `wait`
   * (until the next day) or `drop`; `tz` says whose days: `{"day": {"pages": 10000}, "host": {"pages": 500}, "tz":
   * "Europe/Berlin"}`. Default `{}`.
   */
  readonly BUDGETS?: WrittenSetting<'BUDGETS'>
  /**
   * Ends the crawl, for all its workers, when callbacks of all of them have thrown this many times. 0: never. Default `0`
   * (errors).
   */
  readonly CLOSESPIDER_ERRORCOUNT?: WrittenSetting<'CLOSESPIDER_ERRORCOUNT'>
  /** Ends the crawl, for all its workers, after this many scraped items of all of them. 0: never. Default `0` (items). */
  readonly CLOSESPIDER_ITEMCOUNT?: WrittenSetting<'CLOSESPIDER_ITEMCOUNT'>
  /**
   * Ends the crawl, for all its workers, after this many responses to all of them; what is in flight is finished, and
   * others are heard once a second, so there are more. 0: never. Default `0` (pages).
   */
  readonly CLOSESPIDER_PAGECOUNT?: WrittenSetting<'CLOSESPIDER_PAGECOUNT'>
  /**
   * Ends the crawl, for all its workers, after this many responses in a row to one of them without an item. 0: never.
   * Default `0` (pages).
   */
  readonly CLOSESPIDER_PAGECOUNT_NO_ITEM?: WrittenSetting<'CLOSESPIDER_PAGECOUNT_NO_ITEM'>
  /** Ends the crawl, for all its workers, so long after the first of them began. 0: never. Default `0` (s). */
  readonly CLOSESPIDER_TIMEOUT?: WrittenSetting<'CLOSESPIDER_TIMEOUT'>
  /** Ends the crawl, for all its workers, when no item has come from any of them for this long. 0: never. Default `0` (s). */
  readonly CLOSESPIDER_TIMEOUT_NO_ITEM?: WrittenSetting<'CLOSESPIDER_TIMEOUT_NO_ITEM'>
  /**
   * A crawl ends with exit code 1 instead of only a warning if it finishes without any item or link, without an item for
   * its outputs, or with none of its items written. On Redis the last worker to leave judges for all workers, unless a
   * worker was killed: then it is not known what that one had done. A crawl that was resumed in its JOBDIR is not judged,
   * because the items of its earlier runs are not counted there. Default `false`.
   */
  readonly FAIL_ON_EMPTY?: WrittenSetting<'FAIL_ON_EMPTY'>
  /**
   * How long each pipeline, feed or extension may take to open or to close. An output that is not complete by then has
   * failed (WL_OUTPUT_FAILED), and its items stay in their spool. Default `600` (s).
   */
  readonly COMPONENT_TIMEOUT?: WrittenSetting<'COMPONENT_TIMEOUT'>
  /** How long requests in flight may take to finish after the first signal. Default `30` (s). */
  readonly SHUTDOWN_GRACE?: WrittenSetting<'SHUTDOWN_GRACE'>
  /**
   * Only checked: if it names scrapy-redis’s scheduler and the crawl is not on Redis, a warning says so. REDIS_URL is what
   * puts a crawl on Redis. Default `null`.
   */
  readonly SCHEDULER?: WrittenSetting<'SCHEDULER'>
  /**
   * Remembers which requests were seen: `memory`, `memory-bloom`, `redis-set`, `redis-key`, `redis-bloom`,
   * `counting-bloom`, `splittable-bloom`, `none`, or `./file.ts#Export`. null: `redis-set` with Redis, else `memory`.
   * Default `null`.
   */
  readonly DUPEFILTER_CLASS?: WrittenSetting<'DUPEFILTER_CLASS'>
  /** Logs every request dropped as a duplicate, not only the first. Default `false`. */
  readonly DUPEFILTER_DEBUG?: WrittenSetting<'DUPEFILTER_DEBUG'>
  /**
   * Forgets a page that could not be fetched after all retries, so that the next link to it has it fetched again. For
   * filters that can forget. Default `false`.
   */
  readonly DUPEFILTER_RELEASE_ON_FAILURE?: WrittenSetting<'DUPEFILTER_RELEASE_ON_FAILURE'>
  /**
   * Decides which requests are equal. `auto`: the one that fits the dupefilter; or a name, a function, `./file.ts#Export`.
   * Default `auto`.
   */
  readonly FINGERPRINTER?: WrittenSetting<'FINGERPRINTER'>
  /** Headers that are part of the fingerprint: requests that differ in one of them are different. Default `[]`. */
  readonly FINGERPRINT_INCLUDE_HEADERS?: WrittenSetting<'FINGERPRINT_INCLUDE_HEADERS'>
  /** Treats URLs that differ only after the # as different pages. Default `false`. */
  readonly FINGERPRINT_KEEP_FRAGMENTS?: WrittenSetting<'FINGERPRINT_KEEP_FRAGMENTS'>
  /**
   * What the dupefilter stores of a request: its `fingerprint`, its canonical `url`, or a hash of that URL. All but
   * `fingerprint` ignore method and body: all POSTs to one URL are then the same request. Default `fingerprint`.
   */
  readonly DUPEFILTER_DIGEST?: WrittenSetting<'DUPEFILTER_DIGEST'>
  /**
   * The rules by which URLs are made safe and compared. To share a filter with a Python crawler, choose the version of its
   * w3lib. A filter or JOBDIR that was begun with other rules keeps them. Default `w3lib-2.5`.
   */
  readonly URL_RULES?: WrittenSetting<'URL_RULES'>
  /**
   * Decides which URLs are equal: Scrapy’s rules, or the npm library normalize-url. The URL that is fetched stays as it
   * is. Default `scrapy`.
   */
  readonly CANONICALIZER?: WrittenSetting<'CANONICALIZER'>
  /**
   * Options of normalize-url, such as `{"removeQueryParameters": ["sid", "/^utm_/i"]}`. Other than in the library,
   * `stripWWW`, `removeTrailingSlash` and `stripAuthentication` are off: a server may redirect one form of the URL to the
   * other, which would be dropped as seen. Default `{}`.
   */
  readonly NORMALIZE_URL_OPTIONS?: WrittenSetting<'NORMALIZE_URL_OPTIONS'>
  /**
   * Folder that keeps queue and seen requests, so that a stopped or killed crawl can be resumed. null: in memory. Default
   * `null`.
   */
  readonly JOBDIR?: WrittenSetting<'JOBDIR'>
  /**
   * How many requests that were given up are kept for `webloom failed`. When there are more, the oldest of the most common
   * signature are removed. 0: none is kept. Default `10000` (requests).
   */
  readonly FAILED_MAX?: WrittenSetting<'FAILED_MAX'>
  /** Which waiting request of a host goes next: highest priority, oldest, or newest. Default `priority`. */
  readonly SCHEDULER_QUEUE_CLASS?: WrittenSetting<'SCHEDULER_QUEUE_CLASS'>
  /**
   * Whether the crawl comes back to its pages: `fixed`, to each after RECRAWL_INTERVAL; `adaptive`, to each as often as it
   * pays, by what earlier visits have shown. The next run needs a JOBDIR or Redis. A worker with another RECRAWL than
   * those at work is refused. Default `off`.
   */
  readonly RECRAWL?: WrittenSetting<'RECRAWL'>
  /**
   * Hours until a page is visited again (RECRAWL=fixed), or their mean over all pages (RECRAWL=adaptive). A page that is
   * known comes to it with its next visit. Default `24` (hours).
   */
  readonly RECRAWL_INTERVAL?: WrittenSetting<'RECRAWL_INTERVAL'>
  /** With RECRAWL=adaptive no page is visited sooner. A shorter RECRAWL_INTERVAL shortens it. Default `1` (hours). */
  readonly RECRAWL_INTERVAL_MIN?: WrittenSetting<'RECRAWL_INTERVAL_MIN'>
  /**
   * The longest time until a page is visited again: one that hardly changes (RECRAWL=adaptive), or that is gone; one that
   * fails waits for a week at the most, and with RECRAWL=fixed for RECRAWL_INTERVAL. A longer RECRAWL_INTERVAL lengthens
   * it. Default `1440` (hours).
   */
  readonly RECRAWL_INTERVAL_MAX?: WrittenSetting<'RECRAWL_INTERVAL_MAX'>
  /**
   * Writes the items of pages that have not changed again. Pages are then fetched whole: hosts are not asked whether a
   * page has changed. Default `false`.
   */
  readonly RECRAWL_UNCHANGED_ITEMS?: WrittenSetting<'RECRAWL_UNCHANGED_ITEMS'>
  /**
   * Redis for all roles: `redis://user:password@host:port/db`; `rediss://` for TLS;
   * `redis+sentinel://host:port,host:port/name/db` for Sentinels; `redis+cluster://host:port,host:port` for a cluster
   * (docs/guides/redis.md). null: no Redis. Default `null`.
   */
  readonly REDIS_URL?: WrittenSetting<'REDIS_URL'>
  /** Host of that Redis, if REDIS_URL is not set. Default `null`. */
  readonly REDIS_HOST?: WrittenSetting<'REDIS_HOST'>
  /** Port that goes with REDIS_HOST. Default `6379`. */
  readonly REDIS_PORT?: WrittenSetting<'REDIS_PORT'>
  /** Database that goes with REDIS_HOST. 0 counts, too. Default `0`. */
  readonly REDIS_DB?: WrittenSetting<'REDIS_DB'>
  /**
   * More options of the connection, by the names of redis-py (`socket_timeout`, `ssl_ca_certs`, `sentinel_kwargs` and
   * others, docs/guides/redis.md) or of ioredis. Default `{}`.
   */
  readonly REDIS_PARAMS?: WrittenSetting<'REDIS_PARAMS'>
  /**
   * Stands before every key on a Redis that others use, too, such as `team7:`. Crawls see only those with the same prefix.
   * Default empty.
   */
  readonly REDIS_KEY_PREFIX?: WrittenSetting<'REDIS_KEY_PREFIX'>
  /** How long a Redis may take to answer before the crawl gives up (exit code 3). Default `15` (s). */
  readonly REDIS_START_TIMEOUT?: WrittenSetting<'REDIS_START_TIMEOUT'>
  /**
   * Redis of the dupefilter alone. If it is a list, each server keeps a part of the filter; all workers need the same list
   * in the same order. Default `[]`.
   */
  readonly DUPEFILTER_REDIS_URL?: WrittenSetting<'DUPEFILTER_REDIS_URL'>
  /**
   * On a Redis Cluster: into how many parts the dupefilter is shared out over the servers, by fingerprint. Fixed when the
   * filter begins. 1: it is on one server, under the key that Python crawlers know. Default `1` (shards).
   */
  readonly DUPEFILTER_SHARDS?: WrittenSetting<'DUPEFILTER_SHARDS'>
  /** The same as DUPEFILTER_REDIS_URL, as LiuXingMing’s fork calls it. Default `null`. */
  readonly FILTER_URL?: WrittenSetting<'FILTER_URL'>
  /** Host of the dupefilter’s Redis, if no URL is set. Default `null`. */
  readonly FILTER_HOST?: WrittenSetting<'FILTER_HOST'>
  /** Port that goes with FILTER_HOST. Default `6379`. */
  readonly FILTER_PORT?: WrittenSetting<'FILTER_PORT'>
  /** Database that goes with FILTER_HOST. Default `0`. */
  readonly FILTER_DB?: WrittenSetting<'FILTER_DB'>
  /** Key of the dupefilter. If it is not set, `redis-bloom` uses `%(spider)s:bloomfilter`. Default `%(spider)s:dupefilter`. */
  readonly SCHEDULER_DUPEFILTER_KEY?: WrittenSetting<'SCHEDULER_DUPEFILTER_KEY'>
  /** The same as SCHEDULER_DUPEFILTER_KEY. */
  readonly DUPEFILTER_KEY?: WrittenSetting<'DUPEFILTER_KEY'>
  /**
   * Key of scrapy-redis’s own queue, for `webloom import` and `export`. A crawl does not read this queue; it warns if
   * requests wait there. Webloom’s queue is BullMQ’s. Default `%(spider)s:requests`.
   */
  readonly SCHEDULER_QUEUE_KEY?: WrittenSetting<'SCHEDULER_QUEUE_KEY'>
  /**
   * The form of requests in that queue, for `webloom export --to scrapy-redis`: JSON if its name contains `json`, else
   * pickles. `import` recognizes both. Webloom’s own requests travel as JSON. Default `null`.
   */
  readonly SCHEDULER_SERIALIZER?: WrittenSetting<'SCHEDULER_SERIALIZER'>
  /**
   * false: queue and dupefilter on Redis are emptied when the last worker leaves. true: they stay, and the next crawl,
   * also one begun by `worker --new`, does not fetch again what the dupefilter has seen. They also stay when a RedisSpider
   * has finished, because new seeds wake it. A worker with another value than those at work is refused. Default `false`.
   */
  readonly SCHEDULER_PERSIST?: WrittenSetting<'SCHEDULER_PERSIST'>
  /**
   * true: queue and dupefilter on Redis are emptied when the crawl begins, even if SCHEDULER_PERSIST kept them. Default
   * `false`.
   */
  readonly SCHEDULER_FLUSH_ON_START?: WrittenSetting<'SCHEDULER_FLUSH_ON_START'>
  /**
   * How long a page that was told that a link is new may be silent, before the next page that asks about the link is told
   * so, too. Default `10` (s).
   */
  readonly DUPEFILTER_PENDING_STALE?: WrittenSetting<'DUPEFILTER_PENDING_STALE'>
  /**
   * How many requests that were seen long ago this process remembers, in 20 bytes each, to ask Redis about fewer. Of those
   * seen a moment ago it remembers up to 50 000 beside these, and no more than twice as many, in some 400 bytes each. 0:
   * none. Default `150000` (fingerprints).
   */
  readonly DUPEFILTER_CACHE_SIZE?: WrittenSetting<'DUPEFILTER_CACHE_SIZE'>
  /**
   * How `redis-set` stores a fingerprint: as 40 hex digits (88 bytes of memory), or as its first 20 or 16 bytes (72 bytes
   * of memory either way), which scrapy-redis does not understand. Default `hex`.
   */
  readonly DUPEFILTER_MEMBERS?: WrittenSetting<'DUPEFILTER_MEMBERS'>
  /**
   * How long `redis-key` keeps a request; after that it counts as new. `meta.dedupTtl` of a request overrides it. Default
   * `null` (s).
   */
  readonly DUPEFILTER_TTL?: WrittenSetting<'DUPEFILTER_TTL'>
  /**
   * The filter has 2 to the power of this many bits: 30 are 128 MiB; from 33 on in blocks of 2^32 bits (512 MiB). For
   * `counting-bloom` it counts counters of four bits, and is 28 unless set. Default `30`.
   */
  readonly BLOOMFILTER_BIT?: WrittenSetting<'BLOOMFILTER_BIT'>
  /** Bits that are set for each request. Default `6` (hashes). */
  readonly BLOOMFILTER_HASH_NUMBER?: WrittenSetting<'BLOOMFILTER_HASH_NUMBER'>
  /** The same as BLOOMFILTER_HASH_NUMBER. */
  readonly HASH_NUMBER?: WrittenSetting<'HASH_NUMBER'>
  /**
   * How many requests the filter is to hold at BLOOMFILTER_ERROR_RATE. It sets bits and hashes in place of the settings
   * above. Default `null` (requests).
   */
  readonly BLOOMFILTER_CAPACITY?: WrittenSetting<'BLOOMFILTER_CAPACITY'>
  /**
   * Probability that a filter at its capacity mistakes a new request for a seen one, which is then lost. Default
   * `0.000001`.
   */
  readonly BLOOMFILTER_ERROR_RATE?: WrittenSetting<'BLOOMFILTER_ERROR_RATE'>
  /** Number of Redis strings that the filter is spread over. null: as few as will hold it. Default `null` (blocks). */
  readonly BLOOMFILTER_BLOCK_NUM?: WrittenSetting<'BLOOMFILTER_BLOCK_NUM'>
  /** For `splittable-bloom`: a leaf has 2 to the power of this many bits (23: 1 MiB, 291 000 URLs at 1e-6). Default `23`. */
  readonly BLOOMFILTER_LEAF_BIT?: WrittenSetting<'BLOOMFILTER_LEAF_BIT'>
  /**
   * For `splittable-bloom`: how often a leaf, and in turn each part of it, may be split. 10: the error stays for a
   * thousand times as many URLs as expected. 0: leaves are never split and keep no fingerprints. Default `10`.
   */
  readonly BLOOMFILTER_SPLITS_MAX?: WrittenSetting<'BLOOMFILTER_SPLITS_MAX'>
  /** Sets the same bits as a Python crawler with that fork, so that both can share a filter. Default `native`. */
  readonly BLOOMFILTER_COMPAT?: WrittenSetting<'BLOOMFILTER_COMPAT'>
  /**
   * What a filter past its capacity does: `grow` adds a layer, `warn` logs a warning, `stop` ends the crawl with
   * `dupefilter_full`. Default `warn`.
   */
  readonly BLOOMFILTER_ON_FULL?: WrittenSetting<'BLOOMFILTER_ON_FULL'>
  /**
   * One filter for all requests, or a small one for each `host` or registrable `domain`: 32 KiB unless BLOOMFILTER_BIT or
   * BLOOMFILTER_CAPACITY says otherwise. With `domain-hash` the hash of the domain chooses one of BLOOMFILTER_PARTITIONS.
   * Default `fingerprint`.
   */
  readonly BLOOMFILTER_PARTITION_BY?: WrittenSetting<'BLOOMFILTER_PARTITION_BY'>
  /** With BLOOMFILTER_PARTITION_BY=domain-hash: the number of filters. Default `1024` (filters). */
  readonly BLOOMFILTER_PARTITIONS?: WrittenSetting<'BLOOMFILTER_PARTITIONS'>
  /**
   * Tells crawls of one spider apart: each has its own queue, filter, seeds and record. null: one crawl, under
   * scrapy-redis’s keys. Default `null`.
   */
  readonly CRAWL_ID?: WrittenSetting<'CRAWL_ID'>
  /**
   * With Redis: `turns`: a BullMQ job is a turn at a bucket of hosts, and all workers together keep a host’s pace. `job`:
   * each request is a BullMQ job, and each worker keeps a pace of its own. Fixed when the crawl begins. Default `turns`.
   */
  readonly QUEUE_MODE?: WrittenSetting<'QUEUE_MODE'>
  /**
   * On a Redis Cluster: into how many parts a crawl’s queue is shared out over the servers, by host; two to four for each
   * master. Fixed when the crawl begins. 1: the queue is on one server. Default `1` (shards).
   */
  readonly QUEUE_SHARDS?: WrittenSetting<'QUEUE_SHARDS'>
  /** BullMQ’s prefix, which the keys of the queue begin with. REDIS_KEY_PREFIX stands before it. Default `webloom`. */
  readonly QUEUE_PREFIX?: WrittenSetting<'QUEUE_PREFIX'>
  /** Redis of the request queue and the crawl record, if it is not that of REDIS_URL. Default `null`. */
  readonly QUEUE_REDIS_URL?: WrittenSetting<'QUEUE_REDIS_URL'>
  /** Redis from which start URLs are taken, if it is not that of REDIS_URL. Default `null`. */
  readonly SEEDS_REDIS_URL?: WrittenSetting<'SEEDS_REDIS_URL'>
  /** Redis to which the pipeline `redis` writes items, if it is not that of REDIS_URL. Default `null`. */
  readonly ITEMS_REDIS_URL?: WrittenSetting<'ITEMS_REDIS_URL'>
  /**
   * With Redis: how long samples of the crawl’s rates and queue are kept for the dashboard’s curves, one every ten
   * seconds. 0: none. Default `24` (hours).
   */
  readonly HISTORY_HOURS?: WrittenSetting<'HISTORY_HOURS'>
  /**
   * When the queue’s Redis, or with QUEUE_SHARDS the fullest of its masters, is this full, start(), seeds and links wait,
   * and the crawl works off what is queued. 0: never. Default `0.85` (of maxmemory).
   */
  readonly REDIS_HIGH_WATER?: WrittenSetting<'REDIS_HIGH_WATER'>
  /** A request that has killed this many workers, each time running alone, is quarantined. Default `3` (lost workers). */
  readonly QUARANTINE_AFTER?: WrittenSetting<'QUARANTINE_AFTER'>
  /**
   * How long a worker keeps its requests while a callback blocks its event loop; then it counts as lost. 0: only as long
   * as a lock lasts, 6 s. Default `60` (s).
   */
  readonly WORKER_BLOCKED_MAX?: WrittenSetting<'WORKER_BLOCKED_MAX'>
  /** Key of the start URLs of a RedisSpider that has no `redisKey`. Default `%(name)s:start_urls`. */
  readonly REDIS_START_URLS_KEY?: WrittenSetting<'REDIS_START_URLS_KEY'>
  /** `webloom seed` makes a set if the key does not exist. The type of the key decides how it is read. Default `false`. */
  readonly REDIS_START_URLS_AS_SET?: WrittenSetting<'REDIS_START_URLS_AS_SET'>
  /** `webloom seed` makes a sorted set if the key does not exist; the highest score goes first. Default `false`. */
  readonly REDIS_START_URLS_AS_ZSET?: WrittenSetting<'REDIS_START_URLS_AS_ZSET'>
  /** Start URLs taken at a time by a spider without `redisBatchSize`. null: CONCURRENT_REQUESTS. Default `null` (messages). */
  readonly REDIS_START_URLS_BATCH_SIZE?: WrittenSetting<'REDIS_START_URLS_BATCH_SIZE'>
  /**
   * `scrapy-redis` reads start messages exactly as scrapy-redis 0.9 does; `webloom` understands more fields. Default
   * `webloom`.
   */
  readonly SEEDS_FORMAT?: WrittenSetting<'SEEDS_FORMAT'>
  /**
   * A crawl that waits for more (`--stay`, RedisSpider) ends when nothing has come for this long. 0: never. Default `0`
   * (s).
   */
  readonly MAX_IDLE_TIME_BEFORE_CLOSE?: WrittenSetting<'MAX_IDLE_TIME_BEFORE_CLOSE'>
  /** A crawl that does not wait for more ends when it has had nothing to do for this long. Default `0` (s). */
  readonly SCHEDULER_IDLE_BEFORE_CLOSE?: WrittenSetting<'SCHEDULER_IDLE_BEFORE_CLOSE'>
  /** Key to which the pipeline `redis` writes items. Default `%(spider)s:items`. */
  readonly REDIS_ITEMS_KEY?: WrittenSetting<'REDIS_ITEMS_KEY'>
  /** What the pipeline `redis` writes items to: a list, as scrapy-redis does, or a stream. Default `list`. */
  readonly REDIS_ITEMS_AS?: WrittenSetting<'REDIS_ITEMS_AS'>
  /**
   * A list with this many items makes the crawl wait until some are taken out; a stream drops its oldest. 0: no bound.
   * Default `0` (items).
   */
  readonly REDIS_ITEMS_MAX?: WrittenSetting<'REDIS_ITEMS_MAX'>
  /**
   * Field for the stable id of an item in a list, by which repeats are recognized. null: items stay as they are. In a
   * stream the id stands beside the item. Default `null`.
   */
  readonly REDIS_ITEMS_ID_FIELD?: WrittenSetting<'REDIS_ITEMS_ID_FIELD'>
  /** Hash in the queue’s Redis to which each worker writes its stats. Default `%(spider)s:stats`. */
  readonly STATS_KEY?: WrittenSetting<'STATS_KEY'>
  /** Watches the memory of the process. Default `true`. */
  readonly MEMUSAGE_ENABLED?: WrittenSetting<'MEMUSAGE_ENABLED'>
  /**
   * A process that uses more finishes what it holds and ends (`memusage_exceeded`); `worker --processes` replaces it. 0:
   * no limit. Default `0` (MiB).
   */
  readonly MEMUSAGE_LIMIT_MB?: WrittenSetting<'MEMUSAGE_LIMIT_MB'>
  /** Warns once when the process uses more. 0: never. Default `0` (MiB). */
  readonly MEMUSAGE_WARNING_MB?: WrittenSetting<'MEMUSAGE_WARNING_MB'>
  /** Time between two looks at the memory. Default `60` (s). */
  readonly MEMUSAGE_CHECK_INTERVAL_SECONDS?: WrittenSetting<'MEMUSAGE_CHECK_INTERVAL_SECONDS'>
  /**
   * User-Agent of requests that have none of their own. Say who you are and where you can be reached. Default `webloom
   * (+https://www.npmjs.com/package/webloom)`.
   */
  readonly USER_AGENT?: WrittenSetting<'USER_AGENT'>
  /**
   * Headers for requests that have no header of that name. Default
   * `{"Accept":"text/html,application/xhtml+xml,application/xml;q=0.9,*\/*;q=0.8","Accept-Language":"en"}`.
   */
  readonly DEFAULT_REQUEST_HEADERS?: WrittenSetting<'DEFAULT_REQUEST_HEADERS'>
  /**
   * Download handlers, by URL scheme or by a name for `meta.download_handler`, beside the built-in http, https, data and
   * file: `{"ftp": "./ftp.ts#Ftp"}`. null removes one. Default `{}`.
   */
  readonly DOWNLOAD_HANDLERS?: WrittenSetting<'DOWNLOAD_HANDLERS'>
  /**
   * Folders and files that `file:` URLs may name, as absolute paths or relative to the working folder. Links of pages may
   * then name them, too. Empty: none. Default `[]`.
   */
  readonly FILE_URLS_ALLOWED?: WrittenSetting<'FILE_URLS_ALLOWED'>
  /** Downloader middlewares beside the built-in ones: `[["./mine.ts#Mine", 550]]`; null disables one. Default `[]`. */
  readonly DOWNLOADER_MIDDLEWARES?: WrittenSetting<'DOWNLOADER_MIDDLEWARES'>
  /** Counts requests, responses, bytes and failures under `downloader/`. Default `true`. */
  readonly DOWNLOADER_STATS?: WrittenSetting<'DOWNLOADER_STATS'>
  /** Longest time for one download, from the connection to the last byte. Default `180` (s). */
  readonly DOWNLOAD_TIMEOUT?: WrittenSetting<'DOWNLOAD_TIMEOUT'>
  /**
   * Larger bodies, compressed or decompressed, are cut off and dropped (Scrapy: 1 GiB). 0: no limit. Default `33554432`
   * (bytes).
   */
  readonly DOWNLOAD_MAXSIZE?: WrittenSetting<'DOWNLOAD_MAXSIZE'>
  /** Larger bodies are logged with a warning (Scrapy: 32 MiB). 0: never. Default `8388608` (bytes). */
  readonly DOWNLOAD_WARNSIZE?: WrittenSetting<'DOWNLOAD_WARNSIZE'>
  /**
   * A body shorter than announced counts as a failure and is retried. false: it is passed on with the flag `dataloss`.
   * Default `true`.
   */
  readonly DOWNLOAD_FAIL_ON_DATALOSS?: WrittenSetting<'DOWNLOAD_FAIL_ON_DATALOSS'>
  /**
   * Refuses servers whose TLS certificate is not valid. false by default, as in Scrapy, because many sites have a bad
   * certificate. Default `false`.
   */
  readonly DOWNLOAD_VERIFY_CERTIFICATES?: WrittenSetting<'DOWNLOAD_VERIFY_CERTIFICATES'>
  /** Asks for gzip, deflate, br and zstd, and decodes them. Default `true`. */
  readonly COMPRESSION_ENABLED?: WrittenSetting<'COMPRESSION_ENABLED'>
  /** Retries requests that failed for a reason that may pass. Default `true`. */
  readonly RETRY_ENABLED?: WrittenSetting<'RETRY_ENABLED'>
  /** Retries after the first try. Default `2` (tries). */
  readonly RETRY_TIMES?: WrittenSetting<'RETRY_TIMES'>
  /** Statuses that are retried. Default `[500,502,503,504,522,524,408,429]`. */
  readonly RETRY_HTTP_CODES?: WrittenSetting<'RETRY_HTTP_CODES'>
  /**
   * Download failures that are retried, by the names that `downloader/exception_type_count/` shows. Default
   * `["CannotResolveHostError","DownloadConnectionRefusedError","DownloadFailedError","DownloadTimeoutError","ResponseDataLossError"]`.
   */
  readonly RETRY_EXCEPTIONS?: WrittenSetting<'RETRY_EXCEPTIONS'>
  /** Added to the priority of a request that is retried. Default `-1`. */
  readonly RETRY_PRIORITY_ADJUST?: WrittenSetting<'RETRY_PRIORITY_ADJUST'>
  /** Level of the log line for a request that was given up. Default `ERROR`. */
  readonly RETRY_GIVE_UP_LOG_LEVEL?: WrittenSetting<'RETRY_GIVE_UP_LOG_LEVEL'>
  /**
   * Wait before the second try, doubled before each further one. Each wait is shortened at random by up to a half. 0: no
   * wait, as in Scrapy. Default `1` (s).
   */
  readonly RETRY_BACKOFF?: WrittenSetting<'RETRY_BACKOFF'>
  /** The longest wait before a retry if the server asks for none. Default `60` (s). */
  readonly RETRY_BACKOFF_MAX?: WrittenSetting<'RETRY_BACKOFF_MAX'>
  /** The longest wait that a Retry-After header can ask for. Default `300` (s). */
  readonly RETRY_AFTER_MAX?: WrittenSetting<'RETRY_AFTER_MAX'>
  /** Follows redirects. Default `true`. */
  readonly REDIRECT_ENABLED?: WrittenSetting<'REDIRECT_ENABLED'>
  /** Redirects in a row before a request is dropped. Default `20` (redirects). */
  readonly REDIRECT_MAX_TIMES?: WrittenSetting<'REDIRECT_MAX_TIMES'>
  /** Added to the priority of a request that was redirected. Default `2`. */
  readonly REDIRECT_PRIORITY_ADJUST?: WrittenSetting<'REDIRECT_PRIORITY_ADJUST'>
  /**
   * Addresses inside (loopback, private networks and so on) that may be fetched, beside the hosts of start requests:
   * addresses, networks (`10.0.0.0/8`), hosts, `host:port`, or `*`. A cloud’s metadata service must be named by its exact
   * address. Default `[]`.
   */
  readonly PRIVATE_ADDRESSES_ALLOWED?: WrittenSetting<'PRIVATE_ADDRESSES_ALLOWED'>
  /**
   * Start URLs from Redis may lead to private addresses, name any callback and set any `meta`, as those of `start()` may.
   * false: they are treated as a stranger’s. Default `false`.
   */
  readonly SEEDS_TRUSTED?: WrittenSetting<'SEEDS_TRUSTED'>
  /**
   * Remembers the addresses of hosts for as long as their name servers say, and hosts without an address for 5 s. Default
   * `true`.
   */
  readonly DNSCACHE_ENABLED?: WrittenSetting<'DNSCACHE_ENABLED'>
  /**
   * Host names that are remembered, in 512 bytes each. When there are more, the name used longest ago is forgotten. A name
   * with many addresses counts as several. Default `10000` (names).
   */
  readonly DNSCACHE_SIZE?: WrittenSetting<'DNSCACHE_SIZE'>
  /** Longest wait for the addresses of a host. Default `60` (s). */
  readonly DNS_TIMEOUT?: WrittenSetting<'DNS_TIMEOUT'>
  /**
   * How host names are looked up: `auto` asks the machine’s name servers if they know all names that the machine knows,
   * else the operating system; `system` always asks the operating system. Default `auto`.
   */
  readonly DNS_RESOLVER?: WrittenSetting<'DNS_RESOLVER'>
  /**
   * Name servers that `auto` asks instead of the machine’s: addresses, with or without a port. The hosts file still holds.
   * Default `[]`.
   */
  readonly DNS_SERVERS?: WrittenSetting<'DNS_SERVERS'>
  /** Uses HTTP/2 with the https sites that have it, and with https sites behind a proxy. Default `true`. */
  readonly HTTP2_ENABLED?: WrittenSetting<'HTTP2_ENABLED'>
  /** The same as HTTP2_ENABLED (Scrapy: off). */
  readonly HTTPX_HTTP2_ENABLED?: WrittenSetting<'HTTPX_HTTP2_ENABLED'>
  /** IP address of this machine that connections come from; `meta.bindaddress` comes first. Default `null`. */
  readonly DOWNLOAD_BIND_ADDRESS?: WrittenSetting<'DOWNLOAD_BIND_ADDRESS'>
  /** The oldest version of TLS that is accepted. null: Node’s default, TLSv1.2. Default `null`. */
  readonly DOWNLOAD_TLS_MIN_VERSION?: WrittenSetting<'DOWNLOAD_TLS_MIN_VERSION'>
  /** The newest version of TLS that is accepted. null: Node’s default, TLSv1.3. Default `null`. */
  readonly DOWNLOAD_TLS_MAX_VERSION?: WrittenSetting<'DOWNLOAD_TLS_MAX_VERSION'>
  /** Another way to choose a single version of TLS; the two settings above override it. `TLS`: any. Default `TLS`. */
  readonly DOWNLOADER_CLIENT_TLS_METHOD?: WrittenSetting<'DOWNLOADER_CLIENT_TLS_METHOD'>
  /**
   * Ciphers as OpenSSL names them. `DEFAULT`: Node’s. Servers that speak only TLSv1 need `DEFAULT@SECLEVEL=0`. Default
   * `DEFAULT`.
   */
  readonly DOWNLOADER_CLIENT_TLS_CIPHERS?: WrittenSetting<'DOWNLOADER_CLIENT_TLS_CIPHERS'>
  /**
   * With DOWNLOAD_VERIFY_CERTIFICATES: a file of certificates (PEM) that are trusted in addition to Node’s and
   * NODE_EXTRA_CA_CERTS. Default `null`.
   */
  readonly DOWNLOAD_CA_CERTIFICATES?: WrittenSetting<'DOWNLOAD_CA_CERTIFICATES'>
  /**
   * The Chromium or Chrome that renders pages with `meta.browser`; null: the first of chromium-headless-shell, chromium,
   * chromium-browser, google-chrome in PATH. Default `null`.
   */
  readonly BROWSER_EXECUTABLE?: WrittenSetting<'BROWSER_EXECUTABLE'>
  /**
   * A browser that runs elsewhere, by its DevTools address (`http://127.0.0.1:9222`, `ws://…`), in place of one that each
   * worker starts. Default `null`.
   */
  readonly BROWSER_CDP_URL?: WrittenSetting<'BROWSER_CDP_URL'>
  /**
   * True: the browser of BROWSER_CDP_URL is used although it does not take our proxy, so that nothing keeps its pages out
   * of its network. Default `false`.
   */
  readonly BROWSER_CDP_TRUSTED?: WrittenSetting<'BROWSER_CDP_TRUSTED'>
  /**
   * The address of this machine at which a browser finds our proxy. For BROWSER_CDP_URL on another machine: one that it
   * can reach. Default `127.0.0.1`.
   */
  readonly BROWSER_EGRESS_HOST?: WrittenSetting<'BROWSER_EGRESS_HOST'>
  /**
   * False: Chromium runs without its sandbox, as root and most containers need it. A page that breaks Chromium has then
   * the rights of the worker. Default `true`.
   */
  readonly BROWSER_SANDBOX?: WrittenSetting<'BROWSER_SANDBOX'>
  /** Pages that a worker renders at once; null: two for each core. Default `null` (pages). */
  readonly BROWSER_PAGES?: WrittenSetting<'BROWSER_PAGES'>
  /** A browser that has rendered so many pages is replaced, once its last ones are done. 0: never. Default `500` (pages). */
  readonly BROWSER_RETIRE_AFTER?: WrittenSetting<'BROWSER_RETIRE_AFTER'>
  /**
   * A browser that takes more, its processes together, is replaced; at twice as much it is killed (Linux). 0: never.
   * Default `2048` (MiB).
   */
  readonly BROWSER_MEMORY_MB?: WrittenSetting<'BROWSER_MEMORY_MB'>
  /**
   * A page that loads more, or sends more, all of it together, is cut off and dropped. 0: no limit. Default `67108864`
   * (bytes).
   */
  readonly BROWSER_MAXSIZE?: WrittenSetting<'BROWSER_MAXSIZE'>
  /**
   * An answer that has begun and then brings less than this over DOWNLOAD_RATE_WINDOW is cut off and retried. 0: never.
   * Default `100` (bytes/s).
   */
  readonly DOWNLOAD_MIN_RATE?: WrittenSetting<'DOWNLOAD_MIN_RATE'>
  /** How long an answer may pause, and how long its headers may take once they have begun. Default `30` (s). */
  readonly DOWNLOAD_RATE_WINDOW?: WrittenSetting<'DOWNLOAD_RATE_WINDOW'>
  /** Larger headers, names and values together, end the download; it is not retried. Default `65536` (bytes). */
  readonly DOWNLOAD_MAX_HEADER_SIZE?: WrittenSetting<'DOWNLOAD_MAX_HEADER_SIZE'>
  /** More headers than this end the download; it is not retried. Default `500` (headers). */
  readonly DOWNLOAD_MAX_HEADERS?: WrittenSetting<'DOWNLOAD_MAX_HEADERS'>
  /** More 1xx answers than this before the real one end the download; it is not retried. Default `20` (answers). */
  readonly DOWNLOAD_MAX_INTERIM_ANSWERS?: WrittenSetting<'DOWNLOAD_MAX_INTERIM_ANSWERS'>
  /** A body that is encoded more often than this (gzip of gzip of gzip of gzip) is dropped. Default `3` (encodings). */
  readonly DOWNLOAD_MAX_ENCODINGS?: WrittenSetting<'DOWNLOAD_MAX_ENCODINGS'>
  /**
   * A body of more than 8 MiB that is larger than what was sent by more than this factor is dropped as a decompression
   * bomb. 0: no limit. Default `200` (times).
   */
  readonly DOWNLOAD_MAX_RATIO?: WrittenSetting<'DOWNLOAD_MAX_RATIO'>
  /**
   * While the bodies being received are larger than this together, all of those above 1 MiB wait, except for one. 0: no
   * limit. Default `33554432` (bytes).
   */
  readonly DOWNLOAD_MAX_ACTIVE_SIZE?: WrittenSetting<'DOWNLOAD_MAX_ACTIVE_SIZE'>
  /** A request that is redirected to a longer URL is dropped. 0: no limit. Default `8192` (characters). */
  readonly REDIRECT_MAX_URL_LENGTH?: WrittenSetting<'REDIRECT_MAX_URL_LENGTH'>
  /** The most cookies of one answer that are kept; further ones are ignored. Default `100` (cookies). */
  readonly COOKIES_PER_RESPONSE_MAX?: WrittenSetting<'COOKIES_PER_RESPONSE_MAX'>
  /**
   * Elements, texts and attributes of a page that go into its tree; queries do not find later ones. 0: no limit. Default
   * `150000` (nodes).
   */
  readonly PAGE_MAX_NODES?: WrittenSetting<'PAGE_MAX_NODES'>
  /** `linkUrls()` and `followAll()` take the first links of a page, up to this many. 0: no limit. Default `50000` (links). */
  readonly PAGE_MAX_LINKS?: WrittenSetting<'PAGE_MAX_LINKS'>
  /**
   * Pages in a row that differ only in their query and bring neither new links nor new items (a calendar) before the chain
   * is cut. 0: no limit. Default `140` (pages).
   */
  readonly TRAP_CHAIN_MAX?: WrittenSetting<'TRAP_CHAIN_MAX'>
  /**
   * How often one segment may stand in the path of a link (`/a/b/a/b`); numbers do not count. 0: no limit. Default `3`
   * (times).
   */
  readonly TRAP_SEGMENT_REPEATS_MAX?: WrittenSetting<'TRAP_SEGMENT_REPEATS_MAX'>
  /** The most segments in the path of a link. 0: no limit. Default `20` (segments). */
  readonly TRAP_SEGMENTS_MAX?: WrittenSetting<'TRAP_SEGMENTS_MAX'>
  /** Pages of one host after which its links are dropped; each worker counts its own. 0: no limit. Default `0` (pages). */
  readonly TRAP_PAGES_PER_HOST?: WrittenSetting<'TRAP_PAGES_PER_HOST'>
  /**
   * Pages of one path with different queries (facets) after which more of them are dropped; each worker counts its own. 0:
   * no limit. Default `0` (pages).
   */
  readonly TRAP_PAGES_PER_PATH?: WrittenSetting<'TRAP_PAGES_PER_PATH'>
  /** Fetches only what a site’s robots.txt allows (Scrapy: off, but on in each new project). Default `true`. */
  readonly ROBOTSTXT_OBEY?: WrittenSetting<'ROBOTSTXT_OBEY'>
  /** Name by which rules are chosen. null: the product names in each request’s User-Agent. Default `null`. */
  readonly ROBOTSTXT_USER_AGENT?: WrittenSetting<'ROBOTSTXT_USER_AGENT'>
  /** Longest time to get a robots.txt, redirects included. DOWNLOAD_TIMEOUT counts when it is shorter. Default `30` (s). */
  readonly ROBOTSTXT_TIMEOUT?: WrittenSetting<'ROBOTSTXT_TIMEOUT'>
  /** The most bytes that are fetched of a robots.txt. Its first 500 KiB are read. Default `4194304` (bytes). */
  readonly ROBOTSTXT_MAXSIZE?: WrittenSetting<'ROBOTSTXT_MAXSIZE'>
  /**
   * How long a site’s robots.txt is remembered, or that the site has none. RFC 9309 asks for a day at most. Default
   * `86400` (s).
   */
  readonly ROBOTSTXT_CACHE_TTL?: WrittenSetting<'ROBOTSTXT_CACHE_TTL'>
  /**
   * How much memory a worker takes to remember robots.txt: 20 bytes a site, and each different file once. When it is used
   * up, the oldest are forgotten. What all workers share on Redis takes at most twice as much. Default `33554432` (bytes).
   */
  readonly ROBOTSTXT_CACHE_MAXSIZE?: WrittenSetting<'ROBOTSTXT_CACHE_MAXSIZE'>
  /**
   * A site whose robots.txt fails (5xx, 429, no answer) is asked again after this time, then twice as long, up to 60 s.
   * Its requests wait. Default `2` (s).
   */
  readonly ROBOTSTXT_RETRY_DELAY?: WrittenSetting<'ROBOTSTXT_RETRY_DELAY'>
  /** How long requests wait for a robots.txt that fails. Default `300` (s). */
  readonly ROBOTSTXT_GIVE_UP_AFTER?: WrittenSetting<'ROBOTSTXT_GIVE_UP_AFTER'>
  /**
   * What becomes of requests whose robots.txt could not be fetched in time: `forbid` drops them, `allow` fetches them. RFC
   * 9309 permits `allow` after about 30 days. Default `forbid`.
   */
  readonly ROBOTSTXT_WHEN_GIVEN_UP?: WrittenSetting<'ROBOTSTXT_WHEN_GIVEN_UP'>
  /** After this time a site that was given up is asked for its robots.txt again. Default `3600` (s). */
  readonly ROBOTSTXT_ERROR_TTL?: WrittenSetting<'ROBOTSTXT_ERROR_TTL'>
  /**
   * Whether the Crawl-delay of a robots.txt is the least delay of its host. `obey`: yes, up to a day. `cap`: yes, up to
   * CRAWL_DELAY_MAX. `ignore`: no. Default `obey`.
   */
  readonly CRAWL_DELAY?: WrittenSetting<'CRAWL_DELAY'>
  /** The longest Crawl-delay that is obeyed with CRAWL_DELAY=cap. Default `30` (s). */
  readonly CRAWL_DELAY_MAX?: WrittenSetting<'CRAWL_DELAY_MAX'>
  /** Keeps cookies and sends them back; `meta.cookiejar` tells sessions apart. Default `true`. */
  readonly COOKIES_ENABLED?: WrittenSetting<'COOKIES_ENABLED'>
  /**
   * All workers of a crawl share their jars, in the queue’s Redis. false: each worker has jars of its own, and a session
   * breaks when its next request goes to another worker. Default `false`.
   */
  readonly COOKIES_SHARED?: WrittenSetting<'COOKIES_SHARED'>
  /** Logs every cookie that is sent or received, at level debug. Default `false`. */
  readonly COOKIES_DEBUG?: WrittenSetting<'COOKIES_DEBUG'>
  /** Larger cookies, name and value together, are not kept. Default `4096` (bytes). */
  readonly COOKIE_MAXSIZE?: WrittenSetting<'COOKIE_MAXSIZE'>
  /** Cookies that one domain may have in a jar; when there are more, the oldest is dropped. Default `180` (cookies). */
  readonly COOKIES_PER_DOMAIN_MAX?: WrittenSetting<'COOKIES_PER_DOMAIN_MAX'>
  /**
   * Cookies in all jars together, in 640 bytes each; when there are more, those of the domain used longest ago are
   * dropped. A longer cookie counts as several. Default `50000` (cookies).
   */
  readonly COOKIES_MAX?: WrittenSetting<'COOKIES_MAX'>
  /**
   * Jars (`meta.cookiejar`) that are kept at once; when there are more, the one used longest ago is dropped. Default
   * `1000` (jars).
   */
  readonly COOKIE_JARS_MAX?: WrittenSetting<'COOKIE_JARS_MAX'>
  /** Sends the Referer header with requests that a page led to. Default `true`. */
  readonly REFERER_ENABLED?: WrittenSetting<'REFERER_ENABLED'>
  /**
   * How much of a page’s URL the Referer header of its links holds. A page’s own Referrer-Policy and
   * `meta.referrer_policy` override it. Default `scrapy-default`.
   */
  readonly REFERRER_POLICY?: WrittenSetting<'REFERRER_POLICY'>
  /** User name for HTTP basic authentication. A spider’s `httpUser` and `meta.http_user` override it. Default empty. */
  readonly HTTPAUTH_USER?: WrittenSetting<'HTTPAUTH_USER'>
  /** Password for HTTPAUTH_USER. A spider’s `httpPass` and `meta.http_pass` override it. Default empty. */
  readonly HTTPAUTH_PASS?: WrittenSetting<'HTTPAUTH_PASS'>
  /**
   * The only domain, with its subdomains, that gets user and password. null: every host that the crawl fetches from. If a
   * user or password is set, this must be set, too, if only to null. Default `null`.
   */
  readonly HTTPAUTH_DOMAIN?: WrittenSetting<'HTTPAUTH_DOMAIN'>
  /** Follows redirects by `<meta http-equiv="refresh">`. Default `true`. */
  readonly METAREFRESH_ENABLED?: WrittenSetting<'METAREFRESH_ENABLED'>
  /** A refresh inside these elements is not followed. Default `["noscript"]`. */
  readonly METAREFRESH_IGNORE_TAGS?: WrittenSetting<'METAREFRESH_IGNORE_TAGS'>
  /** A refresh after this long or longer is not followed: the page is meant to be seen first. Default `100` (s). */
  readonly METAREFRESH_MAXDELAY?: WrittenSetting<'METAREFRESH_MAXDELAY'>
  /**
   * Uses `meta.proxy`, PROXY_LIST, or http_proxy, https_proxy and no_proxy of the environment. The proxy resolves names,
   * so what it connects to is not checked here. Default `true`.
   */
  readonly HTTPPROXY_ENABLED?: WrittenSetting<'HTTPPROXY_ENABLED'>
  /** Encoding of user and password from a proxy’s URL. Default `latin-1`. */
  readonly HTTPPROXY_AUTH_ENCODING?: WrittenSetting<'HTTPPROXY_AUTH_ENCODING'>
  /**
   * Proxies that take turns, as `http://user:password@host:port`. One that fails is used less, and then not for a while.
   * Default `[]`.
   */
  readonly PROXY_LIST?: WrittenSetting<'PROXY_LIST'>
  /** Failures in a row after which a proxy of PROXY_LIST is not used for PROXY_BAN seconds. Default `3` (failures). */
  readonly PROXY_FAILURES_MAX?: WrittenSetting<'PROXY_FAILURES_MAX'>
  /** How long a proxy that failed is not used, unless all have failed. Default `300` (s). */
  readonly PROXY_BAN?: WrittenSetting<'PROXY_BAN'>
  /**
   * Proxies whose connections are kept at once; when there are more, those of the one used longest ago are closed. Default
   * `100` (proxies).
   */
  readonly PROXY_AGENTS_MAX?: WrittenSetting<'PROXY_AGENTS_MAX'>
  /** Keeps responses on disk and reuses them, except for requests with `meta.dont_cache`. Default `false`. */
  readonly HTTPCACHE_ENABLED?: WrittenSetting<'HTTPCACHE_ENABLED'>
  /**
   * `dummy` keeps everything and never asks the site again, for writing a spider; `rfc2616` obeys the servers’ headers
   * (RFC 9111); or `./file.ts#Export`. Default `dummy`.
   */
  readonly HTTPCACHE_POLICY?: WrittenSetting<'HTTPCACHE_POLICY'>
  /** `file` has a folder for each answer, `sqlite` one file for each spider; or `./file.ts#Export`. Default `file`. */
  readonly HTTPCACHE_STORAGE?: WrittenSetting<'HTTPCACHE_STORAGE'>
  /** The folder of the cache; below it each spider has its own. Default `httpcache`. */
  readonly HTTPCACHE_DIR?: WrittenSetting<'HTTPCACHE_DIR'>
  /** Pages that were stored longer ago are fetched again. 0: never. Default `0` (s). */
  readonly HTTPCACHE_EXPIRATION_SECS?: WrittenSetting<'HTTPCACHE_EXPIRATION_SECS'>
  /** Replay: nothing is fetched, and requests that are not in the cache are dropped. Default `false`. */
  readonly HTTPCACHE_IGNORE_MISSING?: WrittenSetting<'HTTPCACHE_IGNORE_MISSING'>
  /** Statuses that the policy `dummy` does not store. Default `[]`. */
  readonly HTTPCACHE_IGNORE_HTTP_CODES?: WrittenSetting<'HTTPCACHE_IGNORE_HTTP_CODES'>
  /** URL schemes whose answers are not stored. Default `["file"]`. */
  readonly HTTPCACHE_IGNORE_SCHEMES?: WrittenSetting<'HTTPCACHE_IGNORE_SCHEMES'>
  /** Stores answers compressed by gzip. Default `false`. */
  readonly HTTPCACHE_GZIP?: WrittenSetting<'HTTPCACHE_GZIP'>
  /**
   * The policy `rfc2616` stores every response that no `no-store` forbids, if only to ask later whether it has changed.
   * Default `false`.
   */
  readonly HTTPCACHE_ALWAYS_STORE?: WrittenSetting<'HTTPCACHE_ALWAYS_STORE'>
  /** Cache-Control directives of servers that the policy `rfc2616` does not obey, such as `no-store`. Default `[]`. */
  readonly HTTPCACHE_IGNORE_RESPONSE_CACHE_CONTROLS?: WrittenSetting<'HTTPCACHE_IGNORE_RESPONSE_CACHE_CONTROLS'>
  /** Item pipelines and their order: `[["./mine.ts#Mine", 300]]`; built in are `redis`, `sql` and `files`. Default `[]`. */
  readonly ITEM_PIPELINES?: WrittenSetting<'ITEM_PIPELINES'>
  /**
   * How many fields of items are counted, each with the number of items that have it (`item_field_count/<field>`). A site
   * that has changed shows there first. 0: none. Default `100` (fields).
   */
  readonly FIELD_COVERAGE_MAX?: WrittenSetting<'FIELD_COVERAGE_MAX'>
  /**
   * The field in which an item may hold an id of its own, a text or a number. null: request id and the item's number on
   * its page. Default `null`.
   */
  readonly ITEM_ID_FIELD?: WrittenSetting<'ITEM_ID_FIELD'>
  /** Level of the log line for a dropped item, unless its DropItem names one. Default `WARNING`. */
  readonly DEFAULT_DROPITEM_LOG_LEVEL?: WrittenSetting<'DEFAULT_DROPITEM_LOG_LEVEL'>
  /** Output files and their options: `{"out.jsonl": {"format": "jsonl", "overwrite": true}}`; `-o` adds one. Default `{}`. */
  readonly FEEDS?: WrittenSetting<'FEEDS'>
  /** Formats of your own, by name or file extension: `{"md": "./markdown.ts#Markdown"}`. Default `{}`. */
  readonly FEED_EXPORTERS?: WrittenSetting<'FEED_EXPORTERS'>
  /**
   * Storages of your own, by the scheme of the outputs that go there: `{"sftp": "./sftp.ts#Sftp"}`. null removes a scheme.
   * Default `{}`.
   */
  readonly FEED_STORAGES?: WrittenSetting<'FEED_STORAGES'>
  /** Fields to write, in this order; as an object also their names in the output. null: all. Default `null`. */
  readonly FEED_EXPORT_FIELDS?: WrittenSetting<'FEED_EXPORT_FIELDS'>
  /** Spaces of indentation in JSON. 0: one item a line. null: all on one line. Default `0` (spaces). */
  readonly FEED_EXPORT_INDENT?: WrittenSetting<'FEED_EXPORT_INDENT'>
  /** Writes the output file even if there was no item. Default `true`. */
  readonly FEED_STORE_EMPTY?: WrittenSetting<'FEED_STORE_EMPTY'>
  /**
   * Begins a new file after this many items; its name needs `%(batch_id)d` or `%(batch_time)s`. 0: one file. Default `0`
   * (items).
   */
  readonly FEED_EXPORT_BATCH_ITEM_COUNT?: WrittenSetting<'FEED_EXPORT_BATCH_ITEM_COUNT'>
  /**
   * A function `(params, spider) => params`, or `./file.ts#name`, that gives the values of `%(…)s` in the names of FEEDS.
   * Default `null`.
   */
  readonly FEED_URI_PARAMS?: WrittenSetting<'FEED_URI_PARAMS'>
  /** Folder for items on their way to S3 or to a storage of your own. null: `.webloom/feeds`. Default `null`. */
  readonly FEED_TEMPDIR?: WrittenSetting<'FEED_TEMPDIR'>
  /** Canned ACL of objects in S3, e.g. `private`. Empty: the bucket’s. Default empty. */
  readonly FEED_STORAGE_S3_ACL?: WrittenSetting<'FEED_STORAGE_S3_ACL'>
  /** Key for S3. null: AWS_ACCESS_KEY_ID of the environment, without a prefix. Default `null`. */
  readonly AWS_ACCESS_KEY_ID?: WrittenSetting<'AWS_ACCESS_KEY_ID'>
  /** Secret of the key for S3. null: AWS_SECRET_ACCESS_KEY of the environment. Default `null`. */
  readonly AWS_SECRET_ACCESS_KEY?: WrittenSetting<'AWS_SECRET_ACCESS_KEY'>
  /** Session token of a temporary key. null: AWS_SESSION_TOKEN of the environment. Default `null`. */
  readonly AWS_SESSION_TOKEN?: WrittenSetting<'AWS_SESSION_TOKEN'>
  /** Address of another service with the interface of S3, e.g. `http://localhost:9000`. null: Amazon. Default `null`. */
  readonly AWS_ENDPOINT_URL?: WrittenSetting<'AWS_ENDPOINT_URL'>
  /** Region of the bucket. null: AWS_REGION or AWS_DEFAULT_REGION of the environment, else `us-east-1`. Default `null`. */
  readonly AWS_REGION_NAME?: WrittenSetting<'AWS_REGION_NAME'>
  /** Database of the pipeline `sql`: `sqlite:items.db` or `postgres://user@host/database`. Default `null`. */
  readonly SQL_URL?: WrittenSetting<'SQL_URL'>
  /**
   * Table of the pipeline `sql`, which makes it if it does not exist. PostgreSQL also takes `schema.table`. Default
   * `%(spider)s`.
   */
  readonly SQL_TABLE?: WrittenSetting<'SQL_TABLE'>
  /** The table's primary key, which holds the item's id: an item that comes again replaces its row. Default `id`. */
  readonly SQL_ID_COLUMN?: WrittenSetting<'SQL_ID_COLUMN'>
  /**
   * Fields that get a column of their own: a list, or an object with their types, `{"price": "NUMERIC"}`. null: one column
   * `item` with JSON. Default `null`.
   */
  readonly SQL_COLUMNS?: WrittenSetting<'SQL_COLUMNS'>
  /** The most rows in one statement. Default `500` (rows). */
  readonly SQL_BATCH_SIZE?: WrittenSetting<'SQL_BATCH_SIZE'>
  /** Folder for what the pipeline `files` downloads; several workers may share it. Default `null`. */
  readonly FILES_STORE?: WrittenSetting<'FILES_STORE'>
  /** Field of an item that holds the URLs of its files. Default `file_urls`. */
  readonly FILES_URLS_FIELD?: WrittenSetting<'FILES_URLS_FIELD'>
  /** Field that gets `{url, path, checksum, status}` of each file that was stored. Default `files`. */
  readonly FILES_RESULT_FIELD?: WrittenSetting<'FILES_RESULT_FIELD'>
  /** A file in the store that is younger than this is not fetched again. Default `90` (days). */
  readonly FILES_EXPIRES?: WrittenSetting<'FILES_EXPIRES'>
  /** Follows redirects of files. false: a redirected file fails. Default `false`. */
  readonly MEDIA_ALLOW_REDIRECTS?: WrittenSetting<'MEDIA_ALLOW_REDIRECTS'>
  /** Most files that a process downloads at once, beside CONCURRENT_REQUESTS. Default `16` (downloads). */
  readonly CONCURRENT_MEDIA?: WrittenSetting<'CONCURRENT_MEDIA'>
  /**
   * Without Redis: the folder where what each run came to is kept, for `webloom runs` and monitors; below it each spider
   * has its own. null: `.webloom/runs` in the project; outside of any project `runs` in JOBDIR, or nowhere. With Redis it
   * is kept there. Default `null`.
   */
  readonly RUNS_DIR?: WrittenSetting<'RUNS_DIR'>
  /**
   * What each run is expected to bring: `{"items": {"min": 100, "drop": 0.3}, "coverage": {"price": 0.95}}`. A spider’s
   * `static monitors` come before those of the config file, those of the environment and the command line before them.
   * Default `{}`.
   */
  readonly MONITORS?: WrittenSetting<'MONITORS'>
  /**
   * Addresses that are told when a monitor fails, by a POST. Slack’s and Discord’s are told in their own form, any other
   * as JSON. Default `[]`.
   */
  readonly MONITOR_WEBHOOKS?: WrittenSetting<'MONITOR_WEBHOOKS'>
  /**
   * Key with which each POST to MONITOR_WEBHOOKS is signed: `X-Webloom-Signature: t=<seconds>,v1=<HMAC-SHA256 of
   * "<seconds>.<body>", hexadecimal>`. null: it is not. Default `null`.
   */
  readonly MONITOR_WEBHOOK_SECRET?: WrittenSetting<'MONITOR_WEBHOOK_SECRET'>
  /** Who is told by mail when a monitor fails. Needs the package nodemailer in the project, and MAIL_HOST. Default `[]`. */
  readonly MONITOR_MAIL_TO?: WrittenSetting<'MONITOR_MAIL_TO'>
  /** The sender of mails. Default `scrapy@localhost`. */
  readonly MAIL_FROM?: WrittenSetting<'MAIL_FROM'>
  /** The SMTP server that takes mails. Default `localhost`. */
  readonly MAIL_HOST?: WrittenSetting<'MAIL_HOST'>
  /** Its port. Default `25`. */
  readonly MAIL_PORT?: WrittenSetting<'MAIL_PORT'>
  /** Name with which the crawl signs in there. null: it does not sign in. Default `null`. */
  readonly MAIL_USER?: WrittenSetting<'MAIL_USER'>
  /** The password for MAIL_USER. Default `null`. */
  readonly MAIL_PASS?: WrittenSetting<'MAIL_PASS'>
  /** Refuses to send a mail before the connection is encrypted by STARTTLS. Default `false`. */
  readonly MAIL_TLS?: WrittenSetting<'MAIL_TLS'>
  /** The connection is encrypted from its beginning. Default `false`. */
  readonly MAIL_SSL?: WrittenSetting<'MAIL_SSL'>
  /** false: no monitor judges, whatever is set. Default `true`. */
  readonly SPIDERMON_ENABLED?: WrittenSetting<'SPIDERMON_ENABLED'>
  /** The monitor `items.min`: the fewest items of a run. null, here and below: none is set. Default `null`. */
  readonly SPIDERMON_MIN_ITEMS?: WrittenSetting<'SPIDERMON_MIN_ITEMS'>
  /** The monitor `errors`: the most lines of the log at level ERROR. Default `null`. */
  readonly SPIDERMON_MAX_ERRORS?: WrittenSetting<'SPIDERMON_MAX_ERRORS'>
  /** The monitor `warnings`: the most lines at level WARNING. Default `null`. */
  readonly SPIDERMON_MAX_WARNINGS?: WrittenSetting<'SPIDERMON_MAX_WARNINGS'>
  /** The monitor `criticals`: the most lines at level CRITICAL. Default `null`. */
  readonly SPIDERMON_MAX_CRITICALS?: WrittenSetting<'SPIDERMON_MAX_CRITICALS'>
  /** The monitor `finishReasons`: how a run may end. Empty: in any way. Default `[]`. */
  readonly SPIDERMON_EXPECTED_FINISH_REASONS?: WrittenSetting<'SPIDERMON_EXPECTED_FINISH_REASONS'>
  /**
   * The monitor `statuses`: statuses, each with the most responses that may have it, `{"500": 0}`; or a list of them, for
   * SPIDERMON_UNWANTED_HTTP_CODES_MAX_COUNT. Default `[]`.
   */
  readonly SPIDERMON_UNWANTED_HTTP_CODES?: WrittenSetting<'SPIDERMON_UNWANTED_HTTP_CODES'>
  /** How many responses may have a status of that list. Default `10`. */
  readonly SPIDERMON_UNWANTED_HTTP_CODES_MAX_COUNT?: WrittenSetting<'SPIDERMON_UNWANTED_HTTP_CODES_MAX_COUNT'>
  /** The monitor `exceptions`: the most downloads without an answer. Default `null`. */
  readonly SPIDERMON_MAX_DOWNLOADER_EXCEPTIONS?: WrittenSetting<'SPIDERMON_MAX_DOWNLOADER_EXCEPTIONS'>
  /** The monitor `retries`: the most requests that may be given up after all their tries. -1 is null. Default `null`. */
  readonly SPIDERMON_MAX_RETRIES?: WrittenSetting<'SPIDERMON_MAX_RETRIES'>
  /** The monitor `successes`: the fewest responses with status 200. Default `null`. */
  readonly SPIDERMON_MIN_SUCCESSFUL_REQUESTS?: WrittenSetting<'SPIDERMON_MIN_SUCCESSFUL_REQUESTS'>
  /** The monitor `requests`: the most requests that are sent. -1 is null. Default `null`. */
  readonly SPIDERMON_MAX_REQUESTS_ALLOWED?: WrittenSetting<'SPIDERMON_MAX_REQUESTS_ALLOWED'>
  /** The monitor `invalidItems`: the most items that their schema may refuse. Default `null`. */
  readonly SPIDERMON_MAX_ITEM_VALIDATION_ERRORS?: WrittenSetting<'SPIDERMON_MAX_ITEM_VALIDATION_ERRORS'>
  /**
   * The monitor `coverage`: fields, each with the share of items that must have it. `dict/author/name` is `author.name`.
   * Default `{}`.
   */
  readonly SPIDERMON_FIELD_COVERAGE_RULES?: WrittenSetting<'SPIDERMON_FIELD_COVERAGE_RULES'>
  /** The monitor `maxMinutes`, in seconds: the longest time that a run may take; told while it runs. Default `null` (s). */
  readonly SPIDERMON_MAX_EXECUTION_TIME?: WrittenSetting<'SPIDERMON_MAX_EXECUTION_TIME'>
  /**
   * The monitor `items.drop`, turned round: 0.8 tells of a run with less than 80 % of the items of those before. Default
   * `null`.
   */
  readonly SPIDERMON_JOBS_COMPARISON_THRESHOLD?: WrittenSetting<'SPIDERMON_JOBS_COMPARISON_THRESHOLD'>
  /** Writes a log. Default `true`. */
  readonly LOG_ENABLED?: WrittenSetting<'LOG_ENABLED'>
  /**
   * Lowest level that is written. It is not DEBUG as in Scrapy, whose line for each page and item hides the rest. Default
   * `INFO`.
   */
  readonly LOG_LEVEL?: WrittenSetting<'LOG_LEVEL'>
  /** auto: pretty on a terminal, else one JSON object a line. (In Scrapy: a template of the line.) Default `auto`. */
  readonly LOG_FORMAT?: WrittenSetting<'LOG_FORMAT'>
  /** Colours log lines on a terminal. NO_COLOR in the environment turns them off everywhere. Default `true`. */
  readonly LOG_COLOR?: WrittenSetting<'LOG_COLOR'>
  /** File for the log. null: standard error. Default `null`. */
  readonly LOG_FILE?: WrittenSetting<'LOG_FILE'>
  /** Appends to LOG_FILE. false: empties the file at the start. Default `true`. */
  readonly LOG_FILE_APPEND?: WrittenSetting<'LOG_FILE_APPEND'>
  /** Time between two log lines with the pages and items so far. 0: no such lines. Default `60` (s). */
  readonly LOGSTATS_INTERVAL?: WrittenSetting<'LOGSTATS_INTERVAL'>
  /** Keeps the counters: `memory`, or `./file.ts#Export`. Default `memory`. */
  readonly STATS_CLASS?: WrittenSetting<'STATS_CLASS'>
  /** Shows all counters of this process at the end. Default `true`. */
  readonly STATS_DUMP?: WrittenSetting<'STATS_DUMP'>
  /**
   * Port of this process’s `/metrics`, for Prometheus. The n-th process of `worker --processes` has METRICS_PORT + n.
   * Needs `@webloom/dashboard`. 0: none. Default `0`.
   */
  readonly METRICS_PORT?: WrittenSetting<'METRICS_PORT'>
  /** Address that METRICS_PORT listens on. Whoever reaches it can read the figures. Default `127.0.0.1`. */
  readonly METRICS_HOST?: WrittenSetting<'METRICS_HOST'>
  /**
   * Counts how long requests wait in the queue and how long downloads and callbacks take, as the stats `queue_time/*`,
   * `download_time/*` and `callback_time/*`. Default `false`.
   */
  readonly METRICS_TIMES?: WrittenSetting<'METRICS_TIMES'>
  /**
   * Share of the pages that get an OpenTelemetry trace: 0.001 is one in a thousand. Needs `@opentelemetry/api`, and an SDK
   * that sends the traces. 0: none. Default `0`.
   */
  readonly TRACES?: WrittenSetting<'TRACES'>
  /** Known, not used: robots.txt is read by the rules of RFC 9309, and its parser cannot be exchanged. */
  readonly ROBOTSTXT_PARSER?: WrittenSetting<'ROBOTSTXT_PARSER'>
  /** Known, not used: HTTPCACHE_STORAGE=sqlite has taken the place of the dbm files. */
  readonly HTTPCACHE_DBM_MODULE?: WrittenSetting<'HTTPCACHE_DBM_MODULE'>
  /** Known, not used: policies are those of the Referrer Policy standard; REFERRER_POLICY chooses one. */
  readonly REFERRER_POLICIES?: WrittenSetting<'REFERRER_POLICIES'>
  /**
   * Known, not used: FTP is not built in; DOWNLOAD_HANDLERS takes a handler of your own. The downloader around them is
   * ours.
   */
  readonly DOWNLOADER?: WrittenSetting<'DOWNLOADER'>
  /**
   * Known, not used: FTP is not built in; DOWNLOAD_HANDLERS takes a handler of your own. The downloader around them is
   * ours.
   */
  readonly FTP_PASSIVE_MODE?: WrittenSetting<'FTP_PASSIVE_MODE'>
  /**
   * Known, not used: FTP is not built in; DOWNLOAD_HANDLERS takes a handler of your own. The downloader around them is
   * ours.
   */
  readonly FTP_PASSWORD?: WrittenSetting<'FTP_PASSWORD'>
  /**
   * Known, not used: FTP is not built in; DOWNLOAD_HANDLERS takes a handler of your own. The downloader around them is
   * ours.
   */
  readonly FTP_USER?: WrittenSetting<'FTP_USER'>
  /** Known, not used: frames of HTTP/2 have the size that Node gives them, 16 KiB. */
  readonly HTTP2_MAX_FRAME_SIZE?: WrittenSetting<'HTTP2_MAX_FRAME_SIZE'>
  /** Known, not used: TLS is Node’s. */
  readonly DOWNLOADER_CLIENTCONTEXTFACTORY?: WrittenSetting<'DOWNLOADER_CLIENTCONTEXTFACTORY'>
  /** Known, not used: TLS is Node’s. */
  readonly DOWNLOADER_CLIENT_TLS_VERBOSE_LOGGING?: WrittenSetting<'DOWNLOADER_CLIENT_TLS_VERBOSE_LOGGING'>
  /**
   * Known, not used: the built-in components are fixed; the setting without _BASE adds components and disables built-in
   * ones.
   */
  readonly DOWNLOADER_MIDDLEWARES_BASE?: WrittenSetting<'DOWNLOADER_MIDDLEWARES_BASE'>
  /**
   * Known, not used: the built-in components are fixed; the setting without _BASE adds components and disables built-in
   * ones.
   */
  readonly DOWNLOAD_HANDLERS_BASE?: WrittenSetting<'DOWNLOAD_HANDLERS_BASE'>
  /**
   * Known, not used: the built-in components are fixed; the setting without _BASE adds components and disables built-in
   * ones.
   */
  readonly EXTENSIONS_BASE?: WrittenSetting<'EXTENSIONS_BASE'>
  /**
   * Known, not used: the built-in components are fixed; the setting without _BASE adds components and disables built-in
   * ones.
   */
  readonly FEED_EXPORTERS_BASE?: WrittenSetting<'FEED_EXPORTERS_BASE'>
  /**
   * Known, not used: the built-in components are fixed; the setting without _BASE adds components and disables built-in
   * ones.
   */
  readonly FEED_STORAGES_BASE?: WrittenSetting<'FEED_STORAGES_BASE'>
  /**
   * Known, not used: the built-in components are fixed; the setting without _BASE adds components and disables built-in
   * ones.
   */
  readonly ITEM_PIPELINES_BASE?: WrittenSetting<'ITEM_PIPELINES_BASE'>
  /**
   * Known, not used: the built-in components are fixed; the setting without _BASE adds components and disables built-in
   * ones.
   */
  readonly SPIDER_MIDDLEWARES_BASE?: WrittenSetting<'SPIDER_MIDDLEWARES_BASE'>
  /** Known, not used: feeds go to files, standard output and S3, or to a storage of your own (FEED_STORAGES). */
  readonly FEED_STORAGE_FTP_ACTIVE?: WrittenSetting<'FEED_STORAGE_FTP_ACTIVE'>
  /** Known, not used: feeds go to files, standard output and S3, or to a storage of your own (FEED_STORAGES). */
  readonly FEED_STORAGE_GCS_ACL?: WrittenSetting<'FEED_STORAGE_GCS_ACL'>
  /** Known, not used: feeds go to files, standard output and S3, or to a storage of your own (FEED_STORAGES). */
  readonly AWS_MAX_POOL_CONNECTIONS?: WrittenSetting<'AWS_MAX_POOL_CONNECTIONS'>
  /** Known, not used: feeds go to files, standard output and S3, or to a storage of your own (FEED_STORAGES). */
  readonly AWS_USE_SSL?: WrittenSetting<'AWS_USE_SSL'>
  /** Known, not used: feeds go to files, standard output and S3, or to a storage of your own (FEED_STORAGES). */
  readonly AWS_VERIFY?: WrittenSetting<'AWS_VERIFY'>
  /** Known, not used: feeds go to files, standard output and S3, or to a storage of your own (FEED_STORAGES). */
  readonly GCS_PROJECT_ID?: WrittenSetting<'GCS_PROJECT_ID'>
  /** Known, not used: output is always UTF-8. */
  readonly FEED_EXPORT_ENCODING?: WrittenSetting<'FEED_EXPORT_ENCODING'>
  /** Known, not used: output is always UTF-8. */
  readonly LOG_ENCODING?: WrittenSetting<'LOG_ENCODING'>
  /** Known, not used: FEEDS has taken the place of these two, in Scrapy as here. */
  readonly FEED_URI?: WrittenSetting<'FEED_URI'>
  /** Known, not used: FEEDS has taken the place of these two, in Scrapy as here. */
  readonly FEED_FORMAT?: WrittenSetting<'FEED_FORMAT'>
  /** Known, not used: the pipeline `files` keeps files in a folder; it treats images as files and does not convert them. */
  readonly FILES_STORE_GCS_ACL?: WrittenSetting<'FILES_STORE_GCS_ACL'>
  /** Known, not used: the pipeline `files` keeps files in a folder; it treats images as files and does not convert them. */
  readonly FILES_STORE_S3_ACL?: WrittenSetting<'FILES_STORE_S3_ACL'>
  /** Known, not used: the pipeline `files` keeps files in a folder; it treats images as files and does not convert them. */
  readonly IMAGES_EXPIRES?: WrittenSetting<'IMAGES_EXPIRES'>
  /** Known, not used: the pipeline `files` keeps files in a folder; it treats images as files and does not convert them. */
  readonly IMAGES_MIN_HEIGHT?: WrittenSetting<'IMAGES_MIN_HEIGHT'>
  /** Known, not used: the pipeline `files` keeps files in a folder; it treats images as files and does not convert them. */
  readonly IMAGES_MIN_WIDTH?: WrittenSetting<'IMAGES_MIN_WIDTH'>
  /** Known, not used: the pipeline `files` keeps files in a folder; it treats images as files and does not convert them. */
  readonly IMAGES_RESULT_FIELD?: WrittenSetting<'IMAGES_RESULT_FIELD'>
  /** Known, not used: the pipeline `files` keeps files in a folder; it treats images as files and does not convert them. */
  readonly IMAGES_STORE?: WrittenSetting<'IMAGES_STORE'>
  /** Known, not used: the pipeline `files` keeps files in a folder; it treats images as files and does not convert them. */
  readonly IMAGES_STORE_GCS_ACL?: WrittenSetting<'IMAGES_STORE_GCS_ACL'>
  /** Known, not used: the pipeline `files` keeps files in a folder; it treats images as files and does not convert them. */
  readonly IMAGES_STORE_S3_ACL?: WrittenSetting<'IMAGES_STORE_S3_ACL'>
  /** Known, not used: the pipeline `files` keeps files in a folder; it treats images as files and does not convert them. */
  readonly IMAGES_THUMBS?: WrittenSetting<'IMAGES_THUMBS'>
  /** Known, not used: the pipeline `files` keeps files in a folder; it treats images as files and does not convert them. */
  readonly IMAGES_URLS_FIELD?: WrittenSetting<'IMAGES_URLS_FIELD'>
  /** Known, not used: items are plain objects; there is no item class, and one way through the pipelines. */
  readonly DEFAULT_ITEM_CLASS?: WrittenSetting<'DEFAULT_ITEM_CLASS'>
  /** Known, not used: items are plain objects; there is no item class, and one way through the pipelines. */
  readonly ITEM_PROCESSOR?: WrittenSetting<'ITEM_PROCESSOR'>
  /**
   * Known, not used: SCHEDULER_QUEUE_CLASS chooses the order; requests wait by host and priority, not in queues of this
   * kind.
   */
  readonly SCHEDULER_DISK_QUEUE?: WrittenSetting<'SCHEDULER_DISK_QUEUE'>
  /**
   * Known, not used: SCHEDULER_QUEUE_CLASS chooses the order; requests wait by host and priority, not in queues of this
   * kind.
   */
  readonly SCHEDULER_MEMORY_QUEUE?: WrittenSetting<'SCHEDULER_MEMORY_QUEUE'>
  /**
   * Known, not used: SCHEDULER_QUEUE_CLASS chooses the order; requests wait by host and priority, not in queues of this
   * kind.
   */
  readonly SCHEDULER_PRIORITY_QUEUE?: WrittenSetting<'SCHEDULER_PRIORITY_QUEUE'>
  /**
   * Known, not used: SCHEDULER_QUEUE_CLASS chooses the order; requests wait by host and priority, not in queues of this
   * kind.
   */
  readonly SCHEDULER_START_DISK_QUEUE?: WrittenSetting<'SCHEDULER_START_DISK_QUEUE'>
  /**
   * Known, not used: SCHEDULER_QUEUE_CLASS chooses the order; requests wait by host and priority, not in queues of this
   * kind.
   */
  readonly SCHEDULER_START_MEMORY_QUEUE?: WrittenSetting<'SCHEDULER_START_MEMORY_QUEUE'>
  /** Known, not used: each request that cannot be queued is logged in any case, with the reason. */
  readonly SCHEDULER_DEBUG?: WrittenSetting<'SCHEDULER_DEBUG'>
  /** Known, not used: FINGERPRINTER chooses the fingerprint. */
  readonly REQUEST_FINGERPRINTER_CLASS?: WrittenSetting<'REQUEST_FINGERPRINTER_CLASS'>
  /** Known, not used: FINGERPRINTER chooses the fingerprint. */
  readonly REQUEST_FINGERPRINTER_IMPLEMENTATION?: WrittenSetting<'REQUEST_FINGERPRINTER_IMPLEMENTATION'>
  /** Known, not used: monitors tell what they find: MONITOR_MAIL_TO. */
  readonly MEMUSAGE_NOTIFY_MAIL?: WrittenSetting<'MEMUSAGE_NOTIFY_MAIL'>
  /** Known, not used: monitors tell what they find: MONITOR_MAIL_TO. */
  readonly STATSMAILER_RCPTS?: WrittenSetting<'STATSMAILER_RCPTS'>
  /**
   * Known, not used: a running crawl has no console; `webloom status`, `pause`, `resume` and `stop` watch and steer a
   * crawl on Redis, signals any other.
   */
  readonly REMOTE_CONTROL_ENABLED?: WrittenSetting<'REMOTE_CONTROL_ENABLED'>
  /**
   * Known, not used: a running crawl has no console; `webloom status`, `pause`, `resume` and `stop` watch and steer a
   * crawl on Redis, signals any other.
   */
  readonly REMOTE_CONTROL_JOBS_DIR?: WrittenSetting<'REMOTE_CONTROL_JOBS_DIR'>
  /**
   * Known, not used: a running crawl has no console; `webloom status`, `pause`, `resume` and `stop` watch and steer a
   * crawl on Redis, signals any other.
   */
  readonly REMOTE_CONTROL_OUTPUT_MAX_BYTES?: WrittenSetting<'REMOTE_CONTROL_OUTPUT_MAX_BYTES'>
  /**
   * Known, not used: a running crawl has no console; `webloom status`, `pause`, `resume` and `stop` watch and steer a
   * crawl on Redis, signals any other.
   */
  readonly REMOTE_CONTROL_TIMEOUT_DEFAULT?: WrittenSetting<'REMOTE_CONTROL_TIMEOUT_DEFAULT'>
  /**
   * Known, not used: a running crawl has no console; `webloom status`, `pause`, `resume` and `stop` watch and steer a
   * crawl on Redis, signals any other.
   */
  readonly REMOTE_CONTROL_TIMEOUT_MAX?: WrittenSetting<'REMOTE_CONTROL_TIMEOUT_MAX'>
  /**
   * Known, not used: a running crawl has no console; `webloom status`, `pause`, `resume` and `stop` watch and steer a
   * crawl on Redis, signals any other.
   */
  readonly REMOTE_CONTROL_TRACEBACK_MAX_BYTES?: WrittenSetting<'REMOTE_CONTROL_TRACEBACK_MAX_BYTES'>
  /**
   * Known, not used: a running crawl has no console; `webloom status`, `pause`, `resume` and `stop` watch and steer a
   * crawl on Redis, signals any other.
   */
  readonly TELNETCONSOLE_ENABLED?: WrittenSetting<'TELNETCONSOLE_ENABLED'>
  /**
   * Known, not used: a running crawl has no console; `webloom status`, `pause`, `resume` and `stop` watch and steer a
   * crawl on Redis, signals any other.
   */
  readonly TELNETCONSOLE_HOST?: WrittenSetting<'TELNETCONSOLE_HOST'>
  /**
   * Known, not used: a running crawl has no console; `webloom status`, `pause`, `resume` and `stop` watch and steer a
   * crawl on Redis, signals any other.
   */
  readonly TELNETCONSOLE_PASSWORD?: WrittenSetting<'TELNETCONSOLE_PASSWORD'>
  /**
   * Known, not used: a running crawl has no console; `webloom status`, `pause`, `resume` and `stop` watch and steer a
   * crawl on Redis, signals any other.
   */
  readonly TELNETCONSOLE_PORT?: WrittenSetting<'TELNETCONSOLE_PORT'>
  /**
   * Known, not used: a running crawl has no console; `webloom status`, `pause`, `resume` and `stop` watch and steer a
   * crawl on Redis, signals any other.
   */
  readonly TELNETCONSOLE_USERNAME?: WrittenSetting<'TELNETCONSOLE_USERNAME'>
  /** Known, not used: only LOG_FORMAT, LOG_LEVEL and LOG_COLOR change log lines. */
  readonly LOG_DATEFORMAT?: WrittenSetting<'LOG_DATEFORMAT'>
  /** Known, not used: only LOG_FORMAT, LOG_LEVEL and LOG_COLOR change log lines. */
  readonly LOG_INSTALL_ROOT_HANDLER?: WrittenSetting<'LOG_INSTALL_ROOT_HANDLER'>
  /** Known, not used: only LOG_FORMAT, LOG_LEVEL and LOG_COLOR change log lines. */
  readonly LOG_FORMATTER?: WrittenSetting<'LOG_FORMATTER'>
  /** Known, not used: only LOG_FORMAT, LOG_LEVEL and LOG_COLOR change log lines. */
  readonly LOG_SHORT_NAMES?: WrittenSetting<'LOG_SHORT_NAMES'>
  /** Known, not used: only LOG_FORMAT, LOG_LEVEL and LOG_COLOR change log lines. */
  readonly LOG_STDOUT?: WrittenSetting<'LOG_STDOUT'>
  /** Known, not used: only LOG_FORMAT, LOG_LEVEL and LOG_COLOR change log lines. */
  readonly LOG_VERSIONS?: WrittenSetting<'LOG_VERSIONS'>
  /**
   * Known, not used: this extension is not in this release; LOGSTATS_INTERVAL and the counters at the end show the
   * progress.
   */
  readonly MEMDEBUG_ENABLED?: WrittenSetting<'MEMDEBUG_ENABLED'>
  /**
   * Known, not used: this extension is not in this release; LOGSTATS_INTERVAL and the counters at the end show the
   * progress.
   */
  readonly PERIODIC_LOG_DELTA?: WrittenSetting<'PERIODIC_LOG_DELTA'>
  /**
   * Known, not used: this extension is not in this release; LOGSTATS_INTERVAL and the counters at the end show the
   * progress.
   */
  readonly PERIODIC_LOG_STATS?: WrittenSetting<'PERIODIC_LOG_STATS'>
  /**
   * Known, not used: this extension is not in this release; LOGSTATS_INTERVAL and the counters at the end show the
   * progress.
   */
  readonly PERIODIC_LOG_TIMING_ENABLED?: WrittenSetting<'PERIODIC_LOG_TIMING_ENABLED'>
  /** Known, not used: nothing warns of meta that is copied from one request to the next. */
  readonly META_COPY_WARN_SKIP_KEYS?: WrittenSetting<'META_COPY_WARN_SKIP_KEYS'>
  /**
   * Known, not used: contracts are a field of the spider, `static contracts`, which `webloom check` runs; there are no
   * classes of contracts.
   */
  readonly SPIDER_CONTRACTS?: WrittenSetting<'SPIDER_CONTRACTS'>
  /**
   * Known, not used: contracts are a field of the spider, `static contracts`, which `webloom check` runs; there are no
   * classes of contracts.
   */
  readonly SPIDER_CONTRACTS_BASE?: WrittenSetting<'SPIDER_CONTRACTS_BASE'>
  /** Known, not used: the folder of the spiders is `spiders` in webloom.config.ts; a spider’s file may be named instead. */
  readonly SPIDER_MODULES?: WrittenSetting<'SPIDER_MODULES'>
  /** Known, not used: the folder of the spiders is `spiders` in webloom.config.ts; a spider’s file may be named instead. */
  readonly NEWSPIDER_MODULE?: WrittenSetting<'NEWSPIDER_MODULE'>
  /** Known, not used: the folder of the spiders is `spiders` in webloom.config.ts; a spider’s file may be named instead. */
  readonly SPIDER_LOADER_WARN_ONLY?: WrittenSetting<'SPIDER_LOADER_WARN_ONLY'>
  /** Known, not used: a project has no name of its own; logs and outputs carry that of the spider. */
  readonly BOT_NAME?: WrittenSetting<'BOT_NAME'>
  /** Known, not used: commands, templates and add-ons of a project are not loaded in this release. */
  readonly ADDONS?: WrittenSetting<'ADDONS'>
  /** Known, not used: commands, templates and add-ons of a project are not loaded in this release. */
  readonly COMMANDS_MODULE?: WrittenSetting<'COMMANDS_MODULE'>
  /** Known, not used: commands, templates and add-ons of a project are not loaded in this release. */
  readonly EDITOR?: WrittenSetting<'EDITOR'>
  /** Known, not used: commands, templates and add-ons of a project are not loaded in this release. */
  readonly TEMPLATES_DIR?: WrittenSetting<'TEMPLATES_DIR'>
  /** Known, not used: it configures Python or Twisted, and neither is here. */
  readonly ASYNCIO_EVENT_LOOP?: WrittenSetting<'ASYNCIO_EVENT_LOOP'>
  /** Known, not used: it configures Python or Twisted, and neither is here. */
  readonly FORCE_CRAWLER_PROCESS?: WrittenSetting<'FORCE_CRAWLER_PROCESS'>
  /** Known, not used: it configures Python or Twisted, and neither is here. */
  readonly REACTOR_THREADPOOL_MAXSIZE?: WrittenSetting<'REACTOR_THREADPOOL_MAXSIZE'>
  /** Known, not used: it configures Python or Twisted, and neither is here. */
  readonly TWISTED_DNS_RESOLVER?: WrittenSetting<'TWISTED_DNS_RESOLVER'>
  /** Known, not used: it configures Python or Twisted, and neither is here. */
  readonly TWISTED_REACTOR?: WrittenSetting<'TWISTED_REACTOR'>
  /** Known, not used: it configures Python or Twisted, and neither is here. */
  readonly TWISTED_REACTOR_ENABLED?: WrittenSetting<'TWISTED_REACTOR_ENABLED'>
  /** Known, not used: it configures Python or Twisted, and neither is here. */
  readonly WARN_ON_GENERATOR_RETURN_VALUE?: WrittenSetting<'WARN_ON_GENERATOR_RETURN_VALUE'>
  /**
   * Known, not used: Scrapy itself has deprecated or dropped it; with POLITENESS_GROUP_BY=ip,
   * CONCURRENT_REQUESTS_PER_DOMAIN counts for addresses.
   */
  readonly CONCURRENT_REQUESTS_PER_IP?: WrittenSetting<'CONCURRENT_REQUESTS_PER_IP'>
  /** Known, not used: Scrapy itself has deprecated or dropped it. */
  readonly AJAXCRAWL_ENABLED?: WrittenSetting<'AJAXCRAWL_ENABLED'>
  /** Known, not used: a RedisSpider looks for seeds all the time, and takes them ahead. */
  readonly REDIS_KEY_CHECK_INTERVAL?: WrittenSetting<'REDIS_KEY_CHECK_INTERVAL'>
  /** Known, not used: what goes to Redis is always UTF-8, and items are JSON. */
  readonly REDIS_ENCODING?: WrittenSetting<'REDIS_ENCODING'>
  /** Known, not used: what goes to Redis is always UTF-8, and items are JSON. */
  readonly REDIS_DECODE_RESPONSES?: WrittenSetting<'REDIS_DECODE_RESPONSES'>
  /** Known, not used: what goes to Redis is always UTF-8, and items are JSON. */
  readonly REDIS_ITEMS_SERIALIZER?: WrittenSetting<'REDIS_ITEMS_SERIALIZER'>
  /** Known, not used: scrapy-redis never reads it either; DUPEFILTER_CLASS chooses the filter. */
  readonly SCHEDULER_DUPEFILTER_CLASS?: WrittenSetting<'SCHEDULER_DUPEFILTER_CLASS'>
  /** Known, not used: two spiders that share a queue would get each other’s callbacks; CRAWL_ID tells crawls apart. */
  readonly REDIS_QUEUE_NAME?: WrittenSetting<'REDIS_QUEUE_NAME'>
}
