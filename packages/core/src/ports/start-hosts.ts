/**
 * Hosts and ports that the crawl's own start requests name, such as `intranet.example:8080`. They may be inside, as the
 * spider's author named them. Hosts that only pages from outside lead to may not.
 *
 * They are kept where the crawl is kept: a worker that never ran `start()` may meet a link to a start host.
 */
export interface StartHosts {
  /** Adds a host. Resolves when every worker will be told. Called before the start request is queued. */
  add(hostAndPort: string): Promise<void>
  /** Resolves to true when connections to private addresses of that host are allowed. Called only for such addresses. */
  has(hostAndPort: string): Promise<boolean>
  /**
   * Notes that a start host has a public address: from now on no worker of the crawl lets it inside, whatever its name
   * leads to. Other hosts are not noted. Resolves when every worker will be told; called before the connection is made.
   */
  notePublic(hostAndPort: string): Promise<void>
}
