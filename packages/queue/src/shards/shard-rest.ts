/**
 * Whether a shard has nothing at all: no request, no turn, nothing for others (quiet); and whether it has nothing for others (still). Whoever sweeps it, or looks after
 * its outbox, tells that, and the script that brings something tells that it has (`lua/outbox/rests.lua`, `state.lua`, `stirs.lua`). In between nobody need look. These
 * messages come over one connection, in order; when that was lost, a shard counts as neither until it is looked at again.
 */
export class ShardRest {
  /** What a channel tells. */
  readonly hears = {
    onRest: (isQuiet: boolean, mayDoubt: boolean) => this.swept(isQuiet, mayDoubt),
    onSentAll: () => this.hasSentAll(),
    onStirred: () => this.stirred(),
    onSends: () => this.sends(),
  }
  readonly #onStirred: (() => void)[] = []
  #isQuiet = false
  #isStill = false
  #mayDoubt = true
  #stirs = 0

  get isQuiet(): boolean {
    return this.#isQuiet
  }

  get isStill(): boolean {
    return this.#isStill
  }

  /** False when no link was in doubt at the last sweep. */
  get mayDoubt(): boolean {
    return this.#mayDoubt
  }

  /** How often there was something where nothing was. */
  get stirs(): number {
    return this.#stirs
  }

  /** @param listener called when there is something again, here or for others */
  onStirred(listener: () => void): void {
    this.#onStirred.push(listener)
  }

  swept(isQuiet: boolean, mayDoubt: boolean): void {
    this.#isQuiet = isQuiet
    this.#mayDoubt = mayDoubt
  }

  /** It has nothing for others. */
  hasSentAll(): void {
    this.#isStill = true
  }

  /** It has something for others. */
  sends(): void {
    if (!this.#isStill) return
    this.#isStill = false
    this.#tell()
  }

  stirred(): void {
    this.#mayDoubt = true
    if (!this.#isQuiet) return
    this.#isQuiet = false
    this.#tell()
  }

  #tell(): void {
    this.#stirs++
    for (const listener of this.#onStirred) listener()
  }
}
