import { expect, test } from 'vitest'
import { browserOptionsProblem } from './browser-options-check.ts'

test.each([
  [{ waitfor: '.x' }, 'has no option "waitfor". Did you mean waitFor?'],
  [{ timeout: 5000 }, 'has no option "timeout". The time of a page is meta.download_timeout, in seconds'],
  [{ fullPage: true }, 'has no option "fullPage". Write screenshot: "full"'],
  [
    { block: ['https://ads.example/x.js'] },
    'has "https://ads.example/x.js" in block; expected a kind, or a host',
  ],
  [{ capture: ['api/items'] }, 'has a list of 1 for capture; expected a list of paths or URLs'],
  [{ locale: 'german' }, 'has "german" (a string) for locale; expected a language, such as "de-DE"'],
  [{ viewport: { width: 400 } }, 'has an object for viewport; expected { width, height }'],
  [{ viewport: { width: 400, height: 1e9 } }, 'has an object for viewport; expected { width, height }'],
])('%j is refused', (wanted, problem) => {
  expect(browserOptionsProblem(wanted)).toContain(problem)
})

test.each([
  [{ block: ['image', 'ads.example', '*.doubleclick.net', '.tracker.example'] }],
  [{ capture: ['/api/**', '**/items*', 'https://shop.example/api/*'] }],
  [{ locale: 'pt-BR', viewport: { width: 400, height: 16_000 } }],
])('%j is taken', (wanted) => {
  expect(browserOptionsProblem(wanted)).toBeUndefined()
})
