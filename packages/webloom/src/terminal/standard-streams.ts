/** Called for a text on its way to a terminal; `pass` lets it through and answers as the stream's `write` does. */
export type WriteWatch = (text: string, pass: () => boolean) => boolean

/**
 * Lets `watch` see all that the process writes to its terminal, by whatever hand: `console.log` in a spider, Node's own
 * warnings. Returns what ends it. Streams that are not a terminal are left alone.
 */
export function watchStandardStreams(watch: WriteWatch): () => void {
  const restores = [process.stdout, process.stderr]
    .filter((stream) => stream.isTTY)
    .map((stream) => watchStream(stream, watch))
  return () => {
    for (const restore of restores) restore()
  }
}

function watchStream(stream: NodeJS.WriteStream, watch: WriteWatch): () => void {
  const original = stream.write
  const watched = (...args: Parameters<typeof original>): boolean => {
    const [chunk] = args
    const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('latin1')
    return watch(text, () => original.apply(stream, args))
  }
  stream.write = watched as typeof original
  return () => {
    // Somebody else may have put itself in front meanwhile; taking ours out would take theirs out too.
    if (stream.write === (watched as typeof original)) stream.write = original
  }
}
