import { defineConfig } from 'webloom'

export default defineConfig({
  spiders: 'spiders',
  settings: {
    // Seconds between two requests to one host, whichever worker sends them. Slow enough to watch, and to kill a worker.
    DOWNLOAD_DELAY: 0.25,
    // The mills are on this machine, or in a network of Docker's. Neither start URLs from Redis nor links lead there without it.
    PRIVATE_ADDRESSES_ALLOWED: ['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
    // Items go to the Redis list yarns:items. After a crash one may be there twice, with the same _id.
    ITEM_PIPELINES: [['redis', 300]],
    REDIS_ITEMS_ID_FIELD: '_id',
    // Seeding the same URL twice leaves it there once.
    REDIS_START_URLS_AS_SET: true,
  },
})
