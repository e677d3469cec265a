import { defineConfig } from 'webloom'

export default defineConfig({
  spiders: 'spiders',
  settings: {
    // Seconds between two requests to one host. Nobody minds at home; slow enough to watch.
    DOWNLOAD_DELAY: 0.1,
    CONCURRENT_REQUESTS_PER_DOMAIN: 4,
  },
})
