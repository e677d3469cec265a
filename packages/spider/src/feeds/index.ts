// From what the user wrote to feeds
export { type FeedsContext, feedsFrom } from './feed-options.ts'
export { type OutputArgument, parseOutputArgument } from './output-argument.ts'
