const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' }

/**
 * Returns where a URL leads: `example.com:443`, `127.0.0.1:8000`, `[::1]:80`. The host as the URL standard writes it, so that
 * `http://0x7f.1/` and `http://127.0.0.1./` are the same place. Undefined where there is neither host nor port.
 */
export function hostAndPort(url: string): string | undefined {
  const parsed = URL.parse(url)
  const port = parsed && (parsed.port || DEFAULT_PORTS[parsed.protocol])
  return parsed?.hostname && port ? `${parsed.hostname.replace(/\.$/, '')}:${port}` : undefined
}
