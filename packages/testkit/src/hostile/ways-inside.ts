/** A URL by which a page tries to lead a crawl to where it has no business. */
export interface WayInside {
  readonly name: string
  /** With `{port}` where there is something at a port of loopback that would answer. */
  readonly url: string
  /** Why it must be refused, as `downloader/protection/<reason>_address` counts it. Absent: it names no host at all. */
  readonly reason?: string
}

/** Notations and addresses; redirects to them, names that lead to them and the like are for the tests to build. */
export const WAYS_INSIDE: readonly WayInside[] = [
  { name: 'loopback', url: 'http://127.0.0.1:{port}/', reason: 'loopback' },
  { name: 'another address of loopback', url: 'http://127.8.9.10:{port}/', reason: 'loopback' },
  { name: 'one decimal number', url: 'http://2130706433:{port}/', reason: 'loopback' },
  { name: 'one hexadecimal number', url: 'http://0x7f000001:{port}/', reason: 'loopback' },
  { name: 'hexadecimal parts', url: 'http://0x7f.0x0.0x0.0x1:{port}/', reason: 'loopback' },
  { name: 'octal parts', url: 'http://0177.0.0.01:{port}/', reason: 'loopback' },
  { name: 'fewer parts', url: 'http://127.1:{port}/', reason: 'loopback' },
  { name: 'a dot at the end', url: 'http://127.0.0.1.:{port}/', reason: 'loopback' },
  { name: 'wide digits', url: 'http://１２７.０.０.１:{port}/', reason: 'loopback' },
  { name: 'ideographic full stops', url: 'http://127。0。0。1:{port}/', reason: 'loopback' },
  { name: 'digits in circles', url: 'http://①②⑦.⓪.⓪.①:{port}/', reason: 'loopback' },
  { name: 'another host as user', url: 'http://example.com@127.0.0.1:{port}/', reason: 'loopback' },
  { name: 'a port as password', url: 'http://example.com:80@127.0.0.1:{port}/', reason: 'loopback' },
  { name: 'its name', url: 'http://localhost:{port}/', reason: 'loopback' },
  { name: 'its name in capitals', url: 'http://LOCALHOST:{port}/', reason: 'loopback' },
  { name: 'its name with a dot', url: 'http://localhost.:{port}/', reason: 'loopback' },
  { name: 'a name below it', url: 'http://example.com.localhost:{port}/', reason: 'loopback' },
  { name: 'over TLS', url: 'https://127.0.0.1:{port}/', reason: 'loopback' },
  { name: 'IPv6', url: 'http://[::1]:{port}/', reason: 'loopback' },
  { name: 'IPv6, written out', url: 'http://[0:0:0:0:0:0:0:1]:{port}/', reason: 'loopback' },
  { name: 'IPv4 mapped into IPv6', url: 'http://[::ffff:127.0.0.1]:{port}/', reason: 'loopback' },
  { name: 'the same in hexadecimal', url: 'http://[::ffff:7f00:1]:{port}/', reason: 'loopback' },
  { name: 'IPv4-compatible IPv6', url: 'http://[::127.0.0.1]:{port}/', reason: 'reserved' },
  { name: 'IPv4 translated into IPv6', url: 'http://[::ffff:0:127.0.0.1]:{port}/', reason: 'reserved' },
  { name: 'NAT64', url: 'http://[64:ff9b::127.0.0.1]:{port}/', reason: 'loopback' },
  { name: '6to4', url: 'http://[2002:7f00:1::]:{port}/', reason: 'loopback' },
  { name: 'Teredo', url: 'http://[2001:0:4136:e378:8000:63bf:80ff:fffe]:{port}/', reason: 'reserved' },
  // On Linux they lead to loopback.
  { name: 'no address', url: 'http://0.0.0.0:{port}/', reason: 'unspecified' },
  { name: 'zero', url: 'http://0:{port}/', reason: 'unspecified' },
  { name: 'no IPv6 address', url: 'http://[::]:{port}/', reason: 'unspecified' },
  { name: 'private, 10/8', url: 'http://10.0.0.1/', reason: 'private' },
  { name: 'private, 172.16/12', url: 'http://172.31.255.254/', reason: 'private' },
  { name: 'private, 192.168/16', url: 'http://192.168.0.1/', reason: 'private' },
  { name: 'unique local', url: 'http://[fd12:3456:789a::1]/', reason: 'private' },
  { name: 'site-local', url: 'http://[fec0::1]/', reason: 'private' },
  { name: 'link-local', url: 'http://169.254.1.1/', reason: 'link_local' },
  { name: 'link-local IPv6', url: 'http://[fe80::1]/', reason: 'link_local' },
  { name: 'carrier-grade NAT', url: 'http://100.64.0.1/', reason: 'shared' },
  { name: 'multicast', url: 'http://224.0.0.1/', reason: 'multicast' },
  { name: 'multicast IPv6', url: 'http://[ff02::1]/', reason: 'multicast' },
  { name: 'broadcast', url: 'http://255.255.255.255/', reason: 'reserved' },
  { name: 'for benchmarks', url: 'http://198.18.0.1/', reason: 'reserved' },
  { name: 'for documentation', url: 'http://203.0.113.1/', reason: 'reserved' },
  { name: 'metadata', url: 'http://169.254.169.254/latest/meta-data/', reason: 'metadata' },
  { name: 'metadata as a number', url: 'http://2852039166/latest/meta-data/', reason: 'metadata' },
  { name: 'metadata in IPv6', url: 'http://[::ffff:169.254.169.254]/', reason: 'metadata' },
  { name: 'metadata, AWS over IPv6', url: 'http://[fd00:ec2::254]/', reason: 'metadata' },
  { name: 'metadata, Alibaba', url: 'http://100.100.100.200/', reason: 'metadata' },
  { name: 'metadata, Azure', url: 'http://168.63.129.16/', reason: 'metadata' },
  { name: 'an escaped host', url: 'http://%31%32%37.0.0.1:{port}/' },
]
