/** One line of what is to be seeded. */
export interface SeedLine {
  /** From 1. */
  readonly number: number
  /** Without the blanks around it. */
  readonly text: string
  /** Why it is not a message; then `text` is empty. */
  readonly problem?: string
}

/** Longer than any URL or request; a file of another kind may be one line from end to end. */
const LINE_BYTES_MAX = 2 ** 20
const LINE_END = 0x0a

/** The lines of a file, as many at a time as a chunk of it holds; empty ones are left out. */
export async function* seedLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<SeedLine[]> {
  const reader = new LineReader()
  for await (const chunk of chunks) yield reader.linesOf(chunk)
  yield reader.linesOf(Buffer.of(LINE_END))
}

class LineReader {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  #number = 0
  /** The beginning of a line that goes on in the next chunk. */
  #begun: Buffer[] = []
  #begunBytes = 0

  linesOf(chunk: Buffer): SeedLine[] {
    const lines: SeedLine[] = []
    let from = 0
    for (let end = chunk.indexOf(LINE_END); end >= 0; end = chunk.indexOf(LINE_END, from)) {
      this.#add(chunk.subarray(from, end))
      const line = this.#line()
      if (line.text !== '' || line.problem !== undefined) lines.push(line)
      from = end + 1
    }
    this.#add(chunk.subarray(from))
    return lines
  }

  #add(part: Buffer): void {
    this.#begunBytes += part.length
    // Of a line that is too long nothing is kept but its length.
    if (this.#begunBytes > LINE_BYTES_MAX) this.#begun = []
    else if (part.length > 0) this.#begun.push(part)
  }

  #line(): SeedLine {
    const [parts, length] = [this.#begun, this.#begunBytes]
    this.#begun = []
    this.#begunBytes = 0
    const number = ++this.#number
    if (length > LINE_BYTES_MAX)
      return { number, text: '', problem: `it is ${length} bytes long; ${LINE_BYTES_MAX} is the most` }
    try {
      // The decoder takes a byte order mark away, which some editors put before the first line.
      return {
        number,
        text: this.#decoder.decode(parts.length === 1 ? parts[0] : Buffer.concat(parts)).trim(),
      }
    } catch {
      return { number, text: '', problem: 'it is not UTF-8' }
    }
  }
}
