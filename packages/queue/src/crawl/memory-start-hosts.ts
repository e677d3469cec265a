import { type SiteAnswer, SiteTable, type StartHosts } from '@webloom/core'

// 2 ** 25, 32 MiB: 1.6 million hosts. One that was forgotten counts as none, so that no address inside is let in for it.
const HOSTS_BYTES_MAX = 33_554_432

const [START, PUBLIC] = [1, 2] as const
const FOR_EVER_S = 2 ** 32 - 1

/** The start hosts of a crawl that ends with its process. Those noted first are forgotten first, those with a public address last. */
export class MemoryStartHosts implements StartHosts {
  readonly #hosts: SiteTable
  #noted = 0

  constructor(bytesMax = HOSTS_BYTES_MAX) {
    this.#hosts = new SiteTable(bytesMax)
  }

  async add(hostAndPort: string): Promise<void> {
    if (!this.#hosts.get(hostAndPort)) this.#set(hostAndPort, START, ++this.#noted)
  }

  async has(hostAndPort: string): Promise<boolean> {
    return this.#hosts.get(hostAndPort)?.answer === START
  }

  async notePublic(hostAndPort: string): Promise<void> {
    if (this.#hosts.get(hostAndPort)) this.#set(hostAndPort, PUBLIC, FOR_EVER_S)
  }

  #set(hostAndPort: string, answer: SiteAnswer['answer'], askAgainAtS: number): void {
    this.#hosts.set(hostAndPort, { answer, askAgainAtS, untilS: FOR_EVER_S }, 0)
  }
}
