// From what the user wrote to feeds
export { type FeedsContext, feedsFrom } from './feed-options.ts'
export { type OutputArgument, parseOutputArgument } from './output-argument.ts'
export type { ItemExporter, ItemExporterClass, ItemExporterOptions } from './own-format.ts'
