/** Returns whether a text is an address, as Python's `ipaddress.IPv6Address` reads it: a zone after `%` is allowed, an IPv4 tail too. */
export function isIpv6(text: string): boolean {
  const percent = text.indexOf('%')
  const zone = text.slice(percent + 1)
  if (percent >= 0 && (!zone || zone.includes('%') || text.includes('/'))) return false
  const address = percent < 0 ? text : text.slice(0, percent)
  const groups = address.split(':')
  if (groups.at(-1)!.includes('.')) {
    if (!isIpv4(groups.pop()!)) return false
    groups.push('0', '0')
  }
  const halves = address.split('::')
  if (halves.length > 2 || address.includes(':::')) return false
  if (!groups.every((group) => /^[0-9A-Fa-f]{0,4}$/.test(group))) return false
  const filled = groups.filter((group) => group !== '').length
  // "::" stands for at least one group; without it all eight must be there and none may be empty.
  return halves.length === 2
    ? filled <= 7 && !/^:(?!:)|(?<!:):$/.test(address)
    : filled === 8 && groups.length === 8
}

function isIpv4(text: string): boolean {
  return (
    /^(?:0|[1-9][0-9]{0,2})(?:\.(?:0|[1-9][0-9]{0,2})){3}$/.test(text) &&
    text.split('.').every((octet) => Number(octet) <= 255)
  )
}

/**
 * Returns the address in its short form, as Python 3.11 writes it: lower case, no leading zeros, and the longest run of
 * zeros, two at the least, as `::`. The zone stays. Undefined for what is not an IPv6 address.
 */
export function writtenIpv6(text: string): string | undefined {
  if (!isIpv6(text)) return undefined
  const percent = text.indexOf('%')
  const zone = percent < 0 ? '' : text.slice(percent)
  const groups = groupsOf(percent < 0 ? text : text.slice(0, percent))
  const hex = groups.map((group) => group.toString(16))
  const { start, length } = longestZeroRun(groups)
  if (length < 2) return hex.join(':') + zone
  return `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}${zone}`
}

function groupsOf(address: string): number[] {
  const [head = '', tail] = address.split('::')
  const first = numbersOf(head)
  if (tail === undefined) return first
  const last = numbersOf(tail)
  return [...first, ...new Array<number>(8 - first.length - last.length).fill(0), ...last]
}

function numbersOf(part: string): number[] {
  if (part === '') return []
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)]
    const [a, b, c, d] = group.split('.').map(Number)
    return [a! * 256 + b!, c! * 256 + d!]
  })
}

/** Returns the longest run of zeros; of several, the first. */
function longestZeroRun(groups: readonly number[]): { start: number; length: number } {
  let longest = { start: 0, length: 0 }
  let run = { start: 0, length: 0 }
  for (const [at, group] of groups.entries()) {
    if (group !== 0) run = { start: at + 1, length: 0 }
    else if (++run.length > longest.length) longest = { ...run }
  }
  return longest
}
