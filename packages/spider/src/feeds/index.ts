// How feeds are made of settings: feed-plan.ts checks an entry, feed-options.ts makes feeds of it, feed.ts is one. Items
// become text in formats/, and the text goes where storages/ say.

export { checkFeeds, type FeedsContext, feedsFrom } from './feed-options.ts'
export type { ItemExporter, ItemExporterClass, ItemExporterOptions } from './formats/own-format.ts'
export { type OutputArgument, parseOutputArgument } from './output-argument.ts'
export { type FeedStorage, type FeedStorages, feedStorages } from './storages/own-storage.ts'
