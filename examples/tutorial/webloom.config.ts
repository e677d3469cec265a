import { defineConfig } from 'webloom'

export default defineConfig({
  spiders: 'spiders',
  settings: {
    // A component of the project, by its file and export, with its order among the built-in ones.
    DOWNLOADER_MIDDLEWARES: [['./middlewares/contact.ts#Contact', 450]],
    CUSTOM_CONTACT: 'crawler@example.com',
  },
})
