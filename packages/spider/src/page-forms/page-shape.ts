const WORD = /^[a-z][a-z.~]{0,23}$/i
const EXTENSION = /\.[a-z][a-z0-9]{0,4}$/i

/**
 * Returns what pages that one template makes have in common: host, form of the path, names of parameters.
 * `https://shop.example/products/blue-shirt-17.html?page=2` is `shop.example/products/*.html?page`.
 *
 * The last step of a path names the page, where others lead to it: it counts as any name, or any number. Of other steps, and of one that
 * stands alone, words stay as they are.
 */
export function pageShape(url: string): string {
  const { host, pathname, searchParams } = new URL(url)
  const steps = pathname.split('/').slice(1)
  const shapes = steps.map((step, n) => (n > 0 && n === steps.length - 1 ? nameShape(step) : wordShape(step)))
  const names = [...new Set(searchParams.keys())].sort()
  return `${host}/${shapes.join('/')}${names.length > 0 ? `?${names.join('&')}` : ''}`
}

function nameShape(step: string): string {
  if (step === '') return ''
  const extension = EXTENSION.exec(step)?.[0] ?? ''
  const name = step.slice(0, step.length - extension.length)
  return (/^\d+$/.test(name) ? '#' : '*') + extension
}

function wordShape(step: string): string {
  const numbered = step.replaceAll(/\d+/g, '')
  if (numbered === '' && step !== '') return '#'
  if (step === '' || WORD.test(step)) return step
  return WORD.test(numbered) ? step.replaceAll(/\d+/g, '#') : nameShape(step)
}
