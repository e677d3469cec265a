import { defineConfig } from 'webloom'

export default defineConfig({
  spiders: 'spiders',
  settings: {
    // scrapy-redis's own names are understood here; they are what runs anyway when there is a REDIS_URL.
    DUPEFILTER_CLASS: 'scrapy_redis.dupefilter.RFPDupeFilter',
    SCHEDULER_PERSIST: true,
    ITEM_PIPELINES: [
      ['./pipelines.ts#ExamplePipeline', 300],
      ['scrapy_redis.pipelines.RedisPipeline', 400],
    ],
    DOWNLOAD_DELAY: 1,
    // For the site beside this file; start URLs from Redis may not lead to this machine otherwise.
    PRIVATE_ADDRESSES_ALLOWED: ['127.0.0.0/8'],
  },
})
