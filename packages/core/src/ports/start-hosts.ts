/**
 * Hosts and ports that the crawl's own start requests name, such as `intranet.example:8080`. They may be inside, as whoever
 * wrote the spider wants it so; where pages from outside lead to may not.
 *
 * Kept where the crawl is kept: a link to a start host may be met by a worker that never ran `start()`.
 */
export interface StartHosts {
  /** Resolves when every worker will be told. Called before the start request is queued. */
  add(hostAndPort: string): Promise<void>
  /** True when connections to private addresses of that host are let through. Asked for no others. */
  has(hostAndPort: string): Promise<boolean>
  /**
   * A start host has a public address: from now on no worker of the crawl lets it inside, whatever its name leads to. Of
   * other hosts nothing is noted. Resolves when every worker will be told; called before it is connected to.
   */
  notePublic(hostAndPort: string): Promise<void>
}
