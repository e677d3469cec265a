/** A terminal, as far as we use one: shows what stands on it after all that was written. */
export class ShownTerminal {
  readonly isTTY = true
  readonly columns: number
  readonly rows = 50
  readonly #lines: string[] = ['']
  #row = 0
  #column = 0

  constructor(columns = 80) {
    this.columns = columns
  }

  /** The lines without the blank ones at the end. */
  get shown(): string[] {
    return this.#lines.join('\n').trimEnd().split('\n')
  }

  write(text: string): void {
    for (const [part] of text.matchAll(/\u001b\[[\d;?]*[A-Za-z]|[\s\S]/g)) this.#take(part)
  }

  #take(part: string): void {
    const count = Number(/\d+/.exec(part)?.[0] ?? 1)
    if (part === '\n') this.#move(this.#row + 1, 0)
    else if (part === '\r' || /\[1?G$/.test(part)) this.#column = 0
    else if (part.length === 1) this.#print(part)
    else if (part.endsWith('A')) this.#move(Math.max(0, this.#row - count), this.#column)
    else if (part.endsWith('B')) this.#move(this.#row + count, this.#column)
    else if (part.endsWith('[2K')) this.#lines[this.#row] = ''
    else if (part.endsWith('K')) this.#lines[this.#row] = this.#lines[this.#row]!.slice(0, this.#column)
    else if (!/[mhl]$/.test(part)) throw new Error(`this terminal does not know ${JSON.stringify(part)}`)
  }

  #move(row: number, column: number): void {
    this.#row = row
    this.#column = column
    while (this.#lines.length <= row) this.#lines.push('')
  }

  #print(char: string): void {
    if (this.#column >= this.columns) this.#move(this.#row + 1, 0)
    const line = this.#lines[this.#row]!.padEnd(this.#column)
    this.#lines[this.#row] = line.slice(0, this.#column) + char + line.slice(this.#column + 1)
    this.#column++
  }
}
