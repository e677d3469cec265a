// RFC 3492 §5: the parameters of Punycode.
const BASE = 36
const T_MIN = 1
const T_MAX = 26
const SKEW = 38
const DAMP = 700
const FIRST_BIAS = 72
const FIRST_CODE_POINT = 128

/** Punycode (RFC 3492) of one host label, without the `xn--`. */
export function punycode(label: string): string {
  const codePoints = Array.from(label, (char) => char.codePointAt(0)!)
  const basic = codePoints.filter((codePoint) => codePoint < FIRST_CODE_POINT)
  let output = String.fromCharCode(...basic)
  if (basic.length > 0) output += '-'
  let n = FIRST_CODE_POINT
  let delta = 0
  let bias = FIRST_BIAS
  let handled = basic.length
  while (handled < codePoints.length) {
    const next = Math.min(...codePoints.filter((codePoint) => codePoint >= n))
    delta += (next - n) * (handled + 1)
    n = next
    for (const codePoint of codePoints) {
      if (codePoint < n) delta++
      if (codePoint !== n) continue
      output += variableLength(delta, bias)
      bias = adapt(delta, handled + 1, handled === basic.length)
      delta = 0
      handled++
    }
    delta++
    n++
  }
  return output
}

function variableLength(delta: number, bias: number): string {
  let digits = ''
  let rest = delta
  for (let k = BASE; ; k += BASE) {
    const threshold = Math.min(Math.max(k - bias, T_MIN), T_MAX)
    if (rest < threshold) return digits + digit(rest)
    digits += digit(threshold + ((rest - threshold) % (BASE - threshold)))
    rest = Math.floor((rest - threshold) / (BASE - threshold))
  }
}

function digit(value: number): string {
  return 'abcdefghijklmnopqrstuvwxyz0123456789'[value]!
}

function adapt(delta: number, length: number, first: boolean): number {
  let rest = Math.floor(delta / (first ? DAMP : 2))
  rest += Math.floor(rest / length)
  let k = 0
  for (; rest > ((BASE - T_MIN) * T_MAX) / 2; k += BASE) rest = Math.floor(rest / (BASE - T_MIN))
  return k + Math.floor(((BASE - T_MIN + 1) * rest) / (rest + SKEW))
}
