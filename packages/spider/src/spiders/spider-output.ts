import { isPromise } from '@webloom/core'
/** What a spider's method may return: nothing, one element or several, now or later. */
export type SpiderOutput = unknown

/** Yields the output as one stream. Text is one element, though it can be iterated. */
export async function* outputStream(output: SpiderOutput): AsyncGenerator<unknown> {
  const given = isPromise(output) ? await output : output
  if (isIterable(given)) yield* given
  else if (given !== undefined && given !== null) yield given
}

/** Resolves to the output as a list. */
export async function outputList(output: SpiderOutput): Promise<unknown[]> {
  const list: unknown[] = []
  for await (const one of outputStream(output)) list.push(one)
  return list
}

function isIterable(value: unknown): value is Iterable<unknown> | AsyncIterable<unknown> {
  return (
    typeof value === 'object' && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value)
  )
}
